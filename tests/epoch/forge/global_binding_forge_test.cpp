// What the global proof's transcript binds: the lies of its maker about messages that are sent
// after the roots. The epochs below are honest, so only the global proof can refuse.
#include "tests/epoch/forge/cancel.hpp"

namespace epochd::testing {
namespace {

using prover::Challenges;
using prover::Fp3;
using prover::VerifyError;

constexpr u32 kCell = kHighBase / 8;

/// Three epochs of 32 cycles: writes 77 to a cell; nothing; emits the cell. With groups, several
/// anchor chunks and the last sub-proof.
struct GlobalAttack : Attack {
  GlobalAttack() : Attack(program(), {}, {}, 5) {}

  static std::vector<u32> program() {
    std::vector<u32> code;
    load_immediate(code, test::kT0, kHighBase);
    code.push_back(test::addi(test::kT1, 0, 77));
    code.push_back(test::sd(test::kT1, test::kT0, 0));
    while (code.size() < 64) code.push_back(test::kNop);
    code.push_back(test::ld(10, test::kT0, 0));
    test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
    exit_with(code, 0);
    return code;
  }

  /// The cell ends with another value than its last epoch left in it.
  void lie_about_the_end() {
    forgery.global = [](GlobalInput& in) {
      for (AnchorRecord& a : in.ends.anchors) {
        if (a.key == kCell) a.fini += 1;
      }
    };
  }

  /// Refused in this sub-proof's argument, by this check.
  void expect_refused(u32 sub_proof, VerifyError error) {
    const Attempt attempt = run();
    EXPECT_EQ(attempt.result.error, RunError::kGlobalProof) << text(attempt.result);
    EXPECT_EQ(attempt.result.index, sub_proof) << text(attempt.result);
    EXPECT_EQ(attempt.result.argument.error, error) << text(attempt.result);
  }

  u32 sub_proofs() const {
    GlobalPlan plan = global_plan(static_cast<u32>(epochs.size()), anchors(), *g.params.preset);
    return plan.sub_proofs();
  }
  /// So many as the honest run has.
  u64 anchors() const {
    RunMemory memory;
    for (u32 e = 0; e < epochs.size(); ++e) memory.absorb(e + 1, epochs[e].boundary);
    return memory.finish(g.key.image).anchors.size();
  }
};

/// Pays, in the run's range16, for whatever is wrong with the global memory.
void cancel_everything(const GlobalLies::Sessions& sessions, const u64* last_keys,
                       const Challenges& c) {
  TablesReport report;
  for (const prover::CpuSession* session : sessions) check_tables(*session, report);
  add_global_terms(last_keys, report.balance);
  cancel(report.balance, c, *sessions.back());
}

// Multiplicities from after the challenge: the sums vanish, the committed columns are others.
TEST(ForgeGlobalBinding, MultiplicitiesChosenAfterGammaAndBeta) {
  GlobalAttack a;
  a.lie_about_the_end();
  a.expect_global_refused_by({{}, {"Global"}});
  u64 last_keys[kRegionCount];
  const auto lie = a.forgery.global;
  a.forgery.global = [&](GlobalInput& in) {
    lie(in);
    std::copy_n(in.ends.last_keys.data(), kRegionCount, last_keys);
  };
  a.forgery.lies.late = [&](const GlobalLies::Sessions& sessions, const Challenges& c) {
    cancel_everything(sessions, last_keys, c);
  };
  a.expect_refused(a.sub_proofs() - 1, VerifyError::kQuotient);
}

// A forger who knew gamma and beta beforehand would make all sums vanish: it is their coming after
// every sub-proof's roots that refuses him.
TEST(ForgeGlobalBinding, ChallengesKnownBeforehand) {
  const Challenges known{{fp(3), fp(1), fp(4)}, {fp(1), fp(5), fp(9)}};
  GlobalAttack a;
  a.lie_about_the_end();
  u64 last_keys[kRegionCount];
  const auto lie = a.forgery.global;
  a.forgery.global = [&](GlobalInput& in) {
    lie(in);
    std::copy_n(in.ends.last_keys.data(), kRegionCount, last_keys);
  };
  a.forgery.lies.before_commit = [&](const GlobalLies::Sessions& sessions) {
    cancel_everything(sessions, last_keys, known);
  };
  a.forgery.lies.frozen = known;
  Fp3 total;
  a.forgery.lies.sums = [&](u32 sub_proof, std::span<Fp3> sums) {
    if (sub_proof == 0) {
      ASSERT_TRUE(global_public_sum(last_keys, known.gamma, known.beta, total));
    }
    for (const Fp3& sum : sums) total += sum;
  };
  a.expect_refused(0, VerifyError::kQuotient);
  EXPECT_TRUE(is_zero(total)) << "under the challenges he knew, the memories fit together";
}

// What one sub-proof gives another must lack, and each table's sum is in its own quotient.
TEST(ForgeGlobalBinding, SumsMovedBetweenSubProofs) {
  GlobalAttack a;
  const u32 last = a.sub_proofs() - 1;
  ASSERT_GE(last, 2u);
  for (const u32 receiver : {0u, 1u, last}) {
    for (const bool is_balanced : {true, false}) {
      a.forgery.lies.sums = [&](u32 sub_proof, std::span<Fp3> sums) {
        const u32 giver = receiver == last ? 0 : last;
        if (sub_proof == receiver) sums[0] += prover::fp3_one();
        if (sub_proof == giver && is_balanced) sums[0] = sums[0] - prover::fp3_one();
      };
      const u32 first = is_balanced && receiver == last ? 0 : receiver;
      a.expect_refused(first, VerifyError::kQuotient);
    }
  }
}

// Sums of one sub-proof moved between its own tables.
TEST(ForgeGlobalBinding, SumsMovedInsideASubProof) {
  GlobalAttack a;
  const u32 last = a.sub_proofs() - 1;
  a.forgery.lies.sums = [&](u32 sub_proof, std::span<Fp3> sums) {
    if (sub_proof != last) return;
    ASSERT_GE(sums.size(), 2u);
    sums[0] += prover::fp3_one();
    sums[1] = sums[1] - prover::fp3_one();
  };
  a.expect_refused(last, VerifyError::kQuotient);
}

// The two parts of a quotient moved against each other: the identity at zeta still holds, the
// columns do not have these values. In every sub-proof, at its greatest height; the small ones have
// no FRI layer, only a final polynomial.
TEST(ForgeGlobalBinding, OpeningsThatKeepTheQuotientIdentity) {
  GlobalAttack a;
  for (u32 liar = 0; liar < a.sub_proofs(); ++liar) {
    a.forgery.lies.openings = [&](u32 sub_proof, const prover::Layout& layout, Fp3 zeta,
                                  std::span<Fp3> openings) {
      if (sub_proof != liar) return;
      const u32 height = layout.heights[0];
      const prover::Segment& q = layout.segments[layout.quotient_segment[0]];
      openings[q.opening(0, 0)] += prover::fp3_one();
      openings[q.opening(3, 0)] = openings[q.opening(3, 0)] - inverse(pow(zeta, u64{1} << height));
    };
    const bool is_small = liar + 1 < a.sub_proofs();
    a.expect_refused(liar, is_small ? VerifyError::kFriFinal : VerifyError::kFriLayer);
  }
}

}  // namespace
}  // namespace epochd::testing
