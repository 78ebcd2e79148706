#include "daemon/pipeline/guest.hpp"

#include <algorithm>

#include "daemon/pipeline/program_files.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/continuation/area.hpp"

namespace epochd {

Guest::Guest(const Bytes& elf, const std::string& name)
    : program_(std::make_unique<Program>(parse_program(elf, name))),
      code_(std::make_unique<Code>(*program_)) {}

Scout Guest::make_scout(std::span<const u8> input, const RunParams& params,
                        const DebugText& debug) const {
  auto scout = Scout::create(*code_, input, epoch_area(params), debug);
  if (!scout) throw JobError(Reason::kInput, scout.error().message);
  return std::move(scout).value();
}

RunFacts GuestRun::to_exit(const RunParams& params,
                           const std::function<void(const ScoutEpoch&)>& visit) const {
  return to_exit(guest_.make_scout(input_, params, debug_), {}, params, visit);
}

RunFacts GuestRun::to_exit(Scout scout, RunFacts facts, const RunParams& params,
                           const std::function<void(const ScoutEpoch&)>& visit) const {
  const u64 cycles_max = u64{1} << params.epoch_size_log2;
  while (!scout.halted()) {
    const u64 left = cycle_limit_ - std::min(cycle_limit_, facts.cycles);
    if (left == 0) {
      throw JobError(Reason::kCycleLimit,
                     "the program did not exit within " + std::to_string(cycle_limit_) +
                         " cycles; if it is meant to run longer, raise the limit (--max-cycles, "
                         "or cycle_limit in job.yaml)");
    }
    auto epoch = scout.run_epoch(static_cast<u32>(std::min(left, cycles_max)));
    if (!epoch) throw JobError(Reason::kGuestFault, "guest fault: " + epoch.error().message());
    facts.cycles += epoch->cycles;
    ++facts.epochs;
    if (facts.epochs > kEpochCountMax) {
      throw JobError(Reason::kInput, "the run has more than 2^31 - 1 epochs; choose larger ones");
    }
    facts.outputs.insert(facts.outputs.end(), epoch->outputs.begin(), epoch->outputs.end());
    facts.exit_code = epoch->exit_code;
    visit(*epoch);
  }
  return facts;
}

ProvingKey make_key(const Guest& guest, const RunParams& params, Isa isa,
                    const Parallel& parallel) {
  auto key = make_proving_key(guest.program(), *params.preset, isa, parallel);
  if (!key) throw JobError(Reason::kInput, key.error().message);
  return std::move(key).value();
}

}  // namespace epochd
