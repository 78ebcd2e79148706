// Bound by latency: a few hundred rows of a few hundred columns.
#include <cstring>

#include "cuda/gather/gather.hpp"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kDigestWords = sizeof(prover::Digest) / sizeof(u64);

struct PlanView {
  const GatherJob* jobs;
  const RowSegment* segments;
  const u64* indices;
  u32 job_count;
};

/// Rows are a block each: a thread takes every kThreads-th column of a segment.
__device__ void copy_row(const PlanView& plan, const GatherJob& job, u64 row, u64* out) {
  for (u32 s = 0; s < job.segment_count; ++s) {
    const RowSegment segment = plan.segments[job.first_segment + s];
    for (u32 c = threadIdx.x; c < segment.width; c += kThreads) {
      out[c] = segment.base[static_cast<u64>(c) * segment.stride + row];
    }
    out += segment.width;
  }
}

__device__ u64 word_of(const GatherJob& job, u64 index, u32 word) {
  if (job.kind == GatherKind::kDigests) return job.base[index * kDigestWords + word];
  return job.base[word % 3 * job.plane_stride + index * (job.width / 3) + word / 3];
}

/// Grid: the jobs' blocks.
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const __grid_constant__ PlanView plan, u64* out) {
  const GatherJob job = plan.jobs[find_job(plan.jobs, plan.job_count,
                                           [](const GatherJob& j) { return j.first_block; })];
  const u32 block = blockIdx.x - job.first_block;
  const u64* indices = plan.indices + job.first_index;
  out += job.first_word;
  if (job.kind == GatherKind::kRows) {
    copy_row(plan, job, indices[block], out + u64{block} * job.width);
    return;
  }
  const u32 at = block * kThreads + threadIdx.x;
  if (at >= job.index_count * job.width) return;
  out[at] = word_of(job, indices[at / job.width], at % job.width);
}

u32 blocks_for(u32 threads) {
  return (threads + kThreads - 1) / kThreads;
}

template <class T>
void append(std::vector<u64>& words, const std::vector<T>& values) {
  static_assert(sizeof(T) % sizeof(u64) == 0);
  const size_t before = words.size();
  words.resize(before + values.size() * sizeof(T) / sizeof(u64));
  if (!values.empty()) {
    std::memcpy(words.data() + before, values.data(), values.size() * sizeof(T));
  }
}

}  // namespace

void GatherPlan::add(GatherJob job, u32 blocks) {
  job.first_index = static_cast<u32>(indices_.size()) - job.index_count;
  job.first_block = blocks_;
  job.first_word = words_;
  jobs_.push_back(job);
  blocks_ += blocks;
  words_ += size_t{job.index_count} * job.width;
}

void GatherPlan::add_rows(const RowSource& source, std::span<const u32> rows) {
  if (rows.empty()) return;
  GatherJob job{};
  job.kind = GatherKind::kRows;
  job.first_segment = static_cast<u32>(segments_.size());
  job.segment_count = source.segment_count;
  segments_.insert(segments_.end(), source.segments, source.segments + source.segment_count);
  indices_.insert(indices_.end(), rows.begin(), rows.end());
  job.index_count = static_cast<u32>(rows.size());
  job.width = source.width;
  add(job, job.index_count);
}

void GatherPlan::add_fri_leaves(const u64* planes, u64 plane_stride, u32 log_fold,
                                std::span<const u32> leaves) {
  if (leaves.empty()) return;
  GatherJob job{};
  job.kind = GatherKind::kFriLeaves;
  job.base = planes;
  job.plane_stride = plane_stride;
  job.index_count = static_cast<u32>(leaves.size());
  indices_.insert(indices_.end(), leaves.begin(), leaves.end());
  job.width = 3u << log_fold;
  add(job, blocks_for(job.index_count * job.width));
}

void GatherPlan::add_digests(const prover::Digest* tree, std::span<const u64> positions) {
  if (positions.empty()) return;
  GatherJob job{};
  job.kind = GatherKind::kDigests;
  job.base = reinterpret_cast<const u64*>(tree);
  job.index_count = static_cast<u32>(positions.size());
  indices_.insert(indices_.end(), positions.begin(), positions.end());
  job.width = kDigestWords;
  add(job, blocks_for(job.index_count * job.width));
}

std::vector<u64> GatherPlan::packed() const {
  std::vector<u64> words;
  words.reserve((jobs_.size() * sizeof(GatherJob) + segments_.size() * sizeof(RowSegment)) /
                    sizeof(u64) +
                indices_.size());
  append(words, jobs_);
  append(words, segments_);
  append(words, indices_);
  return words;
}

void launch_gather(const GatherPlan& plan, const u64* packed, u64* out, cudaStream_t stream) {
  if (plan.empty()) return;
  PlanView view{};
  view.job_count = static_cast<u32>(plan.jobs_.size());
  view.jobs = reinterpret_cast<const GatherJob*>(packed);
  view.segments = reinterpret_cast<const RowSegment*>(view.jobs + view.job_count);
  view.indices = reinterpret_cast<const u64*>(view.segments + plan.segments_.size());
  gather_kernel<<<plan.blocks_, kThreads, 0, stream>>>(view, out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
