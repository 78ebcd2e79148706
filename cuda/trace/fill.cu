// One thread fills one row: reads one record, writes every column of it. Neighbouring threads write
// neighbouring rows, so each column store is coalesced; the record load is the strided side, once.
// Bound: memory.
#include "cuda/rt/error.hpp"
#include "cuda/trace/fill.hpp"
#include "epoch/chips/all_airs.hpp"
#include "epoch/chips/all_fills.hpp"
#include "epoch/chips/fills.hpp"

namespace epochd::cuda {
namespace {

using chips::Fill;
using chips::RowWriter;
using prover::Fp;
using prover::RecordBlock;

constexpr u32 kThreads = 128;

/// How one chip's fill reads a record block; specialised where it takes more than a record and the
/// program.
template <class Air>
struct FillRow {
  static __device__ void run(const RecordBlock& b, size_t r, RowWriter& row) {
    const auto* records = static_cast<const typename Fill<Air>::Record*>(b.records);
    Fill<Air>::fill(records[r], static_cast<const ProgramRow*>(b.shared), row);
  }
};
template <>
struct FillRow<chips::BoundaryAir> {
  static __device__ void run(const RecordBlock& b, size_t r, RowWriter& row) {
    Fill<chips::BoundaryAir>::fill(static_cast<const BoundaryRecord*>(b.records)[r],
                                   static_cast<u32>(b.argument), row);
  }
};
template <>
struct FillRow<chips::AnchorAir> {
  static __device__ void run(const RecordBlock& b, size_t r, RowWriter& row) {
    Fill<chips::AnchorAir>::fill(static_cast<const AnchorRecord*>(b.records)[r],
                                 static_cast<const u64*>(b.shared)[r], row);
  }
};
template <>
struct FillRow<chips::ImageAir> {
  static __device__ void run(const RecordBlock& b, size_t r, RowWriter& row) {
    const auto& e = static_cast<const chips::ImageEnd*>(b.records)[r];
    Fill<chips::ImageAir>::fill(e.fini, e.fini_epoch, e.key, e.previous_key, row);
  }
};
template <>
struct FillRow<chips::BoundaryGlobalAir> : FillRow<chips::BoundaryAir> {};

template <class Air>
constexpr bool kHasFill =
    !std::is_same_v<Air, chips::ProgramAir> && !std::is_same_v<Air, chips::Range16Air> &&
    !std::is_same_v<Air, chips::BytesAir>;

template <class Air>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(RecordBlock block, size_t rows, Fp* base, size_t stride) {
  const size_t r = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (r >= rows) return;
  RowWriter row{base + r, stride};
  FillRow<Air>::run(block, r, row);
}

template <class Air>
void launch(const RecordBlock& block, size_t rows, Fp* base, size_t stride, cudaStream_t stream) {
  const u32 blocks = static_cast<u32>((rows + kThreads - 1) / kThreads);
  fill_kernel<Air><<<blocks, kThreads, 0, stream>>>(block, rows, base, stride);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

template <class... Entries>
bool dispatch(chips::AirList<Entries...>, const RecordBlock& block, size_t rows, Fp* base,
              size_t stride, cudaStream_t stream) {
  bool done = false;
  const auto one = [&]<class Entry>() {
    if constexpr (kHasFill<typename Entry::Air>) {
      if (static_cast<u32>(Entry::kChip) != block.kind) return;
      launch<typename Entry::Air>(block, rows, base, stride, stream);
      done = true;
    }
  };
  (one.template operator()<Entries>(), ...);
  return done;
}

}  // namespace

bool launch_fill(const RecordBlock& block, size_t rows, Fp* base, size_t stride,
                 cudaStream_t stream) {
  if (rows == 0) return true;
  return dispatch(chips::AllAirs{}, block, rows, base, stride, stream);
}

}  // namespace epochd::cuda
