// Reads an ELF64 RISC-V executable from untrusted bytes. What the statement depends on is the entry
// and the loadable segments; symbols only name places in messages and profiles.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epoch/machine.hpp"
#include "prover/core/result.hpp"

namespace epochd {

/// Larger files are refused: with this bound no fixed table outgrows 2^26 rows.
constexpr u64 kElfBytesMax = 1ull << 28;

struct ElfError {
  enum class Code : u8 {
    kTooLarge,  ///< file longer than kElfBytesMax
    kTooShort,  ///< no room for the ELF header
    kNotElf,    ///< magic missing
    kNotElf64,  ///< ELFCLASS32 or worse
    kNotLittleEndian,
    kBadVersion,          ///< an ELF version other than 1
    kNotExecutable,       ///< not ET_EXEC: an object file, a shared object, a PIE
    kWrongMachine,        ///< not RISC-V
    kCompressed,          ///< built with the C extension
    kBadProgramHeaders,   ///< wrong entry size, or outside the file
    kNotStatic,           ///< wants an interpreter or a dynamic linker
    kNoSegments,          ///< nothing to load
    kSegmentOutsideFile,  ///< file-backed bytes beyond the end of the file
    kSegmentSizes,        ///< more bytes in the file than in memory
    kSegmentRange,        ///< outside [kAddressMin, kImageEnd)
    kSegmentOverlap,      ///< two segments share a byte
    kSegmentAlignment,    ///< executable segment not 4-aligned
    kFileBytesReused,     ///< segments claim more bytes in total than the file holds
    kEntryAlignment,      ///< entry not 4-aligned
    kEntryNotExecutable,  ///< entry not on an instruction word of an executable segment
  };
  Code code;
  std::string message;  ///< what was found, and what to do about it
};

/// One PT_LOAD segment. Bytes beyond `bytes` up to `memory_bytes` are zero and cost nothing.
struct ElfSegment {
  u32 address = 0;
  u32 memory_bytes = 0;
  bool executable = false;
  std::vector<u8> bytes;
};

struct ElfSymbol {
  u32 address;
  u32 name_offset;  ///< into ElfImage::symbol_names
};

struct ElfImage {
  u32 entry = 0;
  std::vector<ElfSegment> segments;  ///< ascending addresses, none empty
  std::vector<ElfSymbol> symbols;    ///< code and data symbols, ascending addresses
  std::string symbol_names;          ///< NUL-separated

  /// "name" or "name+0x1c" for the last symbol at or below `address`; nothing if there is none.
  std::optional<std::string> nearest_symbol(u64 address) const;
};

/// Parses and checks every rule of docs/machine.md, "The guest". Allocates at most a small multiple
/// of the file's own length, whatever its headers claim. A damaged symbol table costs the names,
/// nothing else.
Result<ElfImage, ElfError> parse_elf(std::span<const u8> file);

}  // namespace epochd
