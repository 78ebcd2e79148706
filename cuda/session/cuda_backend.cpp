#include "cuda/session/cuda_backend.hpp"

#include <cstring>

namespace epochd::cuda {
namespace {

constexpr size_t kStagingBytes = size_t{64} << 20;
/// Smaller arrays go through the slab: they are often on the caller's stack.
constexpr size_t kDirectBytesMin = size_t{64} << 10;
constexpr size_t kDescriptorBytes = size_t{32} << 20;

int select(int device) {
  EPOCHD_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

bool is_pinned(const void* host) {
  cudaPointerAttributes attributes{};
  EPOCHD_CUDA_CHECK(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

DeviceBlock to_device(const void* data, size_t bytes) {
  DeviceBlock block(bytes);
  EPOCHD_CUDA_CHECK(cudaMemcpy(block.data(), data, bytes, cudaMemcpyHostToDevice));
  return block;
}

}  // namespace

CudaBackend::CudaBackend(int device, size_t arena_bytes, std::span<const u32> log_heights,
                         u32 log_blowup)
    : stream_((select(device), Stream())),
      arena_(arena_bytes),
      descriptors_(kDescriptorBytes),
      staging_(kStagingBytes),
      tables_(log_heights, log_blowup) {}

CudaBackend::~CudaBackend() = default;

const DeviceFixedTree& CudaBackend::fixed(
    const std::shared_ptr<const prover::FixedTree>& tree) const {
  if (const auto known = fixed_.find(tree.get()); known != fixed_.end()) return known->second;
  DeviceFixedTree d;  // kept only when all of it is on the device
  for (const prover::Matrix& m : tree->traces) {
    d.traces.push_back(to_device(m.data.data(), m.data.size() * sizeof(u64)));
  }
  for (const prover::Matrix& m : tree->ldes) {
    d.ldes.push_back(to_device(m.data.data(), m.data.size() * sizeof(u64)));
  }
  std::vector<prover::Digest> levels;
  for (u32 l = 0; l <= tree->tree.log_leaves(); ++l) {
    const auto& level = tree->tree.level(l);
    levels.insert(levels.end(), level.begin(), level.end());
  }
  d.levels = to_device(levels.data(), levels.size() * sizeof(prover::Digest));
  return fixed_.emplace(tree.get(), std::move(d)).first->second;
}

void CudaBackend::upload(void* device, const void* host, size_t bytes) const {
  counters_.bytes_h2d += bytes;
  if (bytes >= kDirectBytesMin && is_pinned(host)) {
    // The caller keeps it until the session's next value comes down.
    EPOCHD_CUDA_CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_.get()));
    return;
  }
  const u8* from = static_cast<const u8*>(host);
  u8* to = static_cast<u8*>(device);
  while (bytes > 0) {
    if (staging_used_ == staging_.bytes()) reset_staging();
    const size_t piece = std::min(bytes, staging_.bytes() - staging_used_);
    u8* slab = staging_.data() + staging_used_;
    std::memcpy(slab, from, piece);
    EPOCHD_CUDA_CHECK(cudaMemcpyAsync(to, slab, piece, cudaMemcpyHostToDevice, stream_.get()));
    staging_used_ += piece;
    from += piece;
    to += piece;
    bytes -= piece;
  }
}

void CudaBackend::download(void* host, const void* device, size_t bytes) const {
  counters_.bytes_d2h += bytes;
  u8* to = static_cast<u8*>(host);
  const u8* from = static_cast<const u8*>(device);
  while (bytes > 0) {
    reset_staging();
    const size_t piece = std::min(bytes, staging_.bytes());
    EPOCHD_CUDA_CHECK(
        cudaMemcpyAsync(staging_.data(), from, piece, cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    std::memcpy(to, staging_.data(), piece);
    to += piece;
    from += piece;
    bytes -= piece;
  }
}

void CudaBackend::reset_staging() const {
  stream_.synchronize();
  staging_used_ = 0;
}

void CudaBackend::reserve_arena(size_t bytes) const {
  reset_staging();
  if (bytes > arena_.bytes()) {
    arena_ = DeviceBlock();  // first free, then take: the device need not hold both
    arena_ = DeviceBlock(bytes + bytes / 8);
    ++counters_.arena_growth;
  }
  descriptors_.rewind(0);
}

ProverUsage CudaBackend::usage() const {
  ProverUsage u;
  u.backend = "cuda";
  u.bytes_h2d = counters_.bytes_h2d;
  u.bytes_d2h = counters_.bytes_d2h;
  u.peak_device_bytes = peak_device_bytes();
  u.counters = {{"fill", counters_.fill},
                {"lde", counters_.lde},
                {"merkle", counters_.merkle},
                {"logup", counters_.logup},
                {"quotient", counters_.quotient},
                {"open", counters_.open},
                {"deep", counters_.deep},
                {"fri", counters_.fri},
                {"gather", counters_.gather},
                {"device_only", counters_.device_only},
                {"arena_growth", counters_.arena_growth}};
  return u;
}

}  // namespace epochd::cuda
