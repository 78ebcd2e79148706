// From a row's flags to the opcode it looks up: which flags a row can have is enumerated, and no
// two of them name the same instruction. The opcode form is read from the chips' own interactions.
#include <bit>

#include "epoch/chips/all_airs.hpp"
#include "epoch/exec/access_shape.hpp"
#include "tests/epoch/chips/harness.hpp"

namespace epochd::chips::harness {
namespace {

/// The opcode column of the Program tuple (pc, opcode, ...), as flag column -> code.
struct OpcodeForm {
  std::vector<std::pair<u32, u64>> flags;
  const prover::LinearForm* multiplicity = nullptr;
};

template <class Air>
OpcodeForm opcode_form() {
  const AirInfo& air = prover::Description<Air>::kInfo;
  OpcodeForm found;
  for (u32 i = 0; i < air.interaction_count; ++i) {
    const prover::Interaction& interaction = air.interactions[i];
    if (static_cast<Bus>(interaction.bus) != Bus::kProgram || !interaction.is_send) continue;
    EXPECT_EQ(found.multiplicity, nullptr) << Air::kName << " looks up two instructions";
    found.multiplicity = &air.forms[interaction.first_form];
    const prover::LinearForm& code = air.forms[interaction.first_form + 2];
    EXPECT_TRUE(code.constant.is_zero()) << Air::kName;
    for (u32 t = code.first_term; t < code.first_term + code.term_count; ++t) {
      found.flags.emplace_back(air.terms[t].slot, air.terms[t].coefficient.value());
    }
  }
  return found;
}

bool is_flag_constraint(const std::string& label) {
  return label.find(".flag.") != std::string::npos;
}

/// The codes that rows of this chip can look up. Enumerates all values 0 and 1 of the flags; that
/// no other value passes is EveryConstraintIsNeeded's business.
template <class Air>
std::set<u64> enumerate_codes() {
  const OpcodeForm form = opcode_form<Air>();
  constexpr bool is_system_call = std::is_same_v<Air, EcallAir>;
  ChipTrace<Air> t(1, 0);
  std::map<u64, u32> seen;  // code -> flags, as bits
  for (u32 bits = 0; bits < 1u << form.flags.size(); ++bits) {
    u64 code = 0;
    for (u32 i = 0; i < form.flags.size(); ++i) {
      const bool is_set = (bits >> i & 1) != 0;
      t.main(form.flags[i].first - Air::kFixedWidth, 0) = is_set ? Fp::one() : Fp::zero();
      if (is_set) code += form.flags[i].second;
    }
    const TraceView view = t.view();
    const Verdict verdict = judge_row<Air>(view, 0, touches_of_row(view, 0));
    const bool is_possible =
        std::none_of(verdict.violated.begin(), verdict.violated.end(), is_flag_constraint);
    EXPECT_EQ(is_possible, std::popcount(bits) <= 1) << Air::kName << " flags " << bits;
    if (!is_possible) continue;
    const bool is_new = seen.emplace(code, bits).second;
    // The system calls have one code: a7 says which (EcallChip.TheNumberNamesTheFlag).
    EXPECT_TRUE(is_new || is_system_call)
        << Air::kName << ": flags " << bits << " and " << seen[code] << " both mean " << code;
    // A row is real, and looks itself up once, exactly if a flag is set.
    Fp multiplicity = form.multiplicity->constant;
    const AirInfo& air = prover::Description<Air>::kInfo;
    for (u32 i = 0; i < form.multiplicity->term_count; ++i) {
      const prover::LinearTerm& term = air.terms[form.multiplicity->first_term + i];
      multiplicity += term.coefficient * view.columns[term.slot][0];
    }
    EXPECT_EQ(multiplicity, bits == 0 ? Fp::zero() : Fp::one()) << Air::kName;
  }
  std::set<u64> codes;
  for (const auto& [code, bits] : seen) {
    if (bits != 0) codes.insert(code);
  }
  EXPECT_EQ(codes.count(0), 0u) << Air::kName << ": 0 is no instruction";
  return codes;
}

bool may_be_misaligned(Op op) {
  return op == Op::kLd || op == Op::kLw || op == Op::kLwu || op == Op::kLh || op == Op::kLhu ||
         op == Op::kSd || op == Op::kSw || op == Op::kSh;
}

template <class... Entries>
std::map<ChipId, std::set<u64>> codes_of(AirList<Entries...>) {
  std::map<ChipId, std::set<u64>> codes;
  const auto add = [&]<class Entry>() {
    if constexpr (Entry::kChip <= ChipId::kEcall) {
      codes[Entry::kChip] = enumerate_codes<typename Entry::Air>();
    }
  };
  (add.template operator()<Entries>(), ...);
  return codes;
}

TEST(Opcodes, FlagsNameOneInstructionEach) {
  const auto codes = codes_of(AllAirs{});
  EXPECT_EQ(codes.size(), kInstructionChipCount);
  std::map<ChipId, std::set<u64>> expected;
  for (u32 code = 1; code < kOpCount; ++code) {
    const Op op = static_cast<Op>(code);
    expected[chip_of(op)].insert(code);
    if (may_be_misaligned(op)) expected[ChipId::kUnaligned].insert(code);
  }
  EXPECT_EQ(codes, expected);
}

// Two chips share a code only where one of them refuses the alignment of the other.
TEST(Opcodes, OnlyUnalignedSharesCodes) {
  const auto codes = codes_of(AllAirs{});
  std::map<u64, std::vector<ChipId>> owners;
  for (const auto& [chip, set] : codes) {
    for (const u64 code : set) owners[code].push_back(chip);
  }
  for (const auto& [code, chips] : owners) {
    const bool shared = may_be_misaligned(static_cast<Op>(code));
    EXPECT_EQ(chips.size(), shared ? 2u : 1u) << code;
    const auto unaligned = std::count(chips.begin(), chips.end(), ChipId::kUnaligned);
    EXPECT_EQ(unaligned, shared ? 1 : 0) << code;
  }
}

}  // namespace
}  // namespace epochd::chips::harness
