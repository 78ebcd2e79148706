// The presets keep what their names promise, and the accounting agrees with figures computed by
// hand and with a public calculator's.
#include "prover/security/bits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "epoch/chips/airs.hpp"
#include "epoch/continuation/proof_format.hpp"
#include "prover/pcs/fri_fold.hpp"

namespace epochd::prover {
namespace {

const Row& row(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& r : rows) {
    if (r.round == name) return r;
  }
  ADD_FAILURE() << "no row " << name;
  return rows.front();
}

const Preset& preset(const std::string& name) {
  for (const Preset& p : kPresets) {
    if (name == p.name) return p;
  }
  ADD_FAILURE() << "no preset " << name;
  return kPresets[0];
}

TEST(Security, NoPresetFallsBelowItsName) {
  u32 named = 0;
  for (const Preset& p : kPresets) {
    if (p.target_bits == 0) continue;
    ++named;
    const std::vector<Row> rows = security_table(p);
    EXPECT_GE(minimum(rows).unique_decoding_bits, p.target_bits) << render_security(p);
    EXPECT_GE(sum(rows).unique_decoding_bits, p.target_bits) << render_security(p);
    EXPECT_NE(std::string(p.name).find(std::to_string(p.target_bits)), std::string::npos);
  }
  EXPECT_EQ(named, 3u);
}

/// The figures hold at every height, not only the largest: a query's chance does not depend on it.
TEST(Security, SmallerTablesAreNoWeaker) {
  for (const Preset& p : kPresets) {
    const std::vector<Row> largest = security_table(p);
    for (u32 h = kLogHeightMin; h < kLogHeightMax; ++h) {
      SecurityBounds bounds;
      bounds.log_height = h;
      const std::vector<Row> rows = security_table(p, bounds);
      EXPECT_GE(minimum(rows).unique_decoding_bits, minimum(largest).unique_decoding_bits) << h;
      EXPECT_GE(sum(rows).unique_decoding_bits, sum(largest).unique_decoding_bits - 1e-9) << h;
    }
  }
}

TEST(Security, QueryBitsByHand) {
  // log2(4/3) = 0.415037499, log2(8/5) = 0.678071905.
  const auto bits = [](const char* name) {
    return row(security_table(preset(name)), "queries and grinding").unique_decoding_bits;
  };
  EXPECT_NEAR(bits("proven100"), 100.102237, 1e-6);       // 193 * 0.415037499 + 20
  EXPECT_NEAR(bits("proven128"), 128.491505, 1e-6);       // 160 * 0.678071905 + 20
  EXPECT_NEAR(bits("proven128-fast"), 128.324787, 1e-6);  // 261 * 0.415037499 + 20
  EXPECT_NEAR(bits("test"), 3.3203, 1e-4);                // 8 * 0.415037499
  // Even at a radius one place short, with no argument from whole numbers, at the largest domain:
  // 193 * log2(1 / (3/4 + 2^-27)) + 20.
  EXPECT_GE(193 * std::log2(1 / (0.75 + std::exp2(-27))) + 20, 100.1022);
}

/// Presets that differ in their queries alone agree in every other round.
class SecurityRounds : public testing::TestWithParam<const char*> {};

TEST_P(SecurityRounds, ByHandAtBlowupTwo) {
  const std::vector<Row> rows = security_table(preset(GetParam()));
  const auto bits = [&](const char* name) { return row(rows, name).unique_decoding_bits; };
  // q = 2^192 to nine places. 2^26 rows * 2^12 interactions * 8 * 2 = 2^42.
  EXPECT_NEAR(bits("lookup gamma, beta"), 150, 1e-6);
  // 2^57 rows * 8, doubled.
  EXPECT_NEAR(bits("lookup gamma, beta (global)"), 131 - 0.01, 1e-6);
  // 64 * 432 = 27648 = 2^14.754888.
  EXPECT_NEAR(bits("constraints alpha"), 177.245112, 1e-5);
  // 4 n + 2 = 2^28 and a little.
  EXPECT_NEAR(bits("DEEP zeta"), 164, 1e-6);
  // D = 2^27: theta D + 1 = 2^25; 6143 = 2^12.584728.
  EXPECT_NEAR(bits("batching delta"), 154.415272, 1e-5);
  // 2^26 rows to 2^6: six folds by 8, one by 4. First: D' = 2^24, (2^22 + 7/8) * 7.
  EXPECT_NEAR(bits("fold beta 0"), 192 - 22 - std::log2(7), 1e-5);
  // Last: D' = 2^7, (2^5 + 1) * 3 to 2^-20: 192 - log2(99).
  EXPECT_NEAR(bits("fold beta 6"), 192 - std::log2(99), 1e-4);
  EXPECT_EQ(bits("hash collisions"), 128);
  EXPECT_EQ(rows.size(), 5u + 7 + 1 + 1);
}

INSTANTIATE_TEST_SUITE_P(Presets, SecurityRounds,
                         testing::Values("proven100", "proven128-fast", "test"));

TEST(Security, RoundsByHandAtBlowupFour) {
  const std::vector<Row> rows = security_table(preset("proven128"));
  // As at blowup two: none of these depends on the domain.
  EXPECT_NEAR(row(rows, "lookup gamma, beta").unique_decoding_bits, 150, 1e-6);
  EXPECT_NEAR(row(rows, "lookup gamma, beta (global)").unique_decoding_bits, 131 - 0.01, 1e-6);
  EXPECT_NEAR(row(rows, "constraints alpha").unique_decoding_bits, 177.245112, 1e-5);
  EXPECT_NEAR(row(rows, "DEEP zeta").unique_decoding_bits, 164, 1e-6);
  // D = 2^28: theta D + 1 = 3 * 2^25; times 6143.
  EXPECT_NEAR(row(rows, "batching delta").unique_decoding_bits, 192 - 25 - std::log2(3 * 6143.0),
              1e-6);
  // D' = 2^25, theta D' = 3 * 2^22.
  EXPECT_NEAR(row(rows, "fold beta 0").unique_decoding_bits, 192 - 22 - std::log2(21), 1e-5);
}

TEST(Security, SumAddsErrorsAndMinimumTakesTheWorst) {
  const std::vector<Row> rows = {{"a", 10, 3}, {"b", 10, 4}, {"c", 11, 9}, {"hash", 5, 5, false}};
  EXPECT_EQ(minimum(rows).unique_decoding_bits, 5);
  EXPECT_EQ(minimum(rows).johnson_bits, 3);
  // 2^-10 + 2^-10 + 2^-11 = 5 * 2^-11.
  EXPECT_NEAR(sum(rows).unique_decoding_bits, 11 - std::log2(5), 1e-12);
}

/// Query counts and batching terms of ethereum/soundcalc (May 2026) for 400 batched polynomials,
/// 20 bits of grinding, folds by 8.
TEST(Security, AgreesWithAPublicCalculator) {
  struct Case {
    u32 target, log_blowup, unique_queries, johnson_queries, m, log_height, batching;
  };
  const Case cases[] = {
      {100, 1, 193, 161, 233, 20, 122}, {100, 1, 193, 161, 233, 22, 120},
      {100, 2, 118, 81, 59, 20, 129},   {100, 2, 118, 81, 59, 22, 127},
      {100, 3, 97, 54, 39, 20, 129},    {100, 3, 97, 54, 39, 22, 127},
      {128, 1, 261, 220, 80, 20, 129},  {128, 1, 261, 221, 64, 22, 129},
      {128, 2, 160, 110, 40, 20, 132},  {128, 2, 160, 110, 40, 22, 130},
      {128, 3, 131, 73, 35, 20, 130},   {128, 3, 131, 73, 35, 22, 128},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.target) + " at blowup " + std::to_string(1u << c.log_blowup));
    Preset p = preset("proven100");
    p.log_blowup = c.log_blowup;
    SecurityBounds bounds;
    bounds.log_height = c.log_height;
    bounds.openings = 400;
    const auto queries = [&](u32 count) {
      p.query_count = count;
      return row(security_table(p, bounds, c.m), "queries and grinding");
    };
    EXPECT_GE(queries(c.unique_queries).unique_decoding_bits, c.target);
    EXPECT_LT(queries(c.unique_queries - 1).unique_decoding_bits, c.target);
    EXPECT_GE(queries(c.johnson_queries).johnson_bits, c.target - 0.01);
    EXPECT_LT(queries(c.johnson_queries - 1).johnson_bits, c.target);
    const double batching = row(security_table(p, bounds, c.m), "batching delta").johnson_bits;
    EXPECT_NEAR(batching, c.batching, 1);
  }
}

