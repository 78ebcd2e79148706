#include "cuda/session/device_shared.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;

DeviceBlock to_device(const void* data, size_t bytes) {
  DeviceBlock block(bytes);
  EPOCHD_CUDA_CHECK(cudaMemcpy(block.data(), data, bytes, cudaMemcpyHostToDevice));
  return block;
}

std::shared_ptr<const DeviceFixedTree> upload_tree(
    const std::shared_ptr<const prover::FixedTree>& tree) {
  auto d = std::make_shared<DeviceFixedTree>();
  d->host = tree;
  for (const prover::Matrix& m : tree->traces) {
    d->traces.push_back(to_device(m.data.data(), m.data.size() * sizeof(u64)));
  }
  for (const prover::Matrix& m : tree->ldes) {
    d->ldes.push_back(to_device(m.data.data(), m.data.size() * sizeof(u64)));
  }
  std::vector<prover::Digest> levels;
  for (u32 l = 0; l <= tree->tree.log_leaves(); ++l) {
    const auto& level = tree->tree.level(l);
    levels.insert(levels.end(), level.begin(), level.end());
  }
  d->levels = to_device(levels.data(), levels.size() * sizeof(prover::Digest));
  return d;
}

}  // namespace

int make_current(int device) {
  EPOCHD_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

DeviceShared::DeviceShared(int device, const CudaPlan& plan)
    : device_(make_current(device)),
      tables_(plan.table_heights, plan.log_blowup),
      coset_points_(Fp::generator(), false, plan.log_domain_max),
      inverse_points_(Fp::one(), true, plan.log_domain_max) {}

std::shared_ptr<const DeviceFixedTree> DeviceShared::fixed(
    const std::shared_ptr<const prover::FixedTree>& tree) const {
  const std::lock_guard lock(mutex_);
  auto& known = fixed_[tree.get()];
  if (auto held = known.lock()) return held;
  auto made = upload_tree(tree);
  known = made;
  std::erase_if(fixed_, [](const auto& entry) { return entry.second.expired(); });
  return made;
}

}  // namespace epochd::cuda
