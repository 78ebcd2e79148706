// Uploads of records on a stream of their own: one table's come up while kernels fill the tables
// before it, and beside the kernels of other epochs in flight.
#pragma once

#include "cuda/rt/lanes.hpp"
#include "cuda/session/record_ring.hpp"

namespace epochd::cuda {

/// Threads: one at a time.
class RecordUploads {
 public:
  /// `bytes` at `place` are for records from now on. Waits for what is still on its way.
  void begin(u8* place, size_t bytes) {
    stream_.synchronize();
    place_ = place;
    ring_ = RecordRing(bytes);
  }

  /// Where the next `bytes` go. What is launched on `main` so far keeps what it reads: an upload
  /// that would overwrite it waits.
  u8* next(size_t bytes, cudaStream_t main) {
    const RecordRing::Piece piece = ring_.next(bytes);
    if (piece.is_reused) {
      EPOCHD_CUDA_CHECK(cudaEventRecord(read_.get(), main));
      EPOCHD_CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), read_.get()));
    }
    return place_ + piece.at;
  }

  /// Copies from page-locked memory to what next() gave. What is launched on `main` from now on
  /// waits for it; what was launched before does not.
  void copy(u8* to, const void* pinned, size_t bytes, cudaStream_t main) {
    EPOCHD_CUDA_CHECK(cudaMemcpyAsync(to, pinned, bytes, cudaMemcpyHostToDevice, stream_.get()));
    EPOCHD_CUDA_CHECK(cudaEventRecord(copied_.get(), stream_.get()));
    EPOCHD_CUDA_CHECK(cudaStreamWaitEvent(main, copied_.get()));
  }

  cudaStream_t stream() const { return stream_.get(); }

 private:
  Stream stream_;
  Event copied_;
  Event read_;
  u8* place_ = nullptr;
  RecordRing ring_;
};

}  // namespace epochd::cuda
