#include "cuda/logup/program.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "prover/core/assert.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using prover::fp3_one;
using prover::LogupAccess;
using prover::LogupCoefficient;
using prover::LogupWeight;
using prover::LoweredTable;

class Builder {
 public:
  explicit Builder(const LoweredTable& table) : table_(table) {
    for (const LogupAccess& a : table.accesses) add(a);
    if (steps_.size() % 2 == 1) {
      LogupStep one{};
      one.constant = fp3_one();
      steps_.push_back(one);
    }
    EPOCHD_ASSERT(!steps_.empty() && steps_.size() <= 2 * kLogupPairsMax);
    EPOCHD_ASSERT(terms_.size() < 1 << 16 && factors_.size() < 1 << 16);
  }

  LogupProgram append(std::vector<u64>& words) const {
    LogupProgram p;
    p.pairs = static_cast<u32>(steps_.size() / 2);
    p.term_count = static_cast<u32>(terms_.size());
    p.factor_count = static_cast<u32>(factors_.size());
    p.slot_count = static_cast<u32>(columns_.size());
    const size_t before = words.size();
    append_all(words, steps_);
    append_all(words, terms_);
    append_all(words, factors_);
    append_all(words, columns_);
    words.resize(before + p.word_count());
    return p;
  }

 private:
  template <class T>
  static void append_all(std::vector<u64>& words, const std::vector<T>& values) {
    static_assert(sizeof(T) % sizeof(u64) == 0);
    const size_t before = words.size();
    words.resize(before + values.size() * sizeof(T) / sizeof(u64));
    if (!values.empty()) {
      std::memcpy(words.data() + before, values.data(), values.size() * sizeof(T));
    }
  }

  u64 slot(u32 column) {
    const auto known = std::find(columns_.begin(), columns_.end(), column);
    if (known == columns_.end()) {
      columns_.push_back(column);
      return columns_.size() - 1;
    }
    return static_cast<u64>(known - columns_.begin());
  }

  std::span<const LogupWeight> weights(const LogupAccess& a) const {
    return {table_.weights.data() + a.first_weight, a.weight_count};
  }
  static const LogupWeight* find(std::span<const LogupWeight> weights, u32 column) {
    for (const LogupWeight& w : weights) {
      if (w.column == column) return &w;
    }
    return nullptr;
  }
  /// Appends the terms of a - b, but at most `limit`; returns how many, more than `limit` if that
  /// was not enough.
  size_t add_difference(std::span<const LogupWeight> a, std::span<const LogupWeight> b,
                        size_t limit) {
    size_t count = 0;
    const auto add_term = [&](u32 column, const Fp3& weight) {
      if (is_zero(weight)) return;
      if (++count <= limit) terms_.push_back({weight, slot(column)});
    };
    for (const LogupWeight& w : a) {
      const LogupWeight* other = find(b, w.column);
      add_term(w.column, other == nullptr ? w.weight : w.weight - other->weight);
    }
    for (const LogupWeight& w : b) {
      if (find(a, w.column) == nullptr) add_term(w.column, -w.weight);
    }
    return count;
  }

  /// Whether the multiplicity of b is `sign` times that of a.
  bool is_multiple(const LogupAccess& a, const LogupAccess& b, Fp sign) const {
    if (a.coefficient_count != b.coefficient_count) return false;
    if (b.multiplicity_constant != sign * a.multiplicity_constant) return false;
    for (u32 i = 0; i < a.coefficient_count; ++i) {
      const LogupCoefficient& x = table_.coefficients[a.first_coefficient + i];
      const LogupCoefficient& y = table_.coefficients[b.first_coefficient + i];
      if (x.column != y.column || y.coefficient != sign * x.coefficient) return false;
    }
    return true;
  }

  void add(const LogupAccess& a) {
    LogupStep step{};
    const std::span<const LogupWeight> own = weights(a);
    EPOCHD_ASSERT(own.size() < 1 << 8 && a.coefficient_count < 1 << 8);
    step.constant = a.constant;
    step.first_term = static_cast<u16>(terms_.size());
    step.term_count = static_cast<u8>(own.size());
    if (!steps_.empty() && !own.empty()) {
      const size_t count = add_difference(own, weights(previous_), own.size() - 1);
      if (count < own.size()) {
        step.flags |= LogupStep::kFromPrevious;
        step.constant = a.constant - previous_.constant;
        step.term_count = static_cast<u8>(count);
      } else {
        terms_.resize(step.first_term);
      }
    }
    if ((step.flags & LogupStep::kFromPrevious) == 0) {
      for (const LogupWeight& w : own) terms_.push_back({w.weight, slot(w.column)});
    }
    previous_ = a;
    add_multiplicity(a, step);
    steps_.push_back(step);
  }

  void add_multiplicity(const LogupAccess& a, LogupStep& step) {
    if (!steps_.empty() && is_multiple(owner_, a, Fp::one())) {
      step.flags |= LogupStep::kSameMultiplicity;
      return;
    }
    if (!steps_.empty() && is_multiple(owner_, a, -Fp::one())) {
      step.flags |= LogupStep::kSameMultiplicity | LogupStep::kNegative;
      return;
    }
    owner_ = a;
    step.multiplicity_constant = a.multiplicity_constant;
    step.first_factor = static_cast<u16>(factors_.size());
    step.factor_count = static_cast<u8>(a.coefficient_count);
    for (u32 i = a.first_coefficient; i < a.first_coefficient + a.coefficient_count; ++i) {
      const LogupCoefficient& c = table_.coefficients[i];
      factors_.push_back({c.coefficient, slot(c.column)});
    }
  }

  const LoweredTable& table_;
  std::vector<LogupStep> steps_;
  std::vector<LogupTerm> terms_;
  std::vector<LogupFactor> factors_;
  std::vector<u64> columns_;
  LogupAccess previous_{};
  LogupAccess owner_{};  ///< whose multiplicity the kernel still has
};

}  // namespace

LogupProgram append_program(const LoweredTable& lowered, std::vector<u64>& words) {
  return Builder(lowered).append(words);
}

}  // namespace epochd::cuda
