// Rounds 2 to 7 of a CUDA session.
#include <algorithm>

#include "cuda/fri/fold.hpp"
#include "cuda/merkle/merkle.hpp"
#include "cuda/quotient/quotient.hpp"
#include "cuda/session/cuda_backend.hpp"
#include "prover/pcs/ntt.hpp"

namespace epochd::cuda {

using prover::Digest;
using prover::FoldArgs;
using prover::kNone;
using prover::LoweredTable;
using prover::Segment;
using prover::TableShape;

namespace {

Fp* as_fp(u64* p) {
  return reinterpret_cast<Fp*>(p);
}

}  // namespace

/// Makes the programs of these tables, in device memory as one array.
void CudaSession::upload_programs(Fp3 gamma, Fp3 beta, std::span<const u32> tables) {
  std::vector<u64> words;
  std::vector<size_t> begins;
  for (const u32 t : tables) {
    const LoweredTable lowered = prover::lower_table(layout_->shape.tables[t], gamma, beta);
    begins.push_back(words.size());
    programs_[t] = append_program(lowered, words);
  }
  const u64* device = backend_->upload(std::span<const u64>(words));
  for (size_t i = 0; i < tables.size(); ++i) programs_[tables[i]].words = device + begins[i];
}

/// The jobs of these tables, with their blocks.
LogupJobs CudaSession::upload_logup_jobs(std::span<const u32> tables) const {
  std::vector<LogupJob> jobs;
  u32 blocks = 0;
  u32 shared_bytes = 0;
  for (const u32 t : tables) {
    jobs.push_back(logup_job(t));
    jobs.back().first_block = blocks;
    blocks += blocks_of(jobs.back().log_rows, kLogupRows);
    shared_bytes = std::max(shared_bytes, logup_bytes(programs_[t]));
  }
  return {backend_->upload(std::span<const LogupJob>(jobs)), static_cast<u32>(jobs.size()), blocks,
          shared_bytes};
}

LogupJob CudaSession::logup_job(u32 table) const {
  const TableShape& shape = layout_->shape.tables[table];
  LogupJob job{};
  job.program = programs_[table];
  job.trace = trace_set(table);
  job.log_rows = shape.log_height;
  job.inverse_rows = Fp::from_u64(u64{1} << shape.log_height).inverse();
  job.aux = as_fp(buffers_->trace[layout_->logup_segment[table]]);
  job.scratch = buffers_->logup_scratch[table];
  job.block_sums = buffers_->block_sums[table];
  job.sum = buffers_->sums + table;
  return job;
}

void CudaSession::logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums) {
  require_device(DeviceStage::kLogup);
  cudaStream_t stream = backend_->stream_.get();
  EPOCHD_CUDA_CHECK(cudaMemsetAsync(buffers_->sums, 0, sums.size() * sizeof(Fp3), stream));
  // The tall tables first, so that the device has work while the others are lowered; then the
  // others beside them.
  std::vector<u32> parts[2];
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    if (shape.air->interaction_count == 0) continue;
    parts[shape.log_height + 1 >= layout_->log_height_max() ? 0 : 1].push_back(t);
  }
  programs_.assign(layout_->shape.table_count, {});
  for (u32 part = 0; part < 2; ++part) {
    upload_programs(gamma, beta, parts[part]);
    const LogupJobs jobs = upload_logup_jobs(parts[part]);
    if (part == 0) backend_->lanes_.fork(stream);
    launch_logup(jobs, part == 0 ? backend_->lanes_.stream(0) : stream);
  }
  backend_->lanes_.join(stream);
  sums_.resize(sums.size());
  backend_->download(sums_.data(), buffers_->sums, sums.size() * sizeof(Fp3));
  std::copy(sums_.begin(), sums_.end(), sums.begin());
  ++backend_->counters_.logup;
}

