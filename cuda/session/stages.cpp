// Rounds 2 to 7 of a CUDA session.
#include "cuda/fri/fold.hpp"
#include "cuda/logup/logup.hpp"
#include "cuda/merkle/merkle.hpp"
#include "cuda/open/open.hpp"
#include "cuda/quotient/quotient.hpp"
#include "cuda/session/cuda_backend.hpp"
#include "prover/pcs/ntt.hpp"

namespace epochd::cuda {

using prover::Digest;
using prover::FoldArgs;
using prover::kNone;
using prover::LogupQuotientArgs;
using prover::LoweredTable;
using prover::Segment;
using prover::TableShape;

namespace {

Fp* as_fp(u64* p) {
  return reinterpret_cast<Fp*>(p);
}

}  // namespace

void CudaSession::logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums) {
  cudaStream_t stream = backend_->stream_.get();
  lowered_.clear();
  EPOCHD_CUDA_CHECK(cudaMemsetAsync(buffers_->sums, 0, sums.size() * sizeof(Fp3), stream));
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    const LoweredTable lowered = lower_table(shape, gamma, beta);
    DeviceTable table{};
    table.view.access_count = static_cast<u32>(lowered.accesses.size());
    if (table.view.access_count > 0) {
      table.view.accesses =
          backend_->upload(std::span<const prover::LogupAccess>(lowered.accesses));
      table.view.weights = backend_->upload(std::span<const prover::LogupWeight>(lowered.weights));
      table.view.coefficients =
          backend_->upload(std::span<const prover::LogupCoefficient>(lowered.coefficients));
      launch_logup(table.view, trace_set(t), shape.log_height,
                   as_fp(buffers_->trace[layout_->logup_segment[t]]), as_fp(buffers_->scratch),
                   buffers_->sums + t, stream);
    }
    lowered_.push_back(table);
  }
  sums_.resize(sums.size());
  backend_->download(sums_.data(), buffers_->sums, sums.size() * sizeof(Fp3));
  std::copy(sums_.begin(), sums_.end(), sums.begin());
  ++backend_->counters_.logup;
}

void CudaSession::quotient(Fp3 alpha) {
  for (u32 h = 0; h < layout_->height_count; ++h) quotient_height(h, alpha);
  ++backend_->counters_.quotient;
}

void CudaSession::quotient_height(u32 height_index, Fp3 alpha) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  const size_t rows = 2 * n;
  cudaStream_t stream = backend_->stream_.get();
  u64* folded = buffers_->folded[height_index];
  EPOCHD_CUDA_CHECK(cudaMemsetAsync(folded, 0, 3 * rows * sizeof(u64), stream));
  u32 constraints = 0;
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    if (shape.log_height == log_height) constraints += shape.air->total_constraints();
  }
  const std::vector<Fp3> alphas = prover::powers(alpha, constraints);
  const Fp3* device_alphas = backend_->upload(std::span<const Fp3>(alphas));
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    if (shape.log_height != log_height) continue;
    const Fp3* alpha_of = device_alphas + layout_->first_constraint[t];
    FoldArgs args{};
    args.columns = lde_set(t);
    std::copy(shape.params, shape.params + prover::kParamsMax, args.params);
    args.alpha_powers = alpha_of;
    const ChipId chip = static_cast<ChipId>(sources_[t].block.kind);
    constraints_of(chip)(args, rows, as_fp(folded), rows, stream);
    const u32 logup = layout_->logup_segment[t];
    if (logup == kNone) continue;
    LogupQuotientArgs lookup{};
    lookup.columns = lde_set(t);
    lookup.aux = as_fp(buffers_->lde[logup]);
    lookup.aux_stride = n << layout_->shape.preset->log_blowup;
    lookup.log_half = log_height;
    lookup.sum_over_height = sums_[t] * Fp::from_u64(n).inverse();
    lookup.alpha_powers = alpha_of + shape.air->constraint_count;
    launch_logup_quotient(lowered_[t].view, lookup, rows, as_fp(folded), rows, stream);
  }
  const Fp shift_n = Fp::generator().pow(n);
  launch_divide(as_fp(folded), log_height, (shift_n - Fp::one()).inverse(),
                (-shift_n - Fp::one()).inverse(), stream);
  coset_interpolate(backend_->tables_, folded, 3, log_height + 1, stream);
  // Three planes of 2N coefficients become six of N: part 0's three, then part 1's.
  u64* parts = buffers_->trace[layout_->quotient_segment[height_index]];
  for (u32 p = 0; p < 2; ++p) {
    EPOCHD_CUDA_CHECK(cudaMemcpy2DAsync(parts + 3 * p * n, n * 8, folded + p * n, rows * 8, n * 8,
                                        3, cudaMemcpyDeviceToDevice, stream));
  }
}

