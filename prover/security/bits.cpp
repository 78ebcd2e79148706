#include "prover/security/bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace epochd::prover {
namespace {

/// |K| = p^3.
const double kFieldSize = std::pow(18446744069414584321.0, 3);
constexpr double kHashBits = 128;
constexpr u32 kJohnsonMMax = 4096;

/// What a decoding regime says at rate rho: the list size L and epsilon(D), the error of one
/// combination by a random element of K on a domain of size D.
struct Regime {
  double list_size;
  double agreement;  ///< a query into a word outside the radius passes with at most this
  double theta;
  double a, b;  ///< epsilon(D) = (a D + b) / q

  double epsilon(double domain) const { return (a * domain + b) / kFieldSize; }
};

/// theta D = (1 - rho) D / 2 - 1. A word with more errors than that has (1 - rho) D / 2 of them, so
/// a query finds none with probability (1 + rho) / 2, at every D.
Regime unique_decoding(double rho, double domain) {
  const double theta = (1 - rho) / 2 - 1 / domain;
  return {1, (1 + rho) / 2, theta, theta, 1};
}

Regime johnson(double rho, u32 m) {
  const double m_half = m + 0.5;
  const double theta = 1 - std::sqrt(rho) * (1 + 1 / (2.0 * m));
  const double slope =
      (2 * std::pow(m_half, 5) + 3 * m_half * theta * rho) / (3 * std::pow(rho, 1.5));
  const double list_size = m_half / std::sqrt(rho);
  return {list_size, 1 - theta, theta, slope, list_size};
}

/// Rounds by name, with -log2 of their error.
using Rounds = std::vector<std::pair<std::string, double>>;

/// Folds as the layout plans them: by 2^log_fold, less in the last step.
std::vector<u32> fold_steps(const Preset& p, u32 log_height) {
  std::vector<u32> steps;
  for (u32 left = log_height - std::min(p.log_final, log_height); left > 0;) {
    steps.push_back(std::min(left, p.log_fold));
    left -= steps.back();
  }
  return steps;
}

Rounds rounds_of(const Preset& p, const SecurityBounds& bounds, const Regime& r) {
  Rounds rounds;
  const auto add = [&](std::string name, double error) {
    rounds.emplace_back(std::move(name), -std::log2(error));
  };
  const double n = std::exp2(bounds.log_height);
  double domain = std::exp2(bounds.log_height + p.log_blowup);

  // A product of fingerprints and a numerator, each of degree `terms` in gamma and beta, must not
  // vanish.
  add("lookup gamma, beta", 2 * std::exp2(bounds.log_lookup_terms) / kFieldSize);
  add("lookup gamma, beta (global)", 2 * std::exp2(bounds.log_shared_lookup_terms) / kFieldSize);
  add("constraints alpha", r.list_size * bounds.constraints / kFieldSize);
  // Degree 3 constraints of columns of degree <= n, opened at two points at most.
  add("DEEP zeta", r.list_size * (3 * (n + 1) + (n - 1)) / (kFieldSize - n - domain));
  add("batching delta", r.epsilon(domain) * (bounds.openings - 1));
  u32 layer = 0;
  for (const u32 k : fold_steps(p, bounds.log_height)) {
    domain /= std::exp2(k);
    add("fold beta " + std::to_string(layer++), r.epsilon(domain) * (std::exp2(k) - 1));
  }
  rounds.emplace_back("queries and grinding",
                      -std::log2(r.agreement) * p.query_count + p.grinding_bits);
  return rounds;
}

double smallest(const Rounds& rounds) {
  double bits = kHashBits;
  for (const auto& round : rounds) bits = std::min(bits, round.second);
  return bits;
}

u32 best_johnson_m(const Preset& p, const SecurityBounds& bounds, double rho) {
  u32 best = 1;
  double best_bits = 0;
  for (u32 m = 1; m <= kJohnsonMMax; ++m) {
    const Regime regime = johnson(rho, m);
    if (regime.theta <= 0) continue;
    const double bits = smallest(rounds_of(p, bounds, regime));
    if (bits > best_bits) {
      best_bits = bits;
      best = m;
    }
  }
  return best;
}

template <class Combine>
SecurityTotal total(const std::vector<Row>& rows, Combine combine) {
  return {combine(&Row::unique_decoding_bits, rows), combine(&Row::johnson_bits, rows)};
}

}  // namespace

std::vector<Row> security_table(const Preset& preset, const SecurityBounds& bounds, u32 johnson_m) {
  const double rho = std::exp2(-static_cast<double>(preset.log_blowup));
  const double domain = std::exp2(bounds.log_height + preset.log_blowup);
  const u32 m = johnson_m != 0 ? johnson_m : best_johnson_m(preset, bounds, rho);
  const Rounds unique = rounds_of(preset, bounds, unique_decoding(rho, domain));
  const Rounds list = rounds_of(preset, bounds, johnson(rho, m));
  std::vector<Row> rows;
  for (size_t i = 0; i < unique.size(); ++i) {
    rows.push_back({unique[i].first, unique[i].second, list[i].second});
  }
  rows.push_back({"hash collisions", kHashBits, kHashBits, false});
  return rows;
}

SecurityTotal minimum(const std::vector<Row>& rows) {
  return total(rows, [](double Row::*bits, const std::vector<Row>& all) {
    double least = all.front().*bits;
    for (const Row& r : all) least = std::min(least, r.*bits);
    return least;
  });
}

SecurityTotal sum(const std::vector<Row>& rows) {
  return total(rows, [](double Row::*bits, const std::vector<Row>& all) {
    double error = 0;
    for (const Row& r : all) error += r.is_round ? std::exp2(-(r.*bits)) : 0;
    return -std::log2(error);
  });
}

std::string render_security(const Preset& preset, const SecurityBounds& bounds) {
  const std::vector<Row> rows = security_table(preset, bounds);
  std::string text;
  char line[160];
  const auto add = [&](const std::string& name, double unique, double list) {
    std::snprintf(line, sizeof line, "  %-28s %16.2f %16.2f\n", name.c_str(), unique, list);
    text += line;
  };
  std::snprintf(line, sizeof line,
                "%s: blowup %u, %u queries, %u bits of grinding; tables of up to 2^%u rows\n",
                preset.name, 1u << preset.log_blowup, preset.query_count, preset.grinding_bits,
                bounds.log_height);
  text += line;
  std::snprintf(line, sizeof line, "  %-28s %16s %16s\n", "round, in bits", "unique decoding",
                "Johnson (*)");
  text += line;
  for (const Row& r : rows) add(r.round, r.unique_decoding_bits, r.johnson_bits);
  const SecurityTotal least = minimum(rows);
  const SecurityTotal all = sum(rows);
  add("minimum", least.unique_decoding_bits, least.johnson_bits);
  add("sum of the rounds", all.unique_decoding_bits, all.johnson_bits);
  if (preset.target_bits == 0) text += "  This preset claims no security.\n";
  text +=
      "  (*) For comparison, not claimed: list sizes are not carried into the lookup error, which "
      "with\n      many tables would be far larger. The presets rest on the unique-decoding "
      "column.\n";
  return text;
}

}  // namespace epochd::prover
