// The forger's bench: proves epochs and runs as the real prover does, but lets a test change the
// cells, the statement, the boundaries and the anchors first. Multiplicities of the fixed tables
// are chosen as well as any forger could, after the changes: each lookup bus balances unless a
// tuple is asked for that no fixed table holds. Every attempt also goes through the trace checker,
// which says by name what a rejection rests on.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/epoch/continuation/table_check.hpp"

namespace epochd::testing {

/// One cell of a main trace. Rows past the used ones are padding, and may be forged too.
struct CellPatch {
  ChipId chip;
  size_t row;
  u32 column;
  prover::Fp value;
};

struct EpochForgery {
  /// The instructions that rows are filled with, instead of the program's own; as many.
  std::vector<ProgramRow> rows;
  std::vector<CellPatch> cells;
  std::function<void(EpochStatement&)> statement;  ///< what the statement claims
  /// Last word on the traces, multiplicities chosen.
  std::function<void(prover::CpuSession&, const std::vector<TableInstance>&)> before_commit;
  /// After the roots are absorbed and gamma, beta drawn.
  std::function<void(prover::CpuSession&, const EpochStatement&, const prover::Challenges&)> late;
  /// Proves with these instead of the gamma, beta that the transcript gives.
  std::optional<prover::Challenges> frozen;
  /// Changes the tables' LogUp sums, or the openings at zeta, before they are absorbed.
  std::function<void(std::span<prover::Fp3>)> sums;
  std::function<void(const prover::Layout&, prover::Fp3 zeta, std::span<prover::Fp3>)> openings;
};

struct ForgedEpoch {
  EpochProof proof;
  TablesReport report;
};
ForgedEpoch forge_epoch(const Guest& g, const EpochRecords& records,
                        const EpochForgery& forgery = {});

/// An epoch's tables as the prover fills them, lookup counters included, through the trace checker.
TablesReport check_epoch(const Guest& g, const EpochRecords& records);

/// Hands over the filled tables of an epoch, without proving anything.
void inspect_epoch(
    const Guest& g, const EpochRecords& records,
    const std::function<void(prover::CpuSession&, const std::vector<TableInstance>&)>& inspect);

/// Index of the first table of this chip, or kNone.
u32 table_of(const std::vector<TableInstance>& tables, ChipId chip);

/// Whether some fixed table holds the tuple (bus, values ...). Never so for buses without one.
bool lookup_exists(const ProvingKey& key, const std::vector<u64>& tuple);

/// What the global proof is made from. `cells` name anchor chunks by number; the image's and
/// range16's chunk is ignored.
struct GlobalInput {
  std::vector<std::vector<BoundaryRecord>> boundaries;  ///< by label - 1
  std::vector<std::vector<CellPatch>> boundary_cells;   ///< by label - 1
  RunMemory::Ends ends;
  std::map<u32, std::vector<CellPatch>> anchor_cells;  ///< by chunk
  std::vector<CellPatch> image_cells;
  u64 anchor_count = 0;  ///< what the header says; the rows in `ends` fill the chunks in order
};

/// Lies of the global proof's maker about its own messages. Sub-proofs are counted from 0: groups,
/// anchor chunks, the last of which has the run's range16 as its first table.
struct GlobalLies {
  using Sessions = std::vector<prover::CpuSession*>;
  /// Last word on the traces, multiplicities chosen.
  std::function<void(const Sessions&)> before_commit;
  /// After all main roots are absorbed and gamma, beta drawn.
  std::function<void(const Sessions&, const prover::Challenges&)> late;
  /// Proves with these instead of the gamma, beta that the transcript gives.
  std::optional<prover::Challenges> frozen;
  /// Sees, and may change, a sub-proof's LogUp sums or openings before they are absorbed.
  std::function<void(u32 sub_proof, std::span<prover::Fp3>)> sums;
  std::function<void(u32 sub_proof, const prover::Layout&, prover::Fp3 zeta,
                     std::span<prover::Fp3>)>
      openings;
};

struct RunForgery {
  std::map<u32, EpochForgery> epochs;  ///< by label
  std::function<void(GlobalInput&)> global;
  GlobalLies lies;
};

struct Attempt {
  std::vector<u64> bundle;
  RunResult result;
  std::vector<TablesReport> epochs;
  TablesReport global;  ///< empty if an epoch was refused: the verifier stops there
  bool has_global = false;
};
/// Proves these epochs as a run, with the forgeries, and verifies the bundle.
Attempt forge_run(const Guest& g, const std::vector<EpochRecords>& epochs,
                  const RunForgery& forgery = {});

/// The tables of all sub-proofs of an honest run, lookup counters carried as the prover does.
TablesReport check_global(const Guest& g, const std::vector<EpochRecords>& epochs);

/// What an attempt must meet: exactly these constraints violated, exactly these buses unbalanced.
struct Caught {
  std::set<std::string> constraints;
  std::set<std::string> buses;
};
/// The attempt was refused in epoch `index` for this reason, and the trace checker agrees on why.
void expect_epoch_refused(const Attempt& attempt, u32 index, const Caught& by);
/// All epochs stand; the global proof was refused.
void expect_global_refused(const Attempt& attempt, const Caught& by);

}  // namespace epochd::testing
