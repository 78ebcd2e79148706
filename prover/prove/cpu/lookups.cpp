// Lookup multiplicities: every send on a lookup bus is counted from the filled trace and the same
// linear forms that LogUp uses, so a count cannot drift from the interaction it stands for.
#include <algorithm>

#include "prover/core/assert.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {
namespace {

/// A table's columns on H and its parameters.
struct Trace {
  const AirInfo* air;
  std::vector<const Fp*> columns;  ///< fixed, main
  const Fp* params;
};

/// Rows whose forms are evaluated together.
constexpr size_t kBlock = 512;

/// One form of an interaction, ready for the kernel.
class BoundForm {
 public:
  BoundForm(const Trace& trace, const LinearForm& form) : constant_(form.constant) {
    for (u32 i = form.first_term; i < form.first_term + form.term_count; ++i) {
      const LinearTerm& term = trace.air->terms[i];
      if (term.slot < trace.columns.size()) {
        terms_.push_back({trace.columns[term.slot], term.coefficient});
      } else {
        constant_ += term.coefficient * trace.params[term.slot - trace.columns.size()];
      }
    }
  }
  cpu::ColumnForm view() const {
    return {terms_.data(), static_cast<u32>(terms_.size()), constant_};
  }

 private:
  std::vector<cpu::ColumnTerm> terms_;
  Fp constant_;
};

/// The counter a tuple hits: offset into the spec's histogram, or kNone.
u32 counter_of(const LookupSpec& spec, const u64* tuple, u32 arity, u32 log_height) {
  u64 index = 0;
  for (u32 i = 0; i < arity; ++i) {
    if (tuple[i] >= (u64{1} << 32)) return kNone;
    index += spec.weights[i] * tuple[i];
  }
  if (index < spec.row_base) return kNone;
  index -= spec.row_base;
  if ((index & ((u64{1} << spec.row_shift) - 1)) != 0) return kNone;
  index >>= spec.row_shift;
  if (spec.row_of != nullptr) {
    if (index >= spec.row_of->size() || (*spec.row_of)[index] == kNone) return kNone;
    index = (*spec.row_of)[index];
  }
  const u64 column = spec.selects_column ? tuple[0] : 0;
  if (index >= (u64{1} << log_height) || column >= spec.counter_count) return kNone;
  return static_cast<u32>((column << log_height) + index);
}

void count_rows(const cpu::Kernels& kernels, const Trace& trace, const Interaction& interaction,
                const LookupSpec& spec, size_t begin, size_t end, u32* histogram) {
  std::vector<BoundForm> forms;
  for (u32 k = 0; k <= interaction.arity; ++k) {
    forms.emplace_back(trace, trace.air->forms[interaction.first_form + k]);
  }
  Fp values[kArityMax + 1][kBlock];
  u64 tuple[kArityMax];
  for (size_t first = begin; first < end; first += kBlock) {
    const size_t count = std::min(kBlock, end - first);
    for (u32 k = 0; k <= interaction.arity; ++k) {
      kernels.evaluate_form(forms[k].view(), first, first + count, values[k]);
    }
    for (size_t i = 0; i < count; ++i) {
      if (values[0][i] != Fp::one()) continue;
      for (u32 k = 0; k < interaction.arity; ++k) tuple[k] = values[k + 1][i].value();
      const u32 counter = counter_of(spec, tuple, interaction.arity, spec.log_height);
      if (counter != kNone) ++histogram[counter];
    }
  }
}

}  // namespace

void CpuSession::count_lookups(std::span<const LookupSpec> lookups) {
  const u32 threads = backend_.pool().threads();
  const auto& tables = layout_->shape.tables;
  for (const LookupSpec& spec : lookups) {
    const u32 log_height = spec.log_height;
    const size_t counters = size_t{spec.counter_count} << log_height;
    std::vector<std::vector<u32>> histograms(threads, std::vector<u32>(counters));
    backend_.pool().for_ranges(threads, 1, [&](size_t piece, size_t) {
      for (u32 t = 0; t < layout_->shape.table_count; ++t) {
        const Trace trace{tables[t].air, trace_columns(t), tables[t].params};
        const size_t rows = sources_[t].used_rows;
        for (u32 i = 0; i < trace.air->interaction_count; ++i) {
          const Interaction& interaction = trace.air->interactions[i];
          if (interaction.bus != spec.bus || !interaction.is_send) continue;
          count_rows(backend_.kernels(), trace, interaction, spec, rows * piece / threads,
                     rows * (piece + 1) / threads, histograms[piece].data());
        }
      }
    });
    store_counts(spec, histograms);
  }
}

void CpuSession::store_counts(const LookupSpec& spec,
                              const std::vector<std::vector<u32>>& histograms) {
  const size_t counters = size_t{spec.counter_count} << spec.log_height;
  const size_t mask = (size_t{1} << spec.log_height) - 1;
  for (size_t i = 0; i < counters; ++i) {
    u64 sum = spec.carried != nullptr ? (*spec.carried)[i] : 0;
    for (const auto& h : histograms) sum += h[i];
    if (spec.table == kNone) {
      (*spec.carried)[i] = sum;
    } else {
      Matrix& target = trace_[layout_->main_segment[spec.table]];
      const u32 column = spec.first_counter + static_cast<u32>(i >> spec.log_height);
      target.column(column)[i & mask] = Fp::from_canonical(sum);
    }
  }
}

}  // namespace epochd::prover
