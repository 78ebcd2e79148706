// Row hashing. One launch takes the rows of several heights.
//
// Rows of one chunk (128 columns): a thread a row, neighbouring rows in neighbouring threads, so
// that each column is read in full lines. Longer rows: a warp takes one chunk of 32 rows at a time,
// the chunks' values meet in shared memory and are merged level by level; a value without a partner
// waits where it is, which gives BLAKE3's tree. Bound by the ALU.
#include <algorithm>
#include <bit>

#include "cuda/merkle/blake3.cuh"
#include "cuda/merkle/row_batch.hpp"
#include "cuda/rt/error.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kWarpRows = 32;
constexpr u32 kWarps = kThreads / kWarpRows;
constexpr u32 kBlockColumns = b3::kBlockBytes / sizeof(u64);
constexpr u32 kChunkColumns = b3::kChunkBytes / sizeof(u64);
/// Chunk values in shared memory, a KiB for 32 of them.
constexpr u32 kItemsMax = kDeviceRowWidthMax / kChunkColumns;
/// Blocks of several row groups only where enough of them are left to fill a device.
constexpr u64 kBlocksWanted = 264;

/// The next column of one row; the same column in all threads of a warp.
struct Cursor {
  const RowSegment* segment;
  const u64* at;
  u32 left;  ///< columns of this segment

  __device__ void start(const RowSegment* first, u64 row) {
    segment = first;
    at = first->base + row;
    left = first->width;
  }
  /// Pre: more than `columns` are left in all segments.
  __device__ void skip(u32 columns, u64 row) {
    while (columns >= left) {
      columns -= left;
      start(segment + 1, row);
    }
    at += static_cast<u64>(columns) * segment->stride;
    left -= columns;
  }
  __device__ u64 next(u64 row) {
    if (left == 0) start(segment + 1, row);
    const u64 value = __ldcs(at);
    at += segment->stride;
    --left;
    return value;
  }
  /// The next `count` columns, then zeros.
  __device__ Message next_block(u32 count, u64 row) {
    u64 values[kBlockColumns];
    if (left >= kBlockColumns && count >= kBlockColumns) {
      const u64 stride = segment->stride;
#pragma unroll
      for (u32 i = 0; i < kBlockColumns; ++i) values[i] = __ldcs(at + i * stride);
      at += kBlockColumns * stride;
      left -= kBlockColumns;
    } else {
#pragma unroll
      for (u32 i = 0; i < kBlockColumns; ++i) values[i] = i < count ? next(row) : 0;
    }
    Message m;
#pragma unroll
    for (u32 i = 0; i < kBlockColumns; ++i) {
      m.words[2 * i] = static_cast<u32>(values[i]);
      m.words[2 * i + 1] = static_cast<u32>(values[i] >> 32);
    }
    return m;
  }
};

/// Chaining value of chunk `chunk` of a row, `columns` long.
__device__ __forceinline__ ChainingValue hash_chunk(const Blake3Key& key, Cursor cursor, u64 row,
                                                    u32 columns, u32 chunk, u32 root_flag) {
  ChainingValue cv = key_value(key);
  u32 flags = b3::kKeyedHash | b3::kChunkStart;
  for (u32 left = columns;; left -= kBlockColumns) {
    const u32 count = min(left, kBlockColumns);
    if (left <= kBlockColumns) flags |= b3::kChunkEnd | root_flag;
    const Message m = cursor.next_block(count, row);
    compress(cv, m, chunk, count * static_cast<u32>(sizeof(u64)), flags);
    if (left <= kBlockColumns) return cv;
    flags = b3::kKeyedHash;
  }
}

/// Chunk values of a block's rows: word w of chunk c of row r is at ((c * 8 + w) * rows + r).
struct ChunkValues {
  u32* s;
  u32 rows;

  __device__ void store(u32 chunk, u32 row, const ChainingValue& cv) const {
#pragma unroll
    for (u32 w = 0; w < 8; ++w) s[(chunk * 8 + w) * rows + row] = cv.words[w];
  }
  __device__ ChainingValue load(u32 chunk, u32 row) const {
    ChainingValue cv;
#pragma unroll
    for (u32 w = 0; w < 8; ++w) cv.words[w] = s[(chunk * 8 + w) * rows + row];
    return cv;
  }
};

