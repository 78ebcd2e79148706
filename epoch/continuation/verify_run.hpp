// The verifier of a run: every epoch proof, the chain between them, and the global memory proof.
// Freestanding and allocation-free; never throws, aborts or reads outside the words it is given.
#pragma once

#include "epoch/continuation/statement.hpp"
#include "prover/verify/verify.hpp"

namespace epochd {

enum class RunError : u32 {
  kNone,
  kTruncated,   ///< the bundle ends early
  kTrailing,    ///< words after the last sub-proof
  kBadMagic,    ///< not an epochd bundle
  kBadVersion,  ///< of another format version
  kPreset,      ///< unknown security preset, or not the verifying key's
  kTestPreset,  ///< the test preset, which proves nothing, was not asked for
  kEpochSize,   ///< epoch size out of range
  kProgram,     ///< the proof is about another program
  kEpochCount,
  kAnchorCount,
  kLastKey,      ///< a chain end outside its region
  kRange,        ///< a statement word out of its range
  kChain,        ///< an epoch does not start where the one before ended
  kNotFinal,     ///< the last epoch does not halt, or another does
  kTableList,    ///< unknown, missing, unsorted or over-sized tables
  kEpochProof,   ///< RunResult::argument says what failed
  kGlobalProof,  ///< likewise; `index` is the sub-proof
  kMainRoot,     ///< a sub-proof without main columns has a main root
  kGlobalSum,    ///< the memories of the epochs do not fit together
};
const char* describe(RunError error);

struct RunResult {
  RunError error = RunError::kNone;
  u32 index = 0;  ///< epoch (0-based) or sub-proof
  prover::VerifyResult argument;
  u64 cycles = 0;
  u64 exit_code = 0;
  u64 output_count = 0;
  u32 epochs = 0;
  bool ok() const { return error == RunError::kNone; }
};

struct RunScratch {
  prover::Layout layout;
  prover::VerifyScratch verify;
  EpochStatement statement;
};

/// Parts of a bundle that are verified together, at most: epochs, or sub-proofs of the global one.
constexpr u32 kPartsAtOnceMax = 32;

/// Runs tasks beside each other. The verifier starts no thread itself.
struct VerifyTasks {
  using Task = void (*)(void* state, u32 index, RunScratch& scratch);
  /// Calls task(state, i, scratch) once for every i < count, in any order and on any threads; two
  /// calls at a time have two scratches. All have ended when it returns. Must not throw.
  void (*run)(void* context, u32 count, Task task, void* state) = nullptr;
  void* context = nullptr;
  u32 at_once = 1;  ///< parts per call of run; more than kPartsAtOnceMax count as that many
};

struct VerifyOptions {
  bool allow_test_preset = false;
  /// Without them one part after the other is verified. The answer is the same, errors included.
  VerifyTasks tasks = {};
  /// Told now and then, in each pass over the bundle: words before `position` have been read. So
  /// that a mapped file need not stay in memory.
  void (*on_read)(void* context, size_t position) = nullptr;
  void* context = nullptr;
};

/// Words of a bundle or of an epoch record, read front to back.
struct WordReader {
  const u64* words;
  size_t count;
  size_t position = 0;

  bool has(size_t n) const { return count - position >= n; }
  const u64* take(size_t n) {
    const u64* p = words + position;
    position += n;
    return p;
  }
};

/// One epoch record at `reader`, as if it were epoch `label` of a run: statement, chain-independent
/// ranges, argument. `statement` receives the public values, `boundary_root` the root the global
/// proof must use.
[[nodiscard]] RunResult verify_epoch(const VerifyingKey& vk, const RunParams& params, u32 label,
                                     bool is_final, WordReader& reader, RunScratch& scratch,
                                     EpochStatement& statement, prover::Digest& boundary_root);

/// A whole bundle. On success cycles, exit_code and output_count are proved; the exit code may be
/// any.
[[nodiscard]] RunResult verify_run(const VerifyingKey& vk, const u64* words, size_t count,
                                   const VerifyOptions& options, RunScratch& scratch);

/// Calls visit(context, word) for each output word of a bundle verify_run accepted.
void for_each_output(const u64* words, size_t count, void (*visit)(void* context, u64 word),
                     void* context);

}  // namespace epochd
