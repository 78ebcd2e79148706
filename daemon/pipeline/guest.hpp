// A guest program made ready to run, and its run from the first instruction to the exit.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/pipeline/engine_prover.hpp"
#include "epoch/continuation/setup.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {

class Guest {
 public:
  /// `name` is the ELF's in messages. Errors: JobError(kInput).
  Guest(const Bytes& elf, const std::string& name);

  const Program& program() const { return *program_; }
  const Code& code() const { return *code_; }
  /// Errors: JobError(kInput) when the input is too large; std::system_error without address space.
  Scout make_scout(std::span<const u8> input, const RunParams& params,
                   const DebugText& debug) const;

 private:
  std::unique_ptr<Program> program_;
  std::unique_ptr<Code> code_;
};

class GuestRun {
 public:
  /// Pre: the guest and the input outlive this.
  GuestRun(const Guest& guest, std::span<const u8> input, u64 cycle_limit, DebugText debug)
      : guest_(guest), input_(input), cycle_limit_(cycle_limit), debug_(std::move(debug)) {}

  /// Runs to the exit in the epochs that a proof with these parameters has, calling `visit` after
  /// each. Errors: JobError(kGuestFault, kCycleLimit, kInput).
  RunFacts to_exit(const RunParams& params,
                   const std::function<void(const ScoutEpoch&)>& visit) const;
  /// The same from between two epochs, where `scout` stands and `facts` is what came before.
  RunFacts to_exit(Scout scout, RunFacts facts, const RunParams& params,
                   const std::function<void(const ScoutEpoch&)>& visit) const;

 private:
  const Guest& guest_;
  std::span<const u8> input_;
  u64 cycle_limit_;
  DebugText debug_;
};

/// The key that the guest's runs are proved with. Errors: JobError(kInput).
ProvingKey make_key(const Guest& guest, const RunParams& params, Isa isa, const Parallel& parallel);

}  // namespace epochd