u64 tuple_widths(const AirInfo& air) {
  u64 widths = 0;
  for (u32 i = 0; i < air.interaction_count; ++i) widths += air.interactions[i].arity;
  return widths;
}

/// The bounds cover every table the machine has, and the longest run its verifier accepts.
TEST(Security, BoundsCoverTheMachine) {
  const SecurityBounds bounds;
  for (u32 i = 0; i < kChipCount; ++i) {
    const AirInfo* air = chips::find_air(static_cast<ChipId>(i));
    if (air == nullptr) continue;
    EXPECT_LE(air->constraint_count, kConstraintsMax) << air->name;
    EXPECT_LE(air->interaction_count, kInteractionsMax) << air->name;
    EXPECT_LE(air->max_degree, 3) << air->name;
  }
  const auto widths = [](ChipId chip) {
    return static_cast<double>(tuple_widths(*chips::find_air(chip)));
  };
  const double rows = std::exp2(kLogHeightMax);
  double terms = static_cast<double>(kEpochCountMax) * rows * widths(ChipId::kBoundaryGlobal);
  terms += static_cast<double>(kAnchorsMax) * 2 * widths(ChipId::kAnchor);  // padded to 2^k rows
  terms += rows * widths(ChipId::kImage) + 65536 * widths(ChipId::kRange16);
  EXPECT_LE(terms, std::exp2(bounds.log_shared_lookup_terms));
  // No multiplicity can wrap: a tuple is sent fewer than p times in one argument.
  EXPECT_LT(terms, static_cast<double>(Fp::kModulus));
}

