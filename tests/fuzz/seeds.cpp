#include "tests/fuzz/seeds.hpp"

#include <algorithm>
#include <filesystem>

#include "daemon/pipeline/capsule_file.hpp"
#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/pipeline/run_facts.hpp"
#include "epoch/capsule/snapshot.hpp"
#include "prover/security/presets.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::fuzz {
namespace {

using Seeds = std::map<std::string, std::vector<Bytes>>;

// One epoch of the smallest size: a proof that is verified often.
void add_proof(Seeds& seeds) {
  testing::Guest guest(testing::straight_line(12));
  guest.params.epoch_size_log2 = kEpochSizeLog2Min;
  const auto epochs = testing::run_epochs(guest, {});
  seeds["key"].push_back(bytes_of(encode_verifying_key(guest.key.vk)));
  seeds["proof"].push_back(bytes_of(testing::prove_run(guest, epochs)));
  const EpochProof proof = prove_epoch(guest.backend, guest.key, guest.params, epochs[0]);
  seeds["payload"].push_back(encode_payload(proof, epochs[0].boundary));
  EpochProof small;
  small.record = {1, 2, 3};
  seeds["payload"].push_back(encode_payload(small, epochs[0].boundary));
  seeds["payload"].push_back(encode_payload(small, {}));
}

void add_capsules(Seeds& seeds) {
  const Program program(*parse_elf(testing::all_regions(3)));
  const Code code(program);
  auto scout = Scout::create(code, testing::input_words({5}));
  Stitch stitch(prover::Digest{});
  while (!scout->halted()) {
    seeds["capsule"].push_back(encode_capsule(stitch.seal(*scout->run_epoch(32))));
  }
}

// Half a run, with outputs; what it came to; an epoch with its program.
void add_resume(Seeds& seeds) {
  const Bytes elf = testing::all_regions(3);
  const Program program(*parse_elf(elf));
  const Code code(program);
  auto scout = Scout::create(code, testing::input_words({5}));
  Stitch stitch(prover::Digest{});
  std::vector<u64> outputs;
  const RunParams params{&prover::kPresets[0], kEpochSizeLog2Min};
  while (!scout->halted()) {
    const ScoutEpoch epoch = *scout->run_epoch(32);
    outputs.insert(outputs.end(), epoch.outputs.begin(), epoch.outputs.end());
    const Capsule capsule = stitch.seal(epoch);
    seeds["package"].push_back(encode_capsule_file(JobKey{}, params, elf, capsule));
    if (scout->halted()) break;
    Bytes& bytes = seeds["snapshot"].emplace_back();
    write_snapshot(
        best_isa(), prover::Digest{}, *scout, stitch, outputs,
        [&](std::span<const u8> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  }
  seeds["facts"].push_back(encode_facts({params, {scout->cycles(), 2, 0, outputs}}));
  seeds["facts"].push_back(encode_facts({params, {1, 1, 7, {}}}));
}

void add_programs(Seeds& seeds) {
  test::BuilderSegment text, zeros;
  text.address = 0x10000;
  text.bytes = test::little_endian(
      {test::auipc(5, 1), test::lw(6, 5, 2), test::sd(6, 5, 8), test::bne(6, 0, -4), test::kEcall});
  zeros.flags = 6;
  zeros.address = 0x11000;
  zeros.memory_bytes = 4096;
  seeds["elf"] = {
      testing::straight_line(8), testing::all_regions(3),
      test::build_elf(0x10000, {text, zeros}, {{"_start", 0x10000}, {"loop", 0x10008}})};
}

void add_written(Seeds& seeds, const std::string& folder) {
  for (const char* target : {"config", "job"}) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + target)) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      seeds[target].push_back({std::istreambuf_iterator<char>(file), {}});
    }
  }
}

}  // namespace

std::map<std::string, std::vector<Bytes>> make_seeds(const std::string& written) {
  Seeds seeds;
  add_proof(seeds);
  add_capsules(seeds);
  add_resume(seeds);
  add_programs(seeds);
  add_written(seeds, written);
  return seeds;
}

}  // namespace epochd::fuzz