void CudaSession::open(Fp3 zeta, std::span<Fp3> openings) {
  zeta_ = zeta;
  std::vector<u32> targets;
  for (u32 h = 0; h < layout_->height_count; ++h) {
    for (u32 point = 0; point < 2; ++point) open_height(h, point, targets);
  }
  std::vector<Fp3> values(targets.size());
  backend_->download(values.data(), buffers_->openings, values.size() * sizeof(Fp3));
  openings_.resize(openings.size());
  for (size_t i = 0; i < targets.size(); ++i) openings_[targets[i]] = values[i];
  std::copy(openings_.begin(), openings_.end(), openings.begin());
  ++backend_->counters_.open;
}

/// Appends the opening each launched value is to `targets`.
void CudaSession::open_height(u32 height_index, u32 point, std::vector<u32>& targets) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  const size_t rows = n << layout_->shape.preset->log_blowup;
  const Fp3 z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
  std::vector<const Fp*> columns;
  const size_t first_value = targets.size();
  for (u32 s = 0; s < layout_->segment_count; ++s) {
    const Segment& segment = layout_->segments[s];
    if (segment.log_height != log_height) continue;
    for (u32 c = point == 0 ? 0 : segment.first_double_column(); c < segment.width; ++c) {
      columns.push_back(as_fp(segment_lde(s)) + c * rows);
      targets.push_back(segment.opening(c, point));
    }
  }
  if (columns.empty()) return;
  cudaStream_t stream = backend_->stream_.get();
  Fp* weights = as_fp(buffers_->scratch);
  Fp3* partial = reinterpret_cast<Fp3*>(buffers_->scratch + 3 * n);
  launch_weights(backend_->coset_points_.get(log_height), log_height, z, weights, stream);
  const Fp3 scale = (pow(z * Fp::generator().inverse(), n) - Fp::one()) * Fp::from_u64(n).inverse();
  launch_dot(backend_->upload(std::span<const Fp* const>(columns)),
             static_cast<u32>(columns.size()), weights, log_height, scale, partial,
             buffers_->openings + first_value, stream);
}

void CudaSession::deep_height(u32 height_index, std::span<const Fp3> powers, u64* out,
                              u64* scratch) {
  const u32 log_height = layout_->heights[height_index];
  const u32 log_rows = log_height + layout_->shape.preset->log_blowup;
  DeepPoint points[2];
  for (u32 point = 0; point < 2; ++point) {
    std::vector<DeepColumn> columns;
    Fp3 at_z{};
    for (u32 s = 0; s < layout_->segment_count; ++s) {
      const Segment& segment = layout_->segments[s];
      if (segment.log_height != log_height) continue;
      for (u32 c = point == 0 ? 0 : segment.first_double_column(); c < segment.width; ++c) {
        const u32 j = segment.opening(c, point);
        columns.push_back({as_fp(segment_lde(s)) + (size_t{c} << log_rows), powers[j]});
        at_z += powers[j] * openings_[j];
      }
    }
    points[point].count = static_cast<u32>(columns.size());
    points[point].columns =
        columns.empty() ? nullptr : backend_->upload(std::span<const DeepColumn>(columns));
    points[point].z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
    points[point].at_z = at_z;
  }
  launch_deep(backend_->coset_points_.get(log_rows), points, log_rows, as_fp(out), as_fp(scratch),
              backend_->stream_.get());
}

void CudaSession::deep(Fp3 delta) {
  const std::vector<Fp3> powers = prover::powers(delta, layout_->opening_count);
  const u32 log_domain = layout_->log_domain();
  u64* word = buffers_->fri.empty() ? buffers_->final_word : buffers_->fri[0].word;
  u64* low = buffers_->scratch + (size_t{3} << log_domain);
  deep_height(0, powers, word, buffers_->scratch);
  for (u32 h = 1; h < layout_->height_count; ++h) {
    deep_height(h, powers, low, buffers_->scratch);
    launch_lift(as_fp(word), log_domain, as_fp(low), layout_->heights[0] - layout_->heights[h],
                backend_->stream_.get());
  }
  fri_step_ = 0;
  ++backend_->counters_.deep;
}

Digest CudaSession::fri_commit() {
  const FriLayerBuffers& layer = buffers_->fri[fri_step_];
  build_fri_tree(layer.word, u64{1} << layer.log_word, layer.log_word, layer.log_fold, layer.tree,
                 backend_->stream_.get());
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
