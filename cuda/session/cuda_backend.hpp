// The CUDA backend: sessions that prove with trace and LDE in device memory only. What comes down
// is roots, sums, openings, final coefficients and the opened rows; `bytes_d2h` counts it. Results
// are the CPU backend's, bit for bit.
//
// One backend a device and a worker; a session uses the whole arena, one session at a time.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "cuda/gather/gather.hpp"
#include "cuda/logup/logup.hpp"
#include "cuda/merkle/row_source.hpp"
#include "cuda/ntt/ntt.hpp"
#include "cuda/open/open.hpp"
#include "cuda/rt/memory.hpp"
#include "cuda/session/buffers.hpp"
#include "epoch/continuation/epoch_prover.hpp"
#include "prover/pcs/fixed_tree.hpp"
#include "prover/prove/lowered_table.hpp"
#include "prover/prove/table_source.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::cuda {

/// What the device paths did, one counter a path: tests assert them in both directions.
struct Counters {
  u64 fill = 0;
  u64 lde = 0;
  u64 merkle = 0;
  u64 logup = 0;
  u64 quotient = 0;
  u64 open = 0;
  u64 deep = 0;
  u64 fri = 0;
  u64 gather = 0;
  u64 device_only = 0;  ///< tables
  u64 arena_growth = 0;
  u64 bytes_h2d = 0;
  u64 bytes_d2h = 0;
};

/// A fixed tree's data on the device.
struct DeviceFixedTree {
  std::vector<DeviceBlock> traces;  ///< by segment of the tree
  std::vector<DeviceBlock> ldes;
  DeviceBlock levels;  ///< digests, level after level
};

class CudaSession;

class CudaBackend {
 public:
  using Session = CudaSession;

  /// `arena_bytes` is what the largest session needs (session_bytes); a session that needs more
  /// makes the arena grow, which is counted. Errors: cuda::Error.
  CudaBackend(int device, size_t arena_bytes, std::span<const u32> log_heights, u32 log_blowup);
  ~CudaBackend();
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  const Counters& counters() const { return counters_; }
  ProverUsage usage() const;
  size_t arena_bytes() const { return arena_.bytes(); }

 private:
  friend class CudaSession;
  const DeviceFixedTree& fixed(const std::shared_ptr<const prover::FixedTree>& tree) const;
  /// Copies through the pinned slab to `device`; the slab piece is free again after
  /// reset_staging().
  void upload(void* device, const void* host, size_t bytes) const;
  template <class T>
  T* upload(std::span<const T> host) const {
    T* device = take_descriptors<T>(host.size());
    upload(device, host.data(), host.size_bytes());
    return device;
  }
  template <class T>
  T* take_descriptors(size_t count) const {
    return descriptors_.take<T>(count);
  }
  void download(void* host, const void* device, size_t bytes) const;
  void reset_staging() const;
  /// Makes room for a session that takes `bytes`; everything taken before is gone.
  void reserve_arena(size_t bytes) const;

  mutable Stream stream_;
  Lanes lanes_;
  mutable DeviceBlock arena_;
  mutable Arena descriptors_;  ///< small arrays the kernels read, per session
  mutable PinnedBlock staging_;
  mutable size_t staging_used_ = 0;
  NttTables tables_;
  mutable PointTables coset_points_{prover::Fp::generator(), false};
  /// Inverses of the plain subgroup's points, for FRI.
  mutable PointTables inverse_points_{prover::Fp::one(), true};
  mutable std::map<const prover::FixedTree*, DeviceFixedTree> fixed_;
  mutable Counters counters_;
};

class CudaSession {
 public:
  CudaSession(const CudaBackend& backend, const prover::Layout& layout);
  CudaSession(CudaSession&&) = default;

  const prover::Layout& layout() const { return *layout_; }
  void load_fixed(u32 tree, std::shared_ptr<const prover::FixedTree> fixed);
  void fill(std::span<const prover::TableSource> sources,
            std::span<const prover::LookupSpec> lookups);

  prover::Digest commit(u32 tree);
  void logup(prover::Fp3 gamma, prover::Fp3 beta, std::span<prover::Fp3> sums);
  void quotient(prover::Fp3 alpha);
  void open(prover::Fp3 zeta, std::span<prover::Fp3> openings);
  void deep(prover::Fp3 delta);
  prover::Digest fri_commit();
  void fri_fold(prover::Fp3 beta);
  void fri_final(std::span<prover::Fp3> coefficients);
  u64 grind(const prover::Digest& state, u32 bits);
  void gather(std::span<const u32> queries, std::vector<u64>& words);

 private:
  /// The launches of one `open`, and which opening each value is.
  struct OpenPlan {
    std::vector<WeightJob> weights;
    std::vector<DotJob> dots;
    std::vector<u32> targets;
    u32 weight_blocks = 0;
    u32 dot_blocks = 0;
  };

  prover::TableColumns trace_set(u32 table) const;
  prover::TableColumns lde_set(u32 table) const;
  u64* segment_lde(u32 segment) const;
  RowSource row_source(const prover::HeightGroup& group) const;
  const prover::Digest* tree_levels(u32 tree) const;
  void fill_table(u32 table);
  void count_lookups(std::span<const prover::LookupSpec> lookups);
  void upload_programs(prover::Fp3 gamma, prover::Fp3 beta, std::span<const u32> tables);
  LogupJobs upload_logup_jobs(std::span<const u32> tables) const;
  LogupJob logup_job(u32 table) const;
  const prover::Fp3* upload_alpha_powers(prover::Fp3 alpha) const;
  LogupQuotientJob logup_quotient_job(u32 table, const prover::Fp3* alpha_powers) const;
  void launch_logup_share(const prover::Fp3* alpha_powers) const;
  void add_constraints(u32 height_index, const prover::Fp3* alpha_powers,
                       cudaStream_t stream) const;
  void divide_and_interpolate(u32 height_index, cudaStream_t stream) const;
  void extend_tree(const prover::TreeLayout& tree) const;
  void plan_openings(u32 height_index, u32 point, u64*& weights, OpenPlan& plan) const;
  DeepPoint deep_point(u32 log_height, u32 point, std::span<const prover::Fp3> powers,
                       std::vector<DeepColumn>& columns) const;
  prover::Digest download_digest(const prover::Digest* device);
  void plan_tree(u32 tree, std::span<const u32> queries, GatherPlan& plan) const;
  void plan_layer(u32 step, u32 shift, std::span<const u32> queries, GatherPlan& plan) const;

  const CudaBackend* backend_;
  const prover::Layout* layout_;
  std::unique_ptr<SessionBuffers> buffers_;
  std::vector<prover::TableSource> sources_;
  std::vector<const DeviceFixedTree*> fixed_;  ///< by tree
  std::vector<LogupProgram> programs_;         ///< by table
  std::vector<prover::Fp3> sums_;
  prover::Fp3 zeta_{};
  std::vector<prover::Fp3> openings_;
  u32 fri_step_ = 0;
  std::map<const void*, const void*> shared_;  ///< host data several tables read -> its device copy
};

}  // namespace epochd::cuda
