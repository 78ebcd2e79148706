// The list of chips, in ChipId order. Everything that iterates over tables (prover, verifier, CUDA
// instantiations, tests) reads this list; nothing is registered by hand. Freestanding.
#pragma once

#include "epoch/chips/add/air.hpp"
#include "epoch/chips/addi/air.hpp"
#include "epoch/chips/addw/air.hpp"
#include "epoch/chips/anchor/air.hpp"
#include "epoch/chips/beq/air.hpp"
#include "epoch/chips/bitwise/air.hpp"
#include "epoch/chips/blt/air.hpp"
#include "epoch/chips/boundary/air.hpp"
#include "epoch/chips/boundary_global/air.hpp"
#include "epoch/chips/bytes/air.hpp"
#include "epoch/chips/compare/air.hpp"
#include "epoch/chips/divrem/air.hpp"
#include "epoch/chips/ecall/air.hpp"
#include "epoch/chips/image/air.hpp"
#include "epoch/chips/jal/air.hpp"
#include "epoch/chips/jalr/air.hpp"
#include "epoch/chips/lbh/air.hpp"
#include "epoch/chips/ld/air.hpp"
#include "epoch/chips/lw/air.hpp"
#include "epoch/chips/mul/air.hpp"
#include "epoch/chips/program/air.hpp"
#include "epoch/chips/range16/air.hpp"
#include "epoch/chips/refresh/air.hpp"
#include "epoch/chips/shift/air.hpp"
#include "epoch/chips/shift_imm/air.hpp"
#include "epoch/chips/store/air.hpp"
#include "epoch/chips/store_narrow/air.hpp"
#include "epoch/chips/unaligned/air.hpp"

namespace epochd::chips {

template <ChipId kId, class A>
struct AirEntry {
  static constexpr ChipId kChip = kId;
  using Air = A;
};
template <class... Entries>
struct AirList {
  static constexpr u32 kCount = sizeof...(Entries);
};

using AllAirs =
    AirList<AirEntry<ChipId::kAdd, AddAir>, AirEntry<ChipId::kAddi, AddiAir>,
            AirEntry<ChipId::kAddw, AddwAir>, AirEntry<ChipId::kBitwise, BitwiseAir>,
            AirEntry<ChipId::kCompare, CompareAir>, AirEntry<ChipId::kShiftImm, ShiftImmAir>,
            AirEntry<ChipId::kShift, ShiftAir>, AirEntry<ChipId::kBeq, BeqAir>,
            AirEntry<ChipId::kBlt, BltAir>, AirEntry<ChipId::kJal, JalAir>,
            AirEntry<ChipId::kJalr, JalrAir>, AirEntry<ChipId::kLd, LdAir>,
            AirEntry<ChipId::kLw, LwAir>, AirEntry<ChipId::kLbh, LbhAir>,
            AirEntry<ChipId::kStore, StoreAir>, AirEntry<ChipId::kStoreNarrow, StoreNarrowAir>,
            AirEntry<ChipId::kUnaligned, UnalignedAir>, AirEntry<ChipId::kMul, MulAir>,
            AirEntry<ChipId::kDivrem, DivremAir>, AirEntry<ChipId::kEcall, EcallAir>,
            AirEntry<ChipId::kRefresh, RefreshAir>, AirEntry<ChipId::kProgram, ProgramAir>,
            AirEntry<ChipId::kRange16, Range16Air>, AirEntry<ChipId::kBytes, BytesAir>,
            AirEntry<ChipId::kBoundary, BoundaryAir>,
            AirEntry<ChipId::kBoundaryGlobal, BoundaryGlobalAir>,
            AirEntry<ChipId::kAnchor, AnchorAir>, AirEntry<ChipId::kImage, ImageAir>>;

}  // namespace epochd::chips
