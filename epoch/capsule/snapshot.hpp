// A run between two epochs, as bytes: what the scout and the stitch need to go on from there
// without executing what came before. Written and read in a stream, a page of memory at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "epoch/capsule/stitch.hpp"

namespace epochd {

struct SnapshotError {
  enum class Code : u8 {
    kTooShort,    ///< it ends early
    kTooLong,     ///< something follows it
    kBadMagic,    ///< not a snapshot
    kBadVersion,  ///< a snapshot of another version of epochd
    kForeign,     ///< of another run
    kBadHeader,   ///< a field out of its range, or registers that cannot be
    kBadPage,     ///< a page out of order, or with cells that cannot be
    kChecksum,    ///< damaged
  };
  Code code;
  std::string message;
};

/// What a run has behind it when it stands between two epochs.
struct Snapshot {
  u32 label = 0;  ///< of the last epoch
  u64 cycles = 0;
  std::vector<u64> outputs;
};

/// Keys of the memory, or all registers, that epochs touched or may have touched.
struct SnapshotPage {
  u32 first_key = 0;
  std::span<const u32> labels;   ///< of the last epoch that touched each key, 0: none
  std::span<const u64> genesis;  ///< values at the start of the run
  std::span<const u64> values;   ///< values now
};

/// Takes the next bytes. What it throws passes through.
using SnapshotSink = std::function<void(std::span<const u8>)>;
/// Fills the span; returns how many bytes, fewer than it takes only at the end. What it throws
/// passes through.
using SnapshotSource = std::function<size_t(std::span<u8>)>;

/// Layout, little endian: "EPSNAPSH", u32 version, label, u64 cycles, outputs, u32 pc, pages,
/// 32 bytes owner; registers (34 u64), their labels (34 u32), the output words; for each page of
/// cells that was touched, ascending, u32 index, 0, 1024 labels (u32), 1024 values (u64); BLAKE3
/// of all that.
///
/// `owner` names the run to the caller: program, input and how it is cut. `outputs`: all words
/// emitted so far. Pre: the stitch sealed every epoch the scout ran, at least one, and the scout
/// has not halted. Memory: a page. Cost: 12 bytes a cell of every touched page.
void write_snapshot(const prover::Digest& owner, const Scout& scout, const Stitch& stitch,
                    std::span<const u64> outputs, const SnapshotSink& sink);

/// Takes the scout of the same program and input, which has run nothing, to where the run was;
/// calls `visit` for the registers and for every page, so that the caller can restore what it
/// keeps of them. Reads untrusted bytes: allocates a page, and no more for the outputs than twice
/// what there are bytes. On an error scout and what `visit` made are to be dropped.
Result<Snapshot, SnapshotError> read_snapshot(
    const prover::Digest& owner, const SnapshotSource& source, Scout& scout,
    const std::function<void(const SnapshotPage&)>& visit);

}  // namespace epochd
