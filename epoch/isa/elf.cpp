#include "epoch/isa/elf.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace epochd {
namespace {

using Code = ElfError::Code;

constexpr u64 kHeaderBytes = 64;
constexpr u64 kProgramHeaderBytes = 56;
constexpr u64 kSectionHeaderBytes = 64;
constexpr u64 kSymbolBytes = 24;
constexpr u64 kSymbolNameBytesMax = 512;  // longer names (mangled templates) are cut in messages

constexpr u16 kTypeExecutable = 2;
constexpr u16 kMachineRiscv = 243;
constexpr u32 kFlagCompressed = 1;
constexpr u32 kSegmentLoad = 1, kSegmentDynamic = 2, kSegmentInterpreter = 3;
constexpr u32 kSegmentExecutable = 1;
constexpr u32 kSectionSymbols = 2;

Unexpected<ElfError> fail(Code code, std::string message) {
  return Unexpected{ElfError{code, std::move(message)}};
}

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Little-endian loads from a range the caller has checked.
template <class T>
T read(std::span<const u8> file, u64 offset) {
  EPOCHD_ASSERT(offset <= file.size() && file.size() - offset >= sizeof(T));
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<u64>(file[offset + i]) << (8 * i)));
  }
  return value;
}

bool inside(std::span<const u8> file, u64 offset, u64 bytes) {
  return offset <= file.size() && bytes <= file.size() - offset;
}

std::optional<ElfError> check_header(std::span<const u8> file) {
  const auto error = [](Code code, std::string text) { return ElfError{code, std::move(text)}; };
  if (file.size() > kElfBytesMax) {
    return error(Code::kTooLarge, "the file has " + std::to_string(file.size()) +
                                      " bytes, at most 256 MiB are accepted; strip debug sections");
  }
  static constexpr u8 kMagic[4] = {0x7f, 'E', 'L', 'F'};
  if (file.size() >= 4 && std::memcmp(file.data(), kMagic, 4) != 0) {
    return error(Code::kNotElf, "not an ELF file; give the linked RISC-V executable");
  }
  if (file.size() < kHeaderBytes) {
    return error(Code::kTooShort, "the file has " + std::to_string(file.size()) +
                                      " bytes, too few for an ELF header; was it truncated?");
  }
  if (file[4] != 2) {
    return error(Code::kNotElf64, "not a 64-bit ELF; build with -march=rv64im -mabi=lp64");
  }
  if (file[5] != 1) return error(Code::kNotLittleEndian, "not a little-endian ELF");
  if (file[6] != 1 || read<u32>(file, 20) != 1) {
    return error(Code::kBadVersion, "ELF version other than 1");
  }
  if (read<u16>(file, 18) != kMachineRiscv) {
    return error(Code::kWrongMachine, "built for ELF machine " +
                                          std::to_string(read<u16>(file, 18)) +
                                          ", not RISC-V (243); use a riscv64 toolchain");
  }
  if (read<u16>(file, 16) != kTypeExecutable) {
    return error(Code::kNotExecutable, "ELF type " + std::to_string(read<u16>(file, 16)) +
                                           " is not a fixed-address executable; link with "
                                           "-static -no-pie");
  }
  if ((read<u32>(file, 48) & kFlagCompressed) != 0) {
    return error(Code::kCompressed,
                 "built with compressed instructions; build everything, the libraries too, with "
                 "-march=rv64im");
  }
  if (read<u64>(file, 24) % 4 != 0) {
    return error(Code::kEntryAlignment,
                 "entry " + hex(read<u64>(file, 24)) + " is not a multiple of 4");
  }
  return std::nullopt;
}

struct LoadHeader {
  u64 offset, address, file_bytes, memory_bytes;
  bool executable;
};

std::optional<ElfError> check_segment(std::span<const u8> file, const LoadHeader& h) {
  const std::string name = "segment at " + hex(h.address);
  const auto error = [&](Code code, const char* text) { return ElfError{code, name + text}; };
  if (h.file_bytes > h.memory_bytes) {
    return error(Code::kSegmentSizes, " has more bytes in the file than in memory");
  }
  if (!inside(file, h.offset, h.file_bytes)) {
    return error(Code::kSegmentOutsideFile,
                 " reaches beyond the end of the file; is it truncated?");
  }
  if (h.address < kAddressMin || h.address > kImageEnd || h.memory_bytes > kImageEnd - h.address) {
    return error(Code::kSegmentRange,
                 " leaves [0x1000, 0xc0000000); link with the SDK's linker script");
  }
  if (h.executable && h.address % 4 != 0) {
    return error(Code::kSegmentAlignment, " is executable but not 4-aligned");
  }
  return std::nullopt;
}

Result<std::vector<LoadHeader>, ElfError> load_headers(std::span<const u8> file) {
  const u64 table = read<u64>(file, 32);
  const u64 count = read<u16>(file, 56);
  if ((count != 0 && read<u16>(file, 54) != kProgramHeaderBytes) || count == 0xffff ||
      !inside(file, table, count * kProgramHeaderBytes)) {
    return fail(Code::kBadProgramHeaders, "the program headers are malformed or outside the file");
  }
  std::vector<LoadHeader> loads;
  for (u64 i = 0; i < count; ++i) {
    const u64 at = table + i * kProgramHeaderBytes;
    const u32 type = read<u32>(file, at);
    if (type == kSegmentDynamic || type == kSegmentInterpreter) {
      return fail(Code::kNotStatic, "dynamically linked; link with -static -no-pie");
    }
    const LoadHeader h{read<u64>(file, at + 8), read<u64>(file, at + 16), read<u64>(file, at + 32),
                       read<u64>(file, at + 40),
                       (read<u32>(file, at + 4) & kSegmentExecutable) != 0};
    if (type != kSegmentLoad || (h.memory_bytes == 0 && h.file_bytes == 0)) continue;
    if (auto error = check_segment(file, h)) return Unexpected{*std::move(error)};
    loads.push_back(h);
  }
  return loads;
}

