// What all backends of one device share: twiddles, points, and the fixed trees of the programs that
// any of them proves. Several provers in flight cost their arenas and nothing else.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/ntt/ntt.hpp"
#include "cuda/open/points.hpp"
#include "cuda/rt/memory.hpp"
#include "cuda/session/plan.hpp"
#include "prover/pcs/fixed_tree.hpp"

namespace epochd::cuda {

/// A fixed tree's data on the device.
struct DeviceFixedTree {
  std::shared_ptr<const prover::FixedTree> host;
  std::vector<DeviceBlock> traces;  ///< by segment of the tree
  std::vector<DeviceBlock> ldes;
  DeviceBlock levels;  ///< digests, level after level
};

/// Threads: any number at a time.
class DeviceShared {
 public:
  /// Allocates plan.table_bytes. Errors: cuda::Error.
  DeviceShared(int device, const CudaPlan& plan);
  DeviceShared(const DeviceShared&) = delete;
  DeviceShared& operator=(const DeviceShared&) = delete;

  int device() const { return device_; }
  const NttTables& tables() const { return tables_; }
  const PointTables& coset_points() const { return coset_points_; }
  /// Inverses of the plain subgroup's points, for FRI.
  const PointTables& inverse_points() const { return inverse_points_; }

  /// The tree on this device: uploaded once, gone when nobody holds it. Errors: cuda::Error; then
  /// nothing is kept.
  std::shared_ptr<const DeviceFixedTree> fixed(
      const std::shared_ptr<const prover::FixedTree>& tree) const;

 private:
  int device_;
  NttTables tables_;
  PointTables coset_points_;
  PointTables inverse_points_;
  mutable std::mutex mutex_;  ///< of fixed_
  /// A tree that is held keeps its host's data, so that an address names one tree.
  mutable std::map<const prover::FixedTree*, std::weak_ptr<const DeviceFixedTree>> fixed_;
};

/// Makes `device` the calling thread's. Returns it.
int make_current(int device);

}  // namespace epochd::cuda