void CudaSession::quotient(Fp3 alpha) {
  require_device(DeviceStage::kQuotient);
  cudaStream_t stream = backend_->stream_.get();
  const Fp3* alpha_powers = upload_alpha_powers(alpha);
  launch_logup_share(alpha_powers);
  // Heights do not depend on each other, and most do not fill the device.
  backend_->lanes_.fork(stream);
  for (u32 h = 0; h < layout_->height_count; ++h) {
    cudaStream_t lane = backend_->lanes_.stream(h % kLaneCount);
    add_constraints(h, alpha_powers, lane);
    divide_and_interpolate(h, lane);
  }
  backend_->lanes_.join(stream);
  ++backend_->counters_.quotient;
}

/// As many as the height with the most constraints needs: every height begins with alpha^0.
const Fp3* CudaSession::upload_alpha_powers(Fp3 alpha) const {
  size_t count = 0;
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const size_t end =
        layout_->first_constraint[t] + layout_->shape.tables[t].air->total_constraints();
    count = std::max(count, end);
  }
  const std::vector<Fp3> alphas = prover::powers(alpha, count);
  return backend_->upload(std::span<const Fp3>(alphas));
}

LogupQuotientJob CudaSession::logup_quotient_job(u32 table, const Fp3* alpha_powers) const {
  const TableShape& shape = layout_->shape.tables[table];
  const size_t n = size_t{1} << shape.log_height;
  LogupQuotientJob job{};
  job.program = programs_[table];
  job.columns = lde_set(table);
  job.aux = as_fp(buffers_->lde[layout_->logup_segment[table]]);
  job.aux_stride = n << layout_->shape.preset->log_blowup;
  job.log_half = shape.log_height;
  job.sum_over_height = sums_[table] * Fp::from_u64(n).inverse();
  job.alpha_powers = alpha_powers + layout_->first_constraint[table] + shape.air->constraint_count;
  return job;
}

/// The folded LogUp constraints of every height, or zeros: what was there before is written over.
void CudaSession::launch_logup_share(const Fp3* alpha_powers) const {
  std::vector<LogupQuotientJob> jobs;
  std::vector<LogupQuotientHeight> heights;
  u32 blocks = 0;
  u32 shared_bytes = 0;
  for (u32 h = layout_->height_count; h-- > 0;) {
    LogupQuotientHeight height{};
    height.first_job = static_cast<u32>(jobs.size());
    height.first_block = blocks;
    height.rows = size_t{2} << layout_->heights[h];
    height.out = as_fp(buffers_->folded[h]);
    for (u32 t = 0; t < layout_->shape.table_count; ++t) {
      if (layout_->shape.tables[t].log_height != layout_->heights[h]) continue;
      if (programs_[t].pairs == 0) continue;
      jobs.push_back(logup_quotient_job(t, alpha_powers));
      shared_bytes = std::max(shared_bytes, logup_quotient_bytes(programs_[t]));
    }
    height.job_count = static_cast<u32>(jobs.size()) - height.first_job;
    heights.push_back(height);
    blocks += blocks_of(layout_->heights[h] + 1, kLogupRows);
  }
  launch_logup_quotient(
      {backend_->upload(std::span<const LogupQuotientHeight>(heights)),
       static_cast<u32>(heights.size()), backend_->upload(std::span<const LogupQuotientJob>(jobs)),
       blocks, shared_bytes},
      backend_->stream_.get());
}

/// The chips' own constraints of one height.
void CudaSession::add_constraints(u32 height_index, const Fp3* alpha_powers,
                                  cudaStream_t stream) const {
  const u32 log_height = layout_->heights[height_index];
  const size_t rows = size_t{2} << log_height;
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    if (shape.log_height != log_height) continue;
    FoldArgs args{};
    args.columns = lde_set(t);
    std::copy(shape.params, shape.params + prover::kParamsMax, args.params);
    args.alpha_powers = alpha_powers + layout_->first_constraint[t];
    const ChipId chip = static_cast<ChipId>(sources_[t].block.kind);
    constraints_of(chip)(args, rows, as_fp(buffers_->folded[height_index]), rows, stream);
  }
}

