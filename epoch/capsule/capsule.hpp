// A sealed epoch: everything proving it takes besides the program. Any thread or machine can replay
// it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epoch/machine.hpp"
#include "prover/core/result.hpp"
#include "prover/hash/digest.hpp"

namespace epochd {

/// A key the epoch touches, as it stands when the epoch begins.
struct CapsuleKey {
  u32 key;         ///< a memory cell, or a register, the output counter or the sink
  u32 init_epoch;  ///< label of the last epoch that touched it, 0: none
  u64 value;
  bool operator==(const CapsuleKey&) const = default;
};
static_assert(sizeof(CapsuleKey) == 16);

struct Capsule {
  prover::Digest
      program{};  ///< whatever names the program to the caller; compared, never computed here
  u32 label = 0;  ///< 1, 2, 3 ...
  u32 pc = 0;
  u32 cycles = 0;
  u32 out_in = 0;
  u64 first_cycle = 0;  ///< instructions executed before this epoch
  bool is_final = false;
  std::vector<CapsuleKey> keys;  ///< ascending; exactly the keys the epoch touches
  bool operator==(const Capsule&) const = default;
};

struct CapsuleError {
  enum class Code : u8 {
    kTooShort,    ///< no room for header and checksum
    kBadMagic,    ///< not a capsule
    kBadVersion,  ///< a capsule of another version of epochd
    kBadLength,   ///< the key count and the file's length disagree
    kChecksum,    ///< damaged
    kBadHeader,   ///< a field out of its range
    kBadKey,      ///< a key the machine does not have
    kKeyOrder,    ///< keys not strictly ascending
    kBadLabel,    ///< a key last touched by this epoch or a later one
    kBadValue,    ///< x0 not 0, or an output counter that is not out_in
  };
  Code code;
  std::string message;
};

/// Layout, little endian: "EPCAPSUL", u32 version, label, pc, cycles, out_in, is_final, key count,
/// 0, u64 first_cycle, 32 bytes program, (u32 key, u32 init_epoch, u64 value) for each key, BLAKE3
/// of all that.
std::vector<u8> encode_capsule(const Capsule& capsule);

/// Reads untrusted bytes. Allocates 16 bytes a key, and never more than the input's own length.
Result<Capsule, CapsuleError> decode_capsule(std::span<const u8> bytes);

}  // namespace epochd
