// CpuSession: one proof's data on the CPU, stage by stage (the Backend concept). Column-major
// everywhere; an LDE column has 2^(h+b) rows, bit-reversed. All buffers lie in one arena where
// prover/prove/memory_plan.hpp puts them: a trace's place is used again after LogUp has read it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "prover/pcs/fixed_tree.hpp"
#include "prover/prove/cpu/arena.hpp"
#include "prover/prove/cpu/kernels.hpp"
#include "prover/prove/lowered_table.hpp"
#include "prover/prove/memory_plan.hpp"
#include "prover/prove/table_source.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::prover {

class CpuSession;

class CpuBackend {
 public:
  using Session = CpuSession;

  CpuBackend(Isa isa, const Parallel& pool)
      : isa_(isa), pool_(&pool), arenas_(std::make_shared<cpu::ArenaPool>()) {}
  Isa isa() const { return isa_; }
  const Parallel& pool() const { return *pool_; }
  const cpu::Kernels& kernels() const { return cpu::kernels(isa_); }
  cpu::ArenaPool& arenas() const { return *arenas_; }

 private:
  Isa isa_;
  const Parallel* pool_;
  std::shared_ptr<cpu::ArenaPool> arenas_;
};

class CpuSession {
 public:
  /// Pre: the backend's pool and the layout outlive this.
  CpuSession(const CpuBackend& backend, const Layout& layout);
  ~CpuSession();
  CpuSession(const CpuSession&) = delete;
  CpuSession& operator=(const CpuSession&) = delete;
  CpuSession(CpuSession&&) = default;

  const Layout& layout() const { return *layout_; }
  void load_fixed(u32 tree, std::shared_ptr<const FixedTree> fixed);
  /// Main columns of every table, then the lookup counters.
  void fill(std::span<const TableSource> sources, std::span<const LookupSpec> lookups);

  Digest commit(u32 tree);
  void logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums);
  void quotient(Fp3 alpha);
  void open(Fp3 zeta, std::span<Fp3> openings);
  void deep(Fp3 delta);
  Digest fri_commit();
  void fri_fold(Fp3 beta);
  void fri_final(std::span<Fp3> coefficients);
  u64 grind(const Digest& state, u32 bits);
  void gather(std::span<const u32> queries, std::vector<u64>& words);

  /// Plain values of one table's columns on H, fixed then main: for tests and the trace checker,
  /// before logup.
  std::vector<const Fp*> trace_columns(u32 table) const;
  Fp* mutable_main_trace(u32 table) { return trace_[layout_->main_segment[table]].data.data(); }

 private:
  struct FriLayer {
    Matrix leaves;  ///< transposed: column (v, c) of leaf j is component c of value v
    MerkleTree tree;
    u32 log_leaves = 0;
  };

  u64* place(const PlannedBuffer& buffer) { return arena_.data() + buffer.offset / sizeof(u64); }
  Matrix place_columns(const PlannedBuffer& buffer, u32 width, size_t rows) {
    return {width, rows, reinterpret_cast<Fp*>(place(buffer)), buffer.stride};
  }
  const Matrix& lde(u32 segment) const;
  TableColumns lde_columns(u32 table) const;
  TableColumns trace_set(u32 table) const;
  void count_lookups(std::span<const LookupSpec> lookups);
  void store_counts(const LookupSpec& spec, const std::vector<std::vector<u32>>& histograms);
  void logup_table(u32 table, Fp3& sum);
  Fp3 accumulate(const cpu::Planes& row_sums, size_t rows) const;
  void quotient_height(u32 height_index, Fp3 alpha);
  void open_height(u32 height_index);
  void divide_and_interpolate(u32 height_index, Matrix folded);
  void extend_quotient(u32 segment);
  void extend_trace(u32 segment);
  void make_points();
  void deep_height(u32 height_index, const std::vector<Fp3>& delta_powers);
  void for_rows(size_t rows, const std::function<void(size_t, size_t)>& body) const;

  CpuBackend backend_;
  const Layout* layout_;
  MemoryPlan plan_;
  cpu::ArenaPool::Arena arena_;
  std::vector<TableSource> sources_;
  std::vector<Matrix> trace_;  ///< by segment; coefficients for quotient segments
  std::vector<Matrix> lde_;    ///< by segment
  std::vector<std::shared_ptr<const FixedTree>> fixed_;  ///< by tree
  std::vector<MerkleTree> trees_;                        ///< by tree; fixed trees live in fixed_
  std::vector<cpu::PreparedLogup> prepared_;
  std::vector<Fp3> sums_;
  Fp3 zeta_{};
  std::vector<Fp3> openings_;
  const Fp* points_ = nullptr;  ///< 7 g^bitrev(i) of the tallest domain; of any lower one, a prefix
  Matrix word_;                 ///< the FRI word, three planes
  u32 log_word_ = 0;
  std::vector<FriLayer> layers_;
};

}  // namespace epochd::prover
