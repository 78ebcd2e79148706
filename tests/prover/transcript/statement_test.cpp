// Frozen Heart, at the front of the transcripts: every public value an epoch or a run claims
// changes gamma and beta, alone; and the verifier's own bus terms refuse a vanishing fingerprint.
#include "epoch/continuation/statement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace epochd {
namespace {

using prover::Digest;
using prover::Fp;
using prover::Fp3;
using prover::Preset;

/// Everything that is said before gamma and beta.
struct Said {
  Preset preset = prover::kPresets[0];
  u32 epoch_size_log2 = 20;
  Digest program = {{1, 2, 3, 4}};
  EpochStatement statement;
  std::vector<u64> outputs = {10, 20};
  Digest roots[kEpochTreeCount] = {{{5, 6, 7, 8}}, {{9, 10, 11, 12}}, {{13, 14, 15, 16}}};
  u32 epochs = 3;
  u64 anchors = 100;
  u64 last_keys[kRegionCount] = {kRegionStart[0], kRegionStart[1], kRegionStart[2]};
  u32 boundary_height = 7;
  Digest boundary_root = {{17, 18, 19, 20}};

  Said() {
    statement.label = 2;
    statement.is_final = true;
    statement.pc_in = 0x1000;
    statement.pc_out = kHaltPc;
    statement.cycles = 77;
    statement.out_in = 4;
    statement.exit_code = 9;
    statement.table_count = 2;
    statement.tables[0] = {ChipId::kAdd, 8};
    statement.tables[1] = {ChipId::kBoundary, 9};
  }
  std::vector<u64> epoch_challenge() {
    statement.outputs = outputs.data();
    statement.output_count = static_cast<u32>(outputs.size());
    prover::Transcript t = epoch_transcript({&preset, epoch_size_log2}, program, statement, roots);
    return drawn(t);
  }
  std::vector<u64> global_challenge() const {
    prover::Transcript t = global_transcript({&preset, epoch_size_log2}, program, epochs, anchors,
                                             last_keys, roots[0]);
    absorb_boundary(t, boundary_height, boundary_root);
    return drawn(t);
  }