/// DEEP needs n + c < (1 - theta) D, so that two columns that differ do so at a query.
TEST(Security, DeepLeavesRoomInTheDomain) {
  for (const Preset& p : kPresets) {
    for (u32 h = kLogHeightMin; h <= kLogHeightMax; ++h) {
      const double n = std::exp2(h);
      const double rho = std::exp2(-static_cast<double>(p.log_blowup));
      EXPECT_LT(n + 2, (1 - (1 - rho) / 2) * n / rho) << p.name << " 2^" << h;
    }
  }
}

/// Rate 1, no queries, folds or final degrees out of range: none of it is compiled in.
TEST(Presets, AreNotDegenerate) {
  std::set<u32> ids;
  std::set<std::string> names;
  for (const Preset& p : kPresets) {
    EXPECT_TRUE(ids.insert(p.id).second) << p.name;
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_GE(p.log_blowup, 1u) << p.name;
    EXPECT_LE(p.log_blowup, 3u) << p.name;
    EXPECT_GE(p.query_count, 1u) << p.name;
    EXPECT_LE(p.query_count, kQueriesMax) << p.name;
    EXPECT_LT(p.grinding_bits, 64u) << p.name;
    EXPECT_GE(p.log_fold, 1u) << p.name;
    EXPECT_LE(p.log_fold, kLogFoldMax) << p.name;
    EXPECT_LE(p.log_final, 6u) << p.name;
    EXPECT_EQ(find_preset(p.id), &p);
  }
  EXPECT_EQ(find_preset(0), nullptr);
  EXPECT_EQ(find_preset(~0u), nullptr);
  EXPECT_EQ(preset("test").target_bits, 0u);
}

TEST(Security, RenderingNamesEveryRoundAndMarksJohnson) {
  const std::string text = render_security(preset("proven100"));
  for (const Row& r : security_table(preset("proven100"))) {
    EXPECT_NE(text.find(r.round), std::string::npos) << r.round;
  }
  EXPECT_NE(text.find("100.10"), std::string::npos) << text;
  EXPECT_NE(text.find("Johnson (*)"), std::string::npos);
  EXPECT_NE(text.find("not claimed"), std::string::npos);
  EXPECT_NE(render_security(preset("test")).find("claims no security"), std::string::npos);
}

}  // namespace
}  // namespace epochd::prover