// Names are for messages: whatever is out of place is skipped.
void read_symbols(std::span<const u8> file, ElfImage& image) {
  const u64 table = read<u64>(file, 40);
  const u64 count = read<u16>(file, 60);
  if (read<u16>(file, 58) != kSectionHeaderBytes ||
      !inside(file, table, count * kSectionHeaderBytes)) {
    return;
  }
  for (u64 i = 0; i < count; ++i) {
    const u64 section = table + i * kSectionHeaderBytes;
    const u64 link = read<u32>(file, section + 40);
    if (read<u32>(file, section + 4) != kSectionSymbols || link >= count) continue;
    const u64 offset = read<u64>(file, section + 24), bytes = read<u64>(file, section + 32);
    const u64 names = table + link * kSectionHeaderBytes;
    const u64 names_offset = read<u64>(file, names + 24), names_bytes = read<u64>(file, names + 32);
    if (!inside(file, offset, bytes) || !inside(file, names_offset, names_bytes)) continue;
    image.symbol_names.assign(reinterpret_cast<const char*>(file.data()) + names_offset,
                              names_bytes);
    for (u64 at = offset; at + kSymbolBytes <= offset + bytes; at += kSymbolBytes) {
      const u32 name = read<u32>(file, at);
      const u32 type = file[at + 4] & 15u;  // 0 none, 1 object, 2 function
      const u64 value = read<u64>(file, at + 8);
      const bool defined = read<u16>(file, at + 6) != 0;
      // Names that start with '$' or '.L' mark encodings and local labels.
      if (!defined || type > 2 || value >= kAddressEnd || name >= names_bytes) continue;
      const char first = image.symbol_names[name];
      if (first == 0 || first == '$' || first == '.') continue;
      image.symbols.push_back({static_cast<u32>(value), name});
    }
    break;  // an executable has one symbol table
  }
  std::stable_sort(image.symbols.begin(), image.symbols.end(),
                   [](const ElfSymbol& a, const ElfSymbol& b) { return a.address < b.address; });
}

std::optional<ElfError> check_layout(std::span<const u8> file, std::span<const LoadHeader> loads,
                                     u64 entry) {
  if (loads.empty()) {
    return ElfError{Code::kNoSegments, "no loadable segment; is this an object file?"};
  }
  u64 file_bytes = 0;
  bool entry_found = false;
  for (size_t i = 0; i < loads.size(); ++i) {
    const LoadHeader& h = loads[i];
    if (i > 0 && loads[i - 1].address + loads[i - 1].memory_bytes > h.address) {
      return ElfError{Code::kSegmentOverlap, "segments at " + hex(loads[i - 1].address) + " and " +
                                                 hex(h.address) + " overlap"};
    }
    file_bytes += h.file_bytes;
    entry_found |= h.executable && entry >= h.address && entry - h.address < h.file_bytes / 4 * 4;
  }
  if (file_bytes > file.size()) {
    return ElfError{Code::kFileBytesReused,
                    "the segments share file bytes: " + std::to_string(file_bytes) +
                        " claimed, the file has " + std::to_string(file.size())};
  }
  if (!entry_found) {
    return ElfError{Code::kEntryNotExecutable,
                    "entry " + hex(entry) +
                        " is not an instruction of an executable segment; "
                        "set it with the linker's ENTRY or -e"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ElfImage::nearest_symbol(u64 address) const {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address,
                                      [](u64 a, const ElfSymbol& s) { return a < s.address; });
  if (after == symbols.begin()) return std::nullopt;
  const u32 base = std::prev(after)->address;
  // Of several names for one place take the first in the table: the linker puts local aliases
  // later.
  const auto symbol = std::lower_bound(symbols.begin(), after, base,
                                       [](const ElfSymbol& s, u32 a) { return s.address < a; });
  const char* begin = symbol_names.data() + symbol->name_offset;
  const size_t room =
      std::min<size_t>(symbol_names.size() - symbol->name_offset, kSymbolNameBytesMax);
  std::string text(begin, strnlen(begin, room));
  if (address != base) text.append("+").append(hex(address - base));
  return text;
}

Result<ElfImage, ElfError> parse_elf(std::span<const u8> file) {
  if (auto error = check_header(file)) return Unexpected{*std::move(error)};
  auto loads = load_headers(file);
  if (!loads) return Unexpected{loads.error()};
  std::sort(loads->begin(), loads->end(),
            [](const LoadHeader& a, const LoadHeader& b) { return a.address < b.address; });
  const u64 entry = read<u64>(file, 24);
  if (auto error = check_layout(file, *loads, entry)) return Unexpected{*std::move(error)};

  ElfImage image;
  image.entry = static_cast<u32>(entry);
  for (const LoadHeader& h : *loads) {
    const auto bytes = file.subspan(h.offset, h.file_bytes);
    image.segments.push_back({static_cast<u32>(h.address), static_cast<u32>(h.memory_bytes),
                              h.executable, std::vector<u8>(bytes.begin(), bytes.end())});
  }
  read_symbols(file, image);
  return image;
}

}  // namespace epochd