 private:
  static std::vector<u64> drawn(prover::Transcript& t) {
    const Fp3 gamma = t.draw("lookup/gamma beta");
    return {gamma.c0.value(), gamma.c1.value(), gamma.c2.value()};
  }
};

using Change = std::function<void(Said&)>;

std::map<std::string, Change> parameter_changes() {
  std::map<std::string, Change> c;
  c["preset id"] = [](Said& s) { ++s.preset.id; };
  c["blowup"] = [](Said& s) { ++s.preset.log_blowup; };
  c["queries"] = [](Said& s) { ++s.preset.query_count; };
  c["grinding"] = [](Said& s) { ++s.preset.grinding_bits; };
  c["fold"] = [](Said& s) { ++s.preset.log_fold; };
  c["final"] = [](Said& s) { ++s.preset.log_final; };
  c["instances"] = [](Said& s) { ++s.preset.instance_limit; };
  c["group"] = [](Said& s) { ++s.preset.group_size; };
  c["chunk"] = [](Said& s) { ++s.preset.log_anchor_chunk; };
  c["area"] = [](Said& s) { ++s.preset.area_per_cycle; };
  c["epoch size"] = [](Said& s) { ++s.epoch_size_log2; };
  for (u32 w = 0; w < 4; ++w) {
    c["program " + std::to_string(w)] = [w](Said& s) { ++s.program.words[w]; };
    c["fixed root " + std::to_string(w)] = [w](Said& s) { ++s.roots[0].words[w]; };
  }
  return c;
}

/// Every change, and nothing at all, gives a challenge of its own.
void expect_all_differ(const std::map<std::string, Change>& changes,
                       const std::function<std::vector<u64>(Said&)>& challenge) {
  std::map<std::vector<u64>, std::string> seen;
  Said honest;
  seen[challenge(honest)] = "nothing";
  EXPECT_EQ(challenge(honest), seen.begin()->first) << "a challenge must be a function of the text";
  for (const auto& [name, change] : changes) {
    Said said;
    change(said);
    const auto [at, is_new] = seen.emplace(challenge(said), name);
    EXPECT_TRUE(is_new) << name << " and " << at->second << " give one challenge";
  }
}

TEST(FrozenHeart, EveryPublicValueOfAnEpoch) {
  std::map<std::string, Change> c = parameter_changes();
  c["label"] = [](Said& s) { ++s.statement.label; };
  c["final epoch"] = [](Said& s) { s.statement.is_final = false; };
  c["pc in"] = [](Said& s) { s.statement.pc_in += 4; };
  c["pc out"] = [](Said& s) { s.statement.pc_out += 4; };
  c["cycles"] = [](Said& s) { ++s.statement.cycles; };
  c["out in"] = [](Said& s) { ++s.statement.out_in; };
  c["exit code"] = [](Said& s) { ++s.statement.exit_code; };
  c["exit code's high word"] = [](Said& s) { s.statement.exit_code += u64{1} << 32; };
  c["first output"] = [](Said& s) { ++s.outputs[0]; };
  c["last output"] = [](Said& s) { s.outputs[1] ^= u64{1} << 63; };
  c["outputs exchanged"] = [](Said& s) { std::swap(s.outputs[0], s.outputs[1]); };
  c["an output less"] = [](Said& s) { s.outputs.pop_back(); };
  c["an output more"] = [](Said& s) { s.outputs.push_back(0); };
  c["chip"] = [](Said& s) { s.statement.tables[0].chip = ChipId::kAddi; };
  c["height"] = [](Said& s) { ++s.statement.tables[0].log_height; };
  c["last height"] = [](Said& s) { ++s.statement.tables[1].log_height; };
  c["a table less"] = [](Said& s) { s.statement.table_count = 1; };
  c["a table more"] = [](Said& s) {
    s.statement.tables[2] = {ChipId::kBoundary, 5};
    s.statement.table_count = 3;
  };
  for (u32 w = 0; w < 4; ++w) {
    c["boundary root " + std::to_string(w)] = [w](Said& s) { ++s.roots[1].words[w]; };
    c["main root " + std::to_string(w)] = [w](Said& s) { ++s.roots[2].words[w]; };
  }
  c["roots exchanged"] = [](Said& s) { std::swap(s.roots[1], s.roots[2]); };
  expect_all_differ(c, [](Said& s) { return s.epoch_challenge(); });
}

TEST(FrozenHeart, EveryPublicValueOfTheGlobalProof) {
  std::map<std::string, Change> c = parameter_changes();
  c["epochs"] = [](Said& s) { ++s.epochs; };
  c["anchors"] = [](Said& s) { ++s.anchors; };
  for (u32 r = 0; r < kRegionCount; ++r) {
    c["last key " + std::to_string(r)] = [r](Said& s) { ++s.last_keys[r]; };
  }
  c["boundary height"] = [](Said& s) { ++s.boundary_height; };
  for (u32 w = 0; w < 4; ++w) {
    c["boundary root " + std::to_string(w)] = [w](Said& s) { ++s.boundary_root.words[w]; };
  }
  expect_all_differ(c, [](Said& s) { return s.global_challenge(); });
}

TEST(FrozenHeart, EpochAndGlobalTranscriptsNeverMeet) {
  Said s;
  EXPECT_NE(s.epoch_challenge(), s.global_challenge());
}

/// gamma is solved for, so that one of the verifier's own fingerprints is 0.
TEST(PublicTerms, AVanishingFingerprintIsRefused) {
  const Fp3 beta = {Fp::from_u64(3), Fp::from_u64(1), Fp::from_u64(4)};
  const auto gamma_for = [&](Bus bus, const std::vector<u64>& tuple) {
    Fp3 f = fp3(Fp::from_u64(static_cast<u64>(bus)));
    Fp3 power = beta;
    for (const u64 v : tuple) {
      f += power * Fp::from_u64(v);
      power *= beta;
    }
    return -f;
  };
  Said said;
  said.statement.outputs = said.outputs.data();
  said.statement.output_count = 2;
  Fp3 sum;
  const std::vector<std::pair<Bus, std::vector<u64>>> own = {
      {Bus::kState, {0x1000, 1}}, {Bus::kState, {kHaltPc, 1 + 4 * 77}},
      {Bus::kOutput, {4, 10, 0}}, {Bus::kOutput, {5, 20, 0}},
      {Bus::kExit, {9, 0}},
  };
  for (const auto& [bus, tuple] : own) {
    EXPECT_FALSE(epoch_public_sum(said.statement, gamma_for(bus, tuple), beta, sum));
  }
  EXPECT_TRUE(epoch_public_sum(said.statement, gamma_for(Bus::kExit, {10, 0}), beta, sum));
  for (u32 region = 0; region < kRegionCount; ++region) {
    const Fp3 gamma = gamma_for(Bus::kOrder, {region, kRegionStart[region]});
    EXPECT_FALSE(global_public_sum(said.last_keys, gamma, beta, sum));
  }
  EXPECT_TRUE(global_public_sum(said.last_keys, gamma_for(Bus::kOrder, {3, 0}), beta, sum));
}

/// The verifier's terms against fractions written out: an epoch of one cycle without output that is
/// not the last.
TEST(PublicTerms, AreTheEndsOfTheStateChain) {
  EpochStatement s;
  s.pc_in = 0x2000;
  s.pc_out = 0x2004;
  s.cycles = 1;
  const Fp3 gamma = {Fp::from_u64(11), Fp::from_u64(12), Fp::from_u64(13)};
  const Fp3 beta = {Fp::from_u64(14), Fp::from_u64(15), Fp::from_u64(16)};
  const Fp bus = Fp::from_u64(static_cast<u64>(Bus::kState));
  const Fp3 sent = gamma + bus + beta * Fp::from_u64(0x2000) + beta * beta;
  const Fp3 received = gamma + bus + beta * Fp::from_u64(0x2004) + beta * beta * Fp::from_u64(5);
  Fp3 sum;
  ASSERT_TRUE(epoch_public_sum(s, gamma, beta, sum));
  EXPECT_EQ(sum, inverse(sent) - inverse(received));
}

}  // namespace
}  // namespace epochd
