#include "tests/daemon/simulation/guest.hpp"

#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/prove_global.hpp"
#include "epoch/exec/replay.hpp"
#include "prover/hash/blake3.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::simulation {
namespace {

constexpr u64 kRoundsOfAnEpoch = 9;
constexpr u32 kBoundaryLogHeight = 5;
constexpr u64 kGlobalPieces = 3;

template <class T>
void absorb(prover::Blake3& hasher, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  hasher.update(&value, sizeof(value));
}

void push(std::vector<u64>& words, const prover::Digest& digest) {
  words.insert(words.end(), digest.words, digest.words + 4);
}

prover::Digest hash_rows(std::span<const BoundaryRecord> rows) {
  return prover::blake3_hash(rows.data(), rows.size_bytes());
}

/// What both sides know of an epoch.
struct Statement {
  u32 label = 0;
  bool is_final = false;
  u32 pc = 0;
  u32 cycles = 0;
  u32 out_in = 0;
};

EpochProof prove(const prover::Digest& program, const Statement& of,
                 std::span<const BoundaryRecord> boundary) {
  EpochProof proof;
  proof.boundary_root = hash_rows(boundary);
  proof.boundary_log_height = kBoundaryLogHeight;
  prover::Blake3 hasher;
  absorb(hasher, program);
  for (const u32 word : {of.label, u32{of.is_final}, of.pc, of.cycles, of.out_in}) {
    absorb(hasher, word);
  }
  absorb(hasher, proof.boundary_root);
  proof.record.push_back(0);
  push(proof.record, hasher.digest());
  close_record(proof.record);
  return proof;
}

}  // namespace

std::string make_program(const Program& program) {
  using namespace test;
  constexpr u32 kTop = 9, kInput = 18, kX = 19, kWhere = 21;
  std::vector<u32> code;
  testing::load_immediate(code, kT0, testing::kDataBase);
  testing::load_immediate(code, kTop, testing::kHighBase);
  testing::load_input_base(code, kInput);
  code.push_back(ld(kT1, kT0, 0));
  code.push_back(ld(kT2, kT0, 8));
  code.push_back(add(kT2, kT2, kT1));  // the loop: a fresh cell in every round
  code.push_back(sd(kT2, kTop, 0));
  code.push_back(ld(kX, kInput, 8));
  code.push_back(add(kT2, kT2, kX));
  code.push_back(addi(kTop, kTop, 8));
  code.push_back(addi(kT1, kT1, -1));
  code.push_back(bne(kT1, 0, -24));
  code.push_back(ld(kWhere, kT0, 16));
  code.push_back(ld(kWhere, kWhere, 0));
  testing::emit_register(code, kT2);
  testing::exit_with(code, 0);

  BuilderSegment text, data;
  text.address = testing::kTextBase;
  text.bytes = little_endian(code);
  data.flags = 6;
  data.address = testing::kDataBase;
  put<u64>(data.bytes, 0, program.epochs * kRoundsOfAnEpoch);
  put<u64>(data.bytes, 8, program.salt);
  put<u64>(data.bytes, 16, program.has_guest_fault ? 0 : u64{testing::kDataBase});
  const std::vector<u8> elf = build_elf(testing::kTextBase, {text, data});
  return {elf.begin(), elf.end()};
}

ProvingKey simulated_key(const Guest& guest, const RunParams& params) {
  const auto cells = guest.program().image_cells();
  const auto rows = guest.program().rows();
  ProvingKey key;
  key.image.assign(cells.begin(), cells.end());
  key.vk.preset_id = params.preset->id;
  key.vk.entry = guest.program().entry();
  key.vk.log_program = height_for(rows.size());
  key.vk.log_image = height_for(cells.size());
  prover::Blake3 hasher;
  for (const ImageCell& cell : cells) {
    absorb(hasher, cell.key);
    absorb(hasher, cell.value);
  }
  key.vk.epoch_root = key.vk.global_root = hasher.digest();
  return key;
}

EpochProof simulated_proof(const prover::Digest& program, const EpochPublic& values,
                           std::span<const BoundaryRecord> boundary) {
  return prove(program, {values.label, values.is_final, values.pc_in, values.cycles, values.out_in},
               boundary);
}

