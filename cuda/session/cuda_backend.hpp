// The CUDA backend: sessions that prove with trace and LDE in device memory only. What comes down
// is roots, sums, openings, final coefficients and the opened rows; `bytes_d2h` counts it. Results
// are the CPU backend's, bit for bit. In host-mirror residency everything committed is copied down
// as well, and what is opened compared with the copy.
//
// One backend for each epoch in flight; a session uses the whole arena, one session at a time.
// Everything is allocated when a backend is made and when it gets a program's fixed trees.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/gather/gather.hpp"
#include "cuda/logup/logup.hpp"
#include "cuda/merkle/row_source.hpp"
#include "cuda/open/open.hpp"
#include "cuda/session/buffers.hpp"
#include "cuda/session/device_shared.hpp"
#include "cuda/session/fault_plan.hpp"
#include "cuda/session/mirror.hpp"
#include "cuda/session/plan.hpp"
#include "cuda/session/record_uploads.hpp"
#include "cuda/session/residency.hpp"
#include "epoch/continuation/prover_usage.hpp"
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
  u64 device_only = 0;      ///< tables of finished proofs without a copy on the host
  u64 host_mirror = 0;      ///< and with one
  u64 mirror_fallback = 0;  ///< proofs whose query data came from the copy
  u64 bytes_h2d = 0;
  u64 bytes_d2h = 0;
};

struct BackendOptions {
  Residency residency = Residency::kDeviceOnly;
  bool has_debug_checks = false;  ///< compare every filled row with the host's; implies a mirror
  FaultPlan* faults = nullptr;    ///< tests'; outlives the backend
};

class CudaSession;

class CudaBackend {
 public:
  using Session = CudaSession;

  /// Allocates plan.prover_bytes() and the page-locked memory of the plan. Pre: `plan` is of the
  /// options' residency. Errors: cuda::Error.
  CudaBackend(std::shared_ptr<const DeviceShared> shared, const CudaPlan& plan,
              const BackendOptions& options = {});
  ~CudaBackend();
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  const Counters& counters() const { return counters_; }
  ProverUsage usage() const;
  const CudaPlan& plan() const { return plan_; }
  /// Lets go of all fixed trees and takes these, uploaded unless another backend has them.
  void hold_fixed(std::span<const std::shared_ptr<const prover::FixedTree>> trees);

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
  /// Copies a table's records to the device beside what runs there. Returns where they are for what
  /// is launched next.
  const void* upload_records(const void* host, size_t bytes) const;
  void download(void* host, const void* device, size_t bytes) const;
  void reset_staging() const;
  void copy_down(void* pinned, const void* device, size_t bytes) const;
  /// Makes room for a session that takes `bytes`; everything taken before is gone.
  /// Errors: cuda::Error(kOutOfPlan).
  void reserve_arena(size_t bytes) const;
  bool strikes(Fault fault) const {
    return options_.faults != nullptr && options_.faults->strikes(fault);
  }

  std::shared_ptr<const DeviceShared> shared_;
  const NttTables& tables_;
  const PointTables& coset_points_;
  const PointTables& inverse_points_;
  CudaPlan plan_;
  BackendOptions options_;
  mutable Stream stream_;
  mutable RecordUploads record_uploads_;
  Lanes lanes_;
  DeviceBlock arena_;
  mutable Arena descriptors_;  ///< small arrays the kernels read, per session
  PinnedBlock staging_;
  PinnedBlock mirror_;
  mutable size_t staging_used_ = 0;
  mutable std::vector<std::shared_ptr<const DeviceFixedTree>> fixed_;
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
  void decide_residency();
  void require_device(DeviceStage stage) const;
  void committed(u32 tree);
  void committed_fri_layer(u32 step);
  void gather_on_device(std::span<const u32> queries, std::vector<u64>& words);
  void flip_word(u64* word) const;
  prover::Digest download_digest(const prover::Digest* device);
  void plan_tree(u32 tree, std::span<const u32> queries, GatherPlan& plan) const;
  void plan_layer(u32 step, u32 shift, std::span<const u32> queries, GatherPlan& plan) const;

  const CudaBackend* backend_;
  const prover::Layout* layout_;
  std::unique_ptr<SessionBuffers> buffers_;
  std::vector<prover::TableSource> sources_;
  std::vector<const DeviceFixedTree*> fixed_;  ///< by tree
  std::vector<TableFacts> facts_;              ///< by table
  HostMirror mirror_;                          ///< of nothing, if device-only
  std::vector<LogupProgram> programs_;         ///< by table
  std::vector<prover::Fp3> sums_;
  prover::Fp3 zeta_{};
  std::vector<prover::Fp3> openings_;
  u32 fri_step_ = 0;
  std::map<const void*, const void*> shared_;  ///< host data several tables read -> its device copy
};

}  // namespace epochd::cuda