void CudaSession::divide_and_interpolate(u32 height_index, cudaStream_t stream) const {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  u64* folded = buffers_->folded[height_index];
  const Fp shift_n = Fp::generator().pow(n);
  launch_divide(as_fp(folded), log_height, (shift_n - Fp::one()).inverse(),
                (-shift_n - Fp::one()).inverse(), stream);
  coset_interpolate(backend_->tables_, folded, 3, log_height + 1, stream);
  // Three planes of 2N coefficients become six of N: part 0's three, then part 1's.
  u64* parts = buffers_->trace[layout_->quotient_segment[height_index]];
  for (u32 p = 0; p < 2; ++p) {
    EPOCHD_CUDA_CHECK(cudaMemcpy2DAsync(parts + 3 * p * n, n * 8, folded + p * n, 2 * n * 8, n * 8,
                                        3, cudaMemcpyDeviceToDevice, stream));
  }
}

void CudaSession::open(Fp3 zeta, std::span<Fp3> openings) {
  require_device(DeviceStage::kOpen);
  zeta_ = zeta;
  OpenPlan plan;
  u64* weights = buffers_->scratch;
  for (u32 h = 0; h < layout_->height_count; ++h) {
    for (u32 point = 0; point < 2; ++point) plan_openings(h, point, weights, plan);
  }
  cudaStream_t stream = backend_->stream_.get();
  launch_weights(backend_->upload(std::span<const WeightJob>(plan.weights)),
                 static_cast<u32>(plan.weights.size()), plan.weight_blocks, stream);
  launch_dots(backend_->upload(std::span<const DotJob>(plan.dots)),
              static_cast<u32>(plan.dots.size()), plan.dot_blocks,
              chunks_of(layout_->log_height_max(), kDotRows), buffers_->partials,
              buffers_->openings, stream);
  std::vector<Fp3> values(plan.targets.size());
  backend_->download(values.data(), buffers_->openings, values.size() * sizeof(Fp3));
  openings_.resize(openings.size());
  for (size_t i = 0; i < values.size(); ++i) openings_[plan.targets[i]] = values[i];
  std::copy(openings_.begin(), openings_.end(), openings.begin());
  ++backend_->counters_.open;
}

/// Adds the columns of one height opened at one point; their weights begin at `weights`, which
/// moves on.
void CudaSession::plan_openings(u32 height_index, u32 point, u64*& weights, OpenPlan& plan) const {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  const size_t rows = n << layout_->shape.preset->log_blowup;
  const Fp3 z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
  DotJob empty{};
  empty.weights = as_fp(weights);
  empty.log_n = log_height;
  empty.scale = (pow(z * Fp::generator().inverse(), n) - Fp::one()) * Fp::from_u64(n).inverse();
  DotJob job = empty;
  const auto flush = [&] {
    if (job.column_count == 0) return;
    job.first_value = static_cast<u32>(plan.targets.size()) - job.column_count;
    job.first_block = plan.dot_blocks;
    plan.dot_blocks += chunks_of(log_height, kDotRows);
    plan.dots.push_back(job);
    job = empty;
  };
  const size_t before = plan.targets.size();
  for (u32 s = 0; s < layout_->segment_count; ++s) {
    const Segment& segment = layout_->segments[s];
    if (segment.log_height != log_height) continue;
    for (u32 c = point == 0 ? 0 : segment.first_double_column(); c < segment.width; ++c) {
      job.columns[job.column_count++] = as_fp(segment_lde(s)) + c * rows;
      plan.targets.push_back(segment.opening(c, point));
      if (job.column_count == kDotColumns) flush();
    }
  }
  flush();
  if (plan.targets.size() == before) return;
  plan.weights.push_back(
      {backend_->coset_points_.get(log_height), log_height, plan.weight_blocks, z, as_fp(weights)});
  plan.weight_blocks += chunks_of(log_height, kWeightRows);
  weights += 3 * n;
}

/// Its columns go to the end of `columns`; where they are on the device is not known yet.
DeepPoint CudaSession::deep_point(u32 log_height, u32 point, std::span<const Fp3> powers,
                                  std::vector<DeepColumn>& columns) const {
  const u32 log_rows = log_height + layout_->shape.preset->log_blowup;
  const size_t first = columns.size();
  DeepPoint p{};
  for (u32 s = 0; s < layout_->segment_count; ++s) {
    const Segment& segment = layout_->segments[s];
    if (segment.log_height != log_height) continue;
    for (u32 c = point == 0 ? 0 : segment.first_double_column(); c < segment.width; ++c) {
      const u32 j = segment.opening(c, point);
      columns.push_back({as_fp(segment_lde(s)) + (size_t{c} << log_rows), powers[j]});
      p.at_z += powers[j] * openings_[j];
    }
  }
  p.count = static_cast<u32>(columns.size() - first);
  p.z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
  return p;
}