bool is_simulated_proof(const Capsule& capsule, const EpochProof& proof,
                        std::span<const BoundaryRecord> boundary) {
  if (boundary.size() != capsule.keys.size()) return false;
  for (size_t i = 0; i < boundary.size(); ++i) {
    const CapsuleKey& key = capsule.keys[i];
    const BoundaryRecord& row = boundary[i];
    if (row.key != key.key || row.init_epoch != key.init_epoch || row.init != key.value) {
      return false;
    }
  }
  const Statement of{capsule.label, capsule.is_final, capsule.pc, capsule.cycles, capsule.out_in};
  const EpochProof good = prove(capsule.program, of, boundary);
  return proof.record == good.record && proof.boundary_root == good.boundary_root;
}

bool emit_simulated_global(const prover::Digest& program, const BoundaryStore& boundaries,
                           const RunMemory::Ends& ends,
                           const std::function<void(std::span<const u64>)>& emit,
                           const std::function<bool()>& cancelled, u64 flip) {
  prover::Blake3 hasher;
  absorb(hasher, program);
  for (const AnchorRecord& anchor : ends.anchors) absorb(hasher, anchor);
  for (const chips::ImageEnd& end : ends.image) {
    absorb(hasher, end.fini);
    absorb(hasher, end.fini_epoch);
  }
  for (const u64 key : ends.last_keys) absorb(hasher, key);
  for (u32 label = 1; label <= boundaries.epochs; ++label) {
    const prover::Digest root = hash_rows(boundaries.rows(label));
    if (root != boundaries.root(label)) throw std::runtime_error("another boundary than proved");
    absorb(hasher, root);
  }
  for (u64 piece = 0; piece < kGlobalPieces; ++piece) {
    if (cancelled && cancelled()) return false;
    absorb(hasher, piece);
    std::vector<u64> words;
    push(words, hasher.digest());
    for (u64& word : words) word += flip;
    emit(words);
  }
  return true;
}

const Expected& ExpectedRuns::of(const Bytes& elf, const Bytes& input,
                                 const ProtocolSettings& protocol) {
  const auto to_text = [](const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); };
  const auto [found, is_new] = runs_.try_emplace({to_text(elf), to_text(input)});
  Expected& expected = found->second;
  if (!is_new) return expected;
  const Guest guest(elf, "a simulated program");
  const RunParams params{&preset_of(protocol.security), protocol.epoch_size_log2};
  const ProvingKey key = simulated_key(guest, params);
  Scout scout = guest.make_scout(input, params, {});
  Stitch stitch(key.vk.digest());
  Replayer replayer(guest.code());
  RunMemory memory;
  std::vector<EpochProof> proofs;
  std::vector<std::vector<BoundaryRecord>> rows;
  while (!scout.halted()) {
    const ScoutEpoch epoch = scout.run_epoch(1u << params.epoch_size_log2).value();
    expected.facts.cycles += epoch.cycles;
    expected.facts.exit_code = epoch.exit_code;
    expected.facts.outputs.insert(expected.facts.outputs.end(), epoch.outputs.begin(),
                                  epoch.outputs.end());
    const Capsule capsule = stitch.seal(epoch);
    EpochRecords records;
    EPOCHD_ASSERT(!replayer.run(capsule, records));
    memory.absorb(capsule.label, records.boundary);
    proofs.push_back(simulated_proof(capsule.program, records.public_values, records.boundary));
    rows.push_back(records.boundary);
  }
  expected.facts.epochs = proofs.size();
  const RunMemory::Ends ends = memory.finish(key.image);
  BoundaryStore store;
  store.epochs = static_cast<u32>(proofs.size());
  store.rows = [&](u32 label) { return rows[label - 1]; };
  store.root = [&](u32 label) { return proofs[label - 1].boundary_root; };
  const auto append = [&](std::span<const u64> words) {
    const u8* bytes = reinterpret_cast<const u8*>(words.data());
    expected.bundle.insert(expected.bundle.end(), bytes, bytes + words.size_bytes());
  };
  append(bundle_header(key.vk, params, store.epochs, ends));
  for (const EpochProof& proof : proofs) append(proof.record);
  emit_simulated_global(key.vk.digest(), store, ends, append, {});
  return expected;
}

}  // namespace epochd::simulation
