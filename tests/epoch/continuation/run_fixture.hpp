// Runs and proves a guest in memory: what the daemon's pipeline does with files, without files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "epoch/continuation/verify_run.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd::testing {

inline std::vector<u8> read_guest(const std::string& name) {
  // The environment names the folder when the binary was carried to another machine.
  const char* moved = std::getenv("EPOCHD_GUEST_DIR");
  const std::string folder = moved != nullptr ? moved : EPOCHD_GUEST_DIR;
  std::ifstream file(folder + "/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<u8> input_words(const std::vector<u64>& words) {
  std::vector<u8> bytes(words.size() * 8);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// A program with its keys for one preset.
struct Guest {
  explicit Guest(const std::string& name, const char* preset_name = "test", u32 threads = 2,
                 Isa isa = best_isa())
      : Guest(read_guest(name), preset_name, threads, isa) {}
  explicit Guest(const std::vector<u8>& file, const char* preset_name = "test", u32 threads = 2,
                 Isa isa = best_isa())
      : pool(threads), backend(isa, pool) {
    auto elf = parse_elf(file);
    EXPECT_TRUE(elf) << elf.error().message;
    program = std::make_unique<Program>(std::move(*elf));
    code = std::make_unique<Code>(*program);
    for (const prover::Preset& p : prover::kPresets) {
      if (std::string(p.name) == preset_name) params.preset = &p;
    }
    auto made = make_proving_key(*program, *params.preset, isa, pool);
    EXPECT_TRUE(made) << made.error().message;
    key = std::move(*made);
  }

  Parallel pool;
  prover::CpuBackend backend;
  RunParams params;
  std::unique_ptr<Program> program;
  std::unique_ptr<Code> code;
  ProvingKey key;
};

/// The guest of this name, set up once for all tests of a binary.
inline Guest& shared_guest(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Guest>> guests;
  std::unique_ptr<Guest>& g = guests[name];
  if (g == nullptr) g = std::make_unique<Guest>(name);
  return *g;
}

/// Every epoch's records, by the scout, the stitch and replay. `areas`: what the scout counted.
inline std::vector<EpochRecords> run_epochs(const Guest& g, const std::vector<u8>& input,
                                            std::vector<u64>* areas = nullptr) {
  std::vector<EpochRecords> epochs;
  auto scout = Scout::create(*g.code, input, epoch_area(g.params));
  EXPECT_TRUE(scout) << scout.error().message;
  Stitch stitch(g.key.vk.digest());
  while (!scout->halted()) {
    auto epoch = scout->run_epoch(1u << g.params.epoch_size_log2);
    EXPECT_TRUE(epoch);
    if (!epoch) break;
    if (areas != nullptr) areas->push_back(epoch->area);
    const Capsule capsule = stitch.seal(*epoch);
    Replayer replayer(*g.code);
    epochs.emplace_back();
    const auto error = replayer.run(capsule, epochs.back());
    EXPECT_FALSE(error) << error->message;
    if (error) break;
  }
  return epochs;
}

/// The bundle of these epochs.
template <class Backend>
std::vector<u64> prove_run(const Guest& g, const Backend& backend,
                           const std::vector<EpochRecords>& epochs) {
  std::vector<EpochProof> proofs;
  RunMemory memory;
  for (u32 e = 0; e < epochs.size(); ++e) {
    proofs.push_back(prove_epoch(backend, g.key, g.params, epochs[e]));
    memory.absorb(e + 1, epochs[e].boundary);
  }
  BoundaryStore store;
  store.epochs = static_cast<u32>(epochs.size());
  store.rows = [&](u32 label) { return epochs[label - 1].boundary; };
  store.root = [&](u32 label) { return proofs[label - 1].boundary_root; };
  store.log_height = [&](u32 label) { return proofs[label - 1].boundary_log_height; };
  const RunMemory::Ends ends = memory.finish(g.key.image);
  std::vector<u64> bundle = bundle_header(g.key.vk, g.params, store.epochs, ends);
  for (const EpochProof& p : proofs) bundle.insert(bundle.end(), p.record.begin(), p.record.end());
  GlobalProver<Backend> global(backend, g.key, g.params, store, ends);
  global.prove(
      [&](std::span<const u64> words) { bundle.insert(bundle.end(), words.begin(), words.end()); });
  return bundle;
}

inline std::vector<u64> prove_run(const Guest& g, const std::vector<EpochRecords>& epochs) {
  return prove_run(g, g.backend, epochs);
}

inline RunResult verify(const Guest& g, const std::vector<u64>& bundle) {
  static const auto scratch = std::make_unique<RunScratch>();
  return verify_run(g.key.vk, bundle.data(), bundle.size(), {.allow_test_preset = true}, *scratch);
}

inline std::string text(const RunResult& r) {
  return std::string(describe(r.error)) + " at " + std::to_string(r.index) + ": " +
         prover::describe(r.argument.error) + " (" + std::to_string(r.argument.detail) + ")";
}

inline std::vector<u64> outputs_of(const std::vector<u64>& bundle) {
  std::vector<u64> out;
  for_each_output(
      bundle.data(), bundle.size(),
      [](void* v, u64 word) { static_cast<std::vector<u64>*>(v)->push_back(word); }, &out);
  return out;
}

}  // namespace epochd::testing
