#include "cuda/session/cuda_backend.hpp"

#include <cstring>

namespace epochd::cuda {
namespace {

/// Smaller arrays go through the slab: they are often on the caller's stack.
constexpr size_t kDirectBytesMin = size_t{64} << 10;

bool is_pinned(const void* host) {
  cudaPointerAttributes attributes{};
  EPOCHD_CUDA_CHECK(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

}  // namespace

CudaBackend::CudaBackend(std::shared_ptr<const DeviceShared> shared, const CudaPlan& plan,
                         const BackendOptions& options)
    : shared_(std::move(shared)),
      tables_(shared_->tables()),
      coset_points_(shared_->coset_points()),
      inverse_points_(shared_->inverse_points()),
      plan_(plan),
      options_(options),
      stream_((make_current(shared_->device()), Stream())),
      arena_(plan.arena_bytes()),
      descriptors_(plan.descriptor_bytes),
      staging_(plan.staging_bytes),
      mirror_(plan.mirror_bytes) {
  const bool needs_mirror = options.residency == Residency::kHostMirror || options.has_debug_checks;
  EPOCHD_ASSERT(needs_mirror == (plan.mirror_bytes > 0));
}

CudaBackend::~CudaBackend() = default;

void CudaBackend::hold_fixed(std::span<const std::shared_ptr<const prover::FixedTree>> trees) {
  make_current(shared_->device());
  fixed_.clear();  // first free, then take: the plan has room for one program
  for (const auto& tree : trees) fixed(tree);
}

const DeviceFixedTree& CudaBackend::fixed(
    const std::shared_ptr<const prover::FixedTree>& tree) const {
  for (const auto& held : fixed_) {
    if (held->host == tree) return *held;
  }
  fixed_.push_back(shared_->fixed(tree));
  return *fixed_.back();
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

const void* CudaBackend::upload_records(const void* host, size_t bytes) const {
  u8* const device = record_uploads_.next(bytes, stream_.get());
  if (is_pinned(host)) {
    counters_.bytes_h2d += bytes;
    // The caller keeps it until the session's next value comes down.
    record_uploads_.copy(device, host, bytes, stream_.get());
  } else {
    upload(device, host, bytes);
  }
  return device;
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

void CudaBackend::copy_down(void* pinned, const void* device, size_t bytes) const {
  counters_.bytes_d2h += bytes;
  EPOCHD_CUDA_CHECK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream_.get()));
}

void CudaBackend::reserve_arena(size_t bytes) const {
  make_current(shared_->device());
  reset_staging();
  if (bytes > arena_.bytes()) {
    throw Error(ErrorKind::kOutOfPlan, cudaErrorMemoryAllocation,
                "a session needs " + std::to_string(bytes) + " bytes, the plan is " +
                    std::to_string(arena_.bytes()));
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
                {"host_mirror", counters_.host_mirror},
                {"mirror_fallback", counters_.mirror_fallback}};
  return u;
}

}  // namespace epochd::cuda