void CudaSession::deep(Fp3 delta) {
  require_device(DeviceStage::kDeep);
  const std::vector<Fp3> powers = prover::powers(delta, layout_->opening_count);
  const u32 log_domain = layout_->log_domain();
  std::vector<DeepJob> jobs;
  std::vector<DeepColumn> columns;
  u32 blocks = 0;
  u64* out = buffers_->scratch;
  for (u32 h = 0; h < layout_->height_count; ++h) {
    DeepJob job{};
    job.log_rows = layout_->heights[h] + layout_->shape.preset->log_blowup;
    job.x = backend_->coset_points_.get(job.log_rows);
    job.first_row_block = blocks;
    for (u32 p = 0; p < 2; ++p) {
      job.points[p] = deep_point(layout_->heights[h], p, powers, columns);
    }
    job.out = as_fp(out);
    blocks += chunks_of(job.log_rows, kDeepRows);
    out += size_t{3} << job.log_rows;
    jobs.push_back(job);
  }
  const DeepColumn* deep_columns = backend_->upload(std::span<const DeepColumn>(columns));
  for (DeepJob& job : jobs) {
    for (DeepPoint& p : job.points) {
      p.columns = deep_columns;
      deep_columns += p.count;
    }
  }
  const DeepJob* device = backend_->upload(std::span<const DeepJob>(jobs));
  const u32 count = static_cast<u32>(jobs.size());
  cudaStream_t stream = backend_->stream_.get();
  launch_deep(device, count, blocks, stream);
  u64* word = buffers_->fri.empty() ? buffers_->final_word : buffers_->fri[0].word;
  launch_lift(device, count, as_fp(word), log_domain, stream);
  fri_step_ = 0;
  ++backend_->counters_.deep;
}

Digest CudaSession::fri_commit() {
  const FriLayerBuffers& layer = buffers_->fri[fri_step_];
  build_fri_tree(layer.word, u64{1} << layer.log_word, layer.log_word, layer.log_fold, layer.tree,
                 backend_->stream_.get());
  committed_fri_layer(fri_step_);
  return download_digest(layer.tree + tree_root_offset(layer.log_word - layer.log_fold));
}

void CudaSession::fri_fold(Fp3 beta) {
  const FriLayerBuffers& layer = buffers_->fri[fri_step_++];
  u64* next =
      fri_step_ < buffers_->fri.size() ? buffers_->fri[fri_step_].word : buffers_->final_word;
  launch_fri_fold(prover::FriFold(layer.log_word, layer.log_fold, beta),
                  backend_->inverse_points_.get(layer.log_word), layer.log_fold, as_fp(layer.word),
                  layer.log_word, as_fp(next), backend_->stream_.get());
  ++backend_->counters_.fri;
}

void CudaSession::fri_final(std::span<Fp3> coefficients) {
  const size_t rows = size_t{1} << buffers_->log_final_word;
  std::vector<Fp> word(3 * rows);
  backend_->download(word.data(), buffers_->final_word, word.size() * sizeof(Fp));
  for (u32 c = 0; c < 3; ++c) {
    prover::interpolate_bitrev(word.data() + c * rows, buffers_->log_final_word);
  }
  for (size_t i = 0; i < coefficients.size(); ++i) {
    coefficients[i] = {word[i], word[rows + i], word[2 * rows + i]};
  }
}

u64 CudaSession::grind(const Digest& state, u32 bits) {
  u64 nonce = 0;
  if (bits == 0) return nonce;
  cuda::grind(state, bits, buffers_->nonce, backend_->stream_.get());
  backend_->download(&nonce, buffers_->nonce, sizeof nonce);
  return nonce;
}

}  // namespace epochd::cuda
