// Where a run's cycles go, by ELF symbol, and what proving them takes, by chip.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/pipeline/guest.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/proof_format.hpp"
#include "epoch/exec/replay.hpp"

namespace epochd {

/// Replays each epoch and counts. The scout knows nothing of it.
class Profile {
 public:
  /// Pre: the guest outlives this.
  Profile(const Guest& guest, const RunParams& params);

  /// Errors: JobError(kInternal) if replay disagrees with the scout.
  void add(const ScoutEpoch& epoch);

  struct SymbolCycles {
    std::string symbol;  ///< "0x10000..0x10008" where the program has no symbol
    u64 cycles = 0;
  };
  /// Most cycles first; without those that have none.
  std::vector<SymbolCycles> symbols() const;

  struct ChipCost {
    std::string chip;
    u64 rows = 0;         ///< used ones
    u64 padded_rows = 0;  ///< of all its tables, a power of two each
    u64 columns = 0;      ///< base columns of a row: trace, lookups and quotient
    u64 area = 0;         ///< columns x padded_rows
  };
  /// Largest area first; every table of the epoch proofs is counted, fixed ones too.
  std::vector<ChipCost> chips() const;

  /// Adds "symbols" and "chips"; a share is a part of 1.
  void add_to(nlohmann::json& json) const;
  /// Both as tables.
  std::string text() const;

 private:
  const Guest& guest_;
  RunParams params_;
  VerifyingKey heights_;  ///< only the heights of the fixed tables
  Stitch stitch_{prover::Digest{}};
  Replayer replayer_;
  EpochRecords records_;
  std::array<u64, kChipCount> rows_{}, padded_rows_{};
  std::vector<u64> cycles_;  ///< by program row
};

}  // namespace epochd
