// Seeded random RV64IM programs, one after the other in one ELF. Every instruction there is, with
// registers of any role (x0 and equal ones too), edge values, forward branches, counted loops,
// jumps to odd addresses, and loads and stores of every width at every offset. Nothing faults: an
// access sets its base right before, a jump lands where a unit of code begins.
#pragma once

#include <random>

#include "tests/epoch/exec/exec_support.hpp"

namespace epochd::test {

constexpr u32 kInitBase = 0x02000000;     // 32 words a program: the registers it starts with
constexpr u32 kLowScratch = 0x04000000;   // lui reaches it
constexpr u32 kHighScratch = 0xbfff0000;  // the top of the image region, above 2^31
constexpr u32 kScratchBytes = 8192;

class RandomPrograms {
 public:
  struct Shape {
    u32 programs = 1;
    u32 units = 100;  ///< of a program: instructions, or a few that belong together
  };

  RandomPrograms(u64 seed, const Shape& shape) : random_(seed) {
    // The initial registers' block of 256 bytes a program lies within 2 MiB.
    for (u32 p = 0; p < shape.programs; ++p) add_program(p, shape.units);
    for (u64& word : initial_) word = value();
  }

  const std::vector<u32>& code() const { return code_; }
  u32 end_pc() const { return kTextBase + 4 * static_cast<u32>(code_.size()); }

  /// The programs, then `tail`.
  std::vector<u8> elf(const std::vector<u32>& tail) const {
    BuilderSegment text, registers, low, high;
    text.address = kTextBase;
    std::vector<u32> words = code_;
    append(words, tail);
    text.bytes = little_endian(words);
    registers.flags = low.flags = high.flags = 6;
    registers.address = kInitBase;
    registers.bytes = bytes_of_words(initial_);
    low.address = kLowScratch;
    high.address = kHighScratch;
    for (u32 i = 0; i < kScratchBytes; ++i) {
      low.bytes.push_back(static_cast<u8>(37 * i + (i >> 8)));
    }
    high.bytes = low.bytes;
    return build_elf(kTextBase, {text, registers, low, high}, {}, 4096);
  }

 private:
  static constexpr u64 kEdges[] = {0,
                                   1,
                                   2,
                                   ~0ull,
                                   ~1ull,
                                   1ull << 63,
                                   (1ull << 63) - 1,
                                   (1ull << 63) + 1,
                                   0x7fffffff,
                                   0x80000000,
                                   0x80000001,
                                   0xffffffff,
                                   1ull << 32,
                                   0xffffffff80000000,
                                   0xffffffff7fffffff,
                                   31,
                                   32,
                                   63,
                                   64,
                                   0x8000,
                                   0xff80,
                                   0xffff};

  u64 below(u64 count) { return random_() % count; }
  u64 value() {
    switch (below(4)) {
      case 0:
        return random_();
      case 1:
        return random_() >> below(64);
      default:
        return kEdges[below(std::size(kEdges))];
    }
  }
  u32 source() { return static_cast<u32>(below(32)); }
  /// x0 too, but not a loop's counter.
  u32 target() {
    u32 reg;
    do reg = source();
    while (reg == counter_ && reg != 0);
    return reg;
  }
  u32 base_register() {
    u32 reg;
    do reg = target();
    while (reg == 0);
    return reg;
  }
  i32 immediate() {
    constexpr i32 kImmediates[] = {0, 1, -1, 2047, -2048, 31, 0x555};
    return below(3) == 0 ? kImmediates[below(std::size(kImmediates))]
                         : static_cast<i32>(below(4096)) - 2048;
  }
  u32 upper() {
    constexpr u32 kUppers[] = {0, 1, 0x7ffff, 0x80000, 0xfffff};
    return below(2) == 0 ? kUppers[below(std::size(kUppers))] : static_cast<u32>(below(1 << 20));
  }
  template <size_t n>
  u32 one_of(const Mnemonic (&ops)[n]) {
    return ops[below(n)].base;
  }
  void put(u32 word) { code_.push_back(word); }

  void add_program(u32 index, u32 units) {
    counter_ = 0;
    load_registers(index);
    for (u32 done = 0; done < units;) {
      if (below(8) == 0) {
        done += loop();
      } else {
        done += forward_block(1 + static_cast<u32>(below(6)));
      }
    }
  }

