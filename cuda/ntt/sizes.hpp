// What the transforms take of the device's memory. Host code without CUDA, for plans made where
// there is no device.
#pragma once

#include <span>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::cuda {

inline constexpr u32 kNttLogRowsMin = 5;
/// Of coset_lde's and lde_from_coefficients's input.
inline constexpr u32 kNttLogRowsMax = 26;
inline constexpr u32 kNttLogBlowupMax = 2;
/// Heights up to this always have tables: together they take 4 MB.
inline constexpr u32 kNttLogAlwaysMax = 15;
/// Shorter transforms without tables are done inside one block, without scratch.
inline constexpr u32 kNttLogSmallMax = 12;
/// Streams that several matrices are extended on beside each other.
inline constexpr u32 kLaneCount = 4;

/// One matrix to extend. Shapes as coset_lde's.
struct LdeJob {
  const u64* in;
  u64* out;
  u32 columns;
  u32 log_n;
};

/// What the columns that coset_lde takes through its passes together may take: of one matrix by
/// itself, and of one on a lane, beside others that fill the device too.
inline constexpr size_t kScratchWordsMax = size_t{1} << 27;
inline constexpr size_t kLaneScratchWordsMax = kScratchWordsMax / kLaneCount;

/// Columns that coset_lde takes through its passes together.
u32 lde_batch_columns(u32 columns, u32 log_n, size_t scratch_words_max);

/// Words of scratch that coset_lde needs: at most 1 GiB, unless one column alone needs more.
size_t lde_scratch_words(u32 columns, u32 log_n, u32 log_blowup);
/// Words of scratch of a matrix on a lane.
size_t lde_lane_scratch_words(u32 columns, u32 log_n);
/// Words of scratch that extending all of `jobs` needs, at most 1 GiB likewise; in and out are not
/// looked at.
size_t lde_scratch_words(std::span<const LdeJob> jobs, u32 log_blowup);

/// Which lane takes which job, and where its scratch begins: each job goes where the least work is.
struct LanePlan {
  std::vector<u32> lane_of_job;
  size_t scratch_at[kLaneCount] = {};
  size_t scratch_words = 0;

  explicit LanePlan(std::span<const LdeJob> jobs);
};

/// Bytes of the twiddle tables of NttTables(log_heights, log_blowup).
u64 ntt_table_bytes(std::span<const u32> log_heights, u32 log_blowup);

}  // namespace epochd::cuda
