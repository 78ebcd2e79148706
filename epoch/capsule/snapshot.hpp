// A run between two epochs, as bytes: what the scout and the stitch need to go on from there
// without executing what came before. Written and read in a stream, some pages of memory at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "epoch/capsule/stitch.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

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

/// Keys of the memory, whole pages of LabelMap's one after the other, or all registers, that epochs
/// touched or may have touched.
struct SnapshotCells {
  u32 first_key = 0;
  std::span<const u32> labels;   ///< of the last epoch that touched each key, 0: none
  std::span<const u64> genesis;  ///< values at the start of the run
  std::span<const u64> values;   ///< values now
};

/// Takes the next bytes. What it throws passes through.
using SnapshotSink = std::function<void(std::span<const u8>)>;
/// Fills the span; returns how many bytes, fewer than it takes only at the end. What it throws
/// passes through. Threads: any, one at a time.
using SnapshotSource = std::function<size_t(std::span<u8>)>;
/// Takes what there is.
struct SnapshotVisit {
  /// The registers, then all pages. Threads: for the pages several at once.
  std::function<void(const SnapshotCells&)> cells;
  /// Before all cells: pages that follow each other and are going to come.
  std::function<void(u32 first_key, u32 count)> expect = [](u32, u32) {};
};

/// Layout, little endian: "EPSNAPSH", u32 version, label, u64 cycles, outputs, u32 pc, pages,
/// 32 bytes owner; registers (34 u64), their labels (34 u32); the output words; which pages of
/// cells were touched, ascending (u32 each); those in groups of 16, the last of what is left: the
/// labels of the group's cells (1024 u32 a page), then their values (1024 u64 a page); BLAKE3 of
/// all that comes before the groups and of the BLAKE3 of each group.
///
/// `owner` names the run to the caller: program, input and how it is cut. `outputs`: all words
/// emitted so far. Pre: the stitch sealed every epoch the scout ran, at least one, and the scout
/// has not halted. Memory: a group, and 4 bytes a page. Cost: 12 bytes a cell of every touched
/// page.
void write_snapshot(Isa isa, const prover::Digest& owner, const Scout& scout, const Stitch& stitch,
                    std::span<const u64> outputs, const SnapshotSink& sink);

/// What reads a snapshot, and may end it.
struct SnapshotReading {
  const Parallel& parallel;
  Isa isa;
  /// Called on the thread that reads, every few milliseconds; may throw, to stop.
  std::function<void()> check = [] {};
};

/// The most that reading holds besides what it returns and 4 bytes a page, however large the
/// snapshot is.
u64 snapshot_buffer_bytes(u32 threads);

/// Takes the scout of the same program and input, which has run nothing, to where the run was;
/// calls `visit` for the registers and for every page, so that the caller can restore what it
/// keeps of them. Reads untrusted bytes: allocates snapshot_buffer_bytes(), and no more for outputs
/// and pages than twice what there are bytes. On an error scout and what `visit` made are to be
/// dropped.
Result<Snapshot, SnapshotError> read_snapshot(const SnapshotReading& how,
                                              const prover::Digest& owner,
                                              const SnapshotSource& source, Scout& scout,
                                              const SnapshotVisit& visit);

/// The same for `visit` alone: the scout, which has run nothing, says what the memory was at the
/// start and stays there.
Result<Snapshot, SnapshotError> visit_snapshot(const SnapshotReading& how,
                                               const prover::Digest& owner,
                                               const SnapshotSource& source, const Scout& scout,
                                               const SnapshotVisit& visit);

}  // namespace epochd