  void load_registers(u32 index) {
    initial_.resize(32 * (index + 1));
    const u32 address = kInitBase + 256 * index;
    const u32 high = (address + 0x800) >> 12;
    put(lui(31, high));
    put(addi(31, 31, static_cast<i32>(address - (high << 12))));
    for (u32 reg = 1; reg < 32; ++reg) put(ld(reg, 31, static_cast<i32>(8 * reg)));
  }

  /// A jump or a branch over some of the units that follow it, to the start of one of them.
  u32 forward_block(u32 units) {
    const size_t jump = code_.size();
    const u32 kind = static_cast<u32>(below(4));
    if (kind >= 1) put(0);
    const u32 base = base_register();
    if (kind == 3) put(0);
    std::vector<size_t> starts;
    for (u32 i = 0; i < units; ++i) {
      starts.push_back(code_.size());
      unit();
    }
    starts.push_back(code_.size());
    const i32 offset = static_cast<i32>(4 * (starts[below(starts.size())] - jump));
    if (kind == 1) code_[jump] = b_type(one_of(kBranches), source(), source(), offset);
    if (kind == 2) code_[jump] = jal(target(), offset);
    if (kind == 3) {
      code_[jump] = auipc(base, 0);
      code_[jump + 1] = jalr(target(), base, offset + static_cast<i32>(below(2)));
    }
    return units + 1;
  }

  /// Two to five rounds. The way back is a branch, a JAL or a JALR.
  u32 loop() {
    counter_ = 1 + static_cast<u32>(below(31));
    put(addi(counter_, 0, 2 + static_cast<i32>(below(4))));
    const size_t start = code_.size();
    u32 units = 0;
    for (u64 i = 0, n = 1 + below(3); i < n; ++i)
      units += forward_block(static_cast<u32>(below(3)));
    put(addi(counter_, counter_, -1));
    const auto back = [&] { return -static_cast<i32>(4 * (code_.size() - start)); };
    const u32 kind = static_cast<u32>(below(3));
    if (kind == 0) {
      put(bne(counter_, 0, back()));
    } else if (kind == 1) {
      put(b_type(0x0063, counter_, 0, 8));
      put(jal(target(), back()));
    } else {
      const u32 base = base_register();
      put(b_type(0x0063, counter_, 0, 12));
      const i32 offset = back();
      put(auipc(base, 0));
      put(jalr(target(), base, offset + static_cast<i32>(below(2))));
    }
    counter_ = 0;
    return units;
  }

  void unit() {
    switch (below(16)) {
      case 0:
      case 1:
        return put(i_type(one_of(kImmediateOps), target(), source(), immediate()));
      case 2:
        return put(i_type(one_of(kShiftOps), target(), source(), static_cast<i32>(below(64))));
      case 3:
        return put(i_type(one_of(kWordShiftOps), target(), source(), static_cast<i32>(below(32))));
      case 4:
        return put(below(2) == 0 ? lui(target(), upper()) : auipc(target(), upper()));
      case 5:
        return put(below(2) == 0 ? kFence : 0x0000100f);  // fence.i
      case 6:
      case 7:
      case 8:
        return access(true);
      case 9:
      case 10:
        return access(false);
      default:
        return put(r_type(one_of(kRegisterOps), target(), source(), source()));
    }
  }

  /// The base and the offset both wander, and an access may cross cells and pages.
  void access(bool is_load) {
    const u32 base = base_register();
    const i32 offset = immediate();
    const bool is_high = below(3) == 0;
    // Few cells, so that loads meet stores; some at the region's ends.
    const u32 place = below(8) == 0 ? static_cast<u32>(below(kScratchBytes - 7))
                                    : static_cast<u32>(4064 + below(64));
    const u32 address = (is_high ? kHighScratch : kLowScratch) + place - static_cast<u32>(offset);
    const u32 high = (address + 0x800) >> 12;
    put(lui(base, high & 0xfffff));
    put(addi(base, base, static_cast<i32>(address - (high << 12))));
    if (is_high) {
      put(i_type(0x1013, base, base, 32));  // slli
      put(i_type(0x5013, base, base, 32));  // srli
    }
    put(is_load ? i_type(one_of(kLoads), target(), base, offset)
                : s_type(one_of(kStores), source(), base, offset));
  }

  std::mt19937_64 random_;
  std::vector<u32> code_;
  std::vector<u64> initial_;
  u32 counter_ = 0;  ///< register of the loop being written, 0 outside loops
};

}  // namespace epochd::test