__device__ void hash_long_rows(const RowBatch& batch, const RowJob& job, u32 block, u32* shared) {
  const ChunkValues values{shared, job.groups * kWarpRows};
  const u64 first = static_cast<u64>(block) * values.rows;
  const u32 lane = threadIdx.x % kWarpRows;
  for (u32 item = threadIdx.x / kWarpRows; item < job.groups * job.chunks; item += kWarps) {
    const u32 chunk = item % job.chunks;
    const u32 local = item / job.chunks * kWarpRows + lane;
    if (first + local >= job.rows) continue;
    Cursor cursor;
    cursor.start(batch.segments + job.first_segment, first + local);
    cursor.skip(chunk * kChunkColumns, first + local);
    const u32 columns = min(job.width - chunk * kChunkColumns, kChunkColumns);
    values.store(chunk, local, hash_chunk(batch.key, cursor, first + local, columns, chunk, 0));
  }
  u32 distance = 1;
  for (u32 count = job.chunks; count > 1; count = (count + 1) / 2, distance *= 2) {
    __syncthreads();
    const u32 flags = b3::kKeyedHash | b3::kParent | (count == 2 ? b3::kRoot : 0);
    for (u32 task = threadIdx.x; task < count / 2 * values.rows; task += kThreads) {
      const u32 at = task / values.rows * 2 * distance;
      const u32 local = task % values.rows;
      if (first + local >= job.rows) continue;
      const ChainingValue cv =
          hash_pair(batch.key, values.load(at, local), values.load(at + distance, local), flags);
      if (count == 2) {
        store_digest(job.out + first + local, cv);
      } else {
        values.store(at, local, cv);
      }
    }
  }
}

/// Grid: the blocks of all jobs, one after another.
__global__ void __launch_bounds__(kThreads) rows_kernel(const __grid_constant__ RowBatch batch) {
  __shared__ u32 shared[kItemsMax * 8 * kWarpRows];
  u32 index = 0;
  while (blockIdx.x >= batch.jobs[index].first_block + batch.jobs[index].blocks) ++index;
  const RowJob& job = batch.jobs[index];
  const u32 block = blockIdx.x - job.first_block;
  if (job.chunks > 1) {
    hash_long_rows(batch, job, block, shared);
    return;
  }
  const u64 row = static_cast<u64>(block) * kThreads + threadIdx.x;
  if (row >= job.rows) return;
  Cursor cursor;
  cursor.start(batch.segments + job.first_segment, row);
  store_digest(job.out + row, hash_chunk(batch.key, cursor, row, job.width, 0, b3::kRoot));
}

}  // namespace

void RowBatch::add(const RowSource& source, u64 rows, Digest* out) {
  EPOCHD_ASSERT(source.width > 0 && rows > 0);
  EPOCHD_ASSERT(job_count < kTreeHeightsMax);
  EPOCHD_ASSERT(segment_count + source.segment_count <= kTreeSegmentsMax);
  RowJob job{out, rows, segment_count, source.width, 0, kWarps, block_count, 0};
  job.chunks = (source.width + kChunkColumns - 1) / kChunkColumns;
  if (job.chunks > 1) {
    job.groups = std::bit_floor(std::min(kWarps, kItemsMax / job.chunks));
    while (job.groups > 1 && rows / (job.groups * kWarpRows) < kBlocksWanted) job.groups /= 2;
  }
  const u64 block_rows = job.groups * kWarpRows;
  job.blocks = static_cast<u32>((rows + block_rows - 1) / block_rows);
  std::copy_n(source.segments, source.segment_count, segments + segment_count);
  segment_count += source.segment_count;
  block_count += job.blocks;
  jobs[job_count++] = job;
}

void RowBatch::launch(cudaStream_t stream) const {
  rows_kernel<<<block_count, kThreads, 0, stream>>>(*this);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void hash_rows(const RowSource& source, u64 rows, Digest* out, cudaStream_t stream) {
  RowBatch batch;
  batch.key = prover::domains::kLeaf;
  batch.add(source, rows, out);
  batch.launch(stream);
}

}  // namespace epochd::cuda
