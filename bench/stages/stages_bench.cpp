// Where an epoch proof's time goes: proves the second epoch of a guest's run (the first, if there
// is only one) several times over and prints each time's rate in cycles a second and its CPU time,
// then the fastest one's stages, proof bytes and verification time. The first time also faults the
// arena in, as the first epoch of a run does.
// INPUT is u64 words with commas between, or a number of bytes like 300000b.
//   epoch-stages GUEST.elf INPUT [EPOCH_SIZE_LOG2] [THREADS] [PRESET] [TIMES]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "epoch/capsule/stitch.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "epoch/continuation/verify_run.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"
#include "prover/hash/blake3.hpp"

namespace {

using namespace epochd;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class StageTimes : public StageListener {
 public:
  void stage_begins(const char*) override { start_ = Clock::now(); }
  void stage_ends(const char* name) override { seconds_[name] += since(start_); }
  void print() const {
    for (const auto& [name, s] : seconds_) std::printf("  %-16s %8.3f s\n", name.c_str(), s);
  }

 private:
  Clock::time_point start_;
  std::map<std::string, double> seconds_;
};

std::vector<u8> input_of(const std::string& text) {
  std::vector<u8> input;
  if (text.back() == 'b') {
    const u64 bytes = std::strtoull(text.c_str(), nullptr, 10);
    for (u64 i = 0; i < bytes; ++i) input.push_back(static_cast<u8>(i * 2654435761u >> 13));
    return input;
  }
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const u64 value = std::strtoull(word.c_str(), nullptr, 10);
    input.insert(input.end(), reinterpret_cast<const u8*>(&value),
                 reinterpret_cast<const u8*>(&value) + sizeof(value));
  }
  return input;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Wall seconds of the fastest of `times` proofs; `stages` are its.
double prove_times(const prover::CpuBackend& backend, const ProvingKey& key,
                   const RunParams& params, const EpochRecords& records, u32 times,
                   EpochProof& proof, StageTimes& stages) {
  double best = 0;
  for (u32 i = 0; i < times; ++i) {
    StageTimes now;
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    proof = prove_epoch(backend, key, params, records, {{}, &now});
    const double seconds = since(start);
    std::printf("prove %.3f s = %.1f kHz, CPU %.3f s\n", seconds,
                records.public_values.cycles / seconds / 1e3, cpu_seconds() - cpu);
    if (i == 0 || seconds < best) {
      best = seconds;
      stages = now;
    }
  }
  return best;
}

int run(int argc, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<u8> elf{std::istreambuf_iterator<char>(file), {}};
  auto image = parse_elf(elf);
  if (!image) {
    std::fprintf(stderr, "%s: %s\n", argv[1], image.error().message.c_str());
    return 2;
  }
  const Program program(std::move(*image));
  const Code code(program);
  RunParams params;
  params.epoch_size_log2 = argc > 3 ? static_cast<u32>(std::strtoul(argv[3], nullptr, 10)) : 18;
  const Parallel pool(argc > 4 ? static_cast<u32>(std::strtoul(argv[4], nullptr, 10)) : 0);
  const std::string preset = argc > 5 ? argv[5] : "proven100";
  for (const prover::Preset& p : prover::kPresets) {
    if (preset == p.name) params.preset = &p;
  }
  const Isa isa = best_isa();
  const prover::CpuBackend backend(isa, pool);
  auto start = Clock::now();
  auto key = make_proving_key(program, *params.preset, isa, pool);
  std::printf("isa %s, threads %u, setup %.3f s\n", isa_name(isa), pool.threads(), since(start));

  auto scout = Scout::create(code, input_of(argv[2]), epoch_area(params));
  Stitch stitch(key->vk.digest());
  EpochRecords records;
  Replayer replayer(code);
  for (u32 e = 0; e < 2 && !scout->halted(); ++e) {
    auto epoch = scout->run_epoch(1u << params.epoch_size_log2);
    if (!epoch) return 1;
    if (replayer.run(stitch.seal(*epoch), records)) return 1;
  }
  const EpochPublic& p = records.public_values;
  for (const TableInstance& t : plan_tables(records, key->vk, *params.preset)) {
    std::printf("  %-16s 2^%-3u %10zu rows\n", chips::find_air(t.chip)->name, t.log_height, t.rows);
  }
  const u32 times = argc > 6 ? static_cast<u32>(std::strtoul(argv[6], nullptr, 10)) : 3;
  EpochProof proof;
  StageTimes stages;
  const double prove_seconds = prove_times(backend, *key, params, records, times, proof, stages);
  stages.print();
  auto scratch = std::make_unique<RunScratch>();
  EpochStatement statement;
  prover::Digest root;
  WordReader reader{proof.record.data(), proof.record.size()};
  start = Clock::now();
  const RunResult r =
      verify_epoch(key->vk, params, p.label, p.is_final, reader, *scratch, statement, root);
  const double verify_seconds = since(start);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const prover::Digest digest = prover::blake3_hash(proof.record.data(), proof.record.size() * 8);
  std::printf("fastest %.1f kHz; proof %.2f MB, %016llx; verify %.1f ms (%s); peak RSS %.0f MiB\n",
              p.cycles / prove_seconds / 1e3, proof.record.size() * 8 / 1e6,
              static_cast<unsigned long long>(digest.words[0]), verify_seconds * 1e3,
              r.ok() ? "valid" : describe(r.error), static_cast<double>(usage.ru_maxrss) / 1024);
  return r.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: epoch-stages GUEST.elf INPUT [EPOCH_SIZE_LOG2] [THREADS] [PRESET] "
                 "[TIMES]\n");
    return 2;
  }
  return run(argc, argv);
}
