#include "epoch/chips/airs.hpp"

#include "epoch/chips/all_airs.hpp"
#include "prover/air/describe.hpp"

namespace epochd::chips {
namespace {

struct InfoTable {
  const prover::AirInfo* by_chip[kChipCount] = {};
};

template <class... Entries>
constexpr InfoTable make_table(AirList<Entries...>) {
  InfoTable t;
  ((t.by_chip[static_cast<u32>(Entries::kChip)] =
        &prover::Description<typename Entries::Air>::kInfo),
   ...);
  return t;
}

constexpr InfoTable kInfos = make_table(AllAirs{});

}  // namespace

const prover::AirInfo* find_air(ChipId chip) {
  return kInfos.by_chip[static_cast<u32>(chip)];
}

}  // namespace epochd::chips
