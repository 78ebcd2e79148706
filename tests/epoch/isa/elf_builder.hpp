// Builds ELF files for tests, field by field as the ELF-64 object file specification lays them out.
#pragma once

#include <string>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::test {

struct BuilderSegment {
  u32 type = 1;   // PT_LOAD
  u32 flags = 5;  // read, execute
  u64 address = 0;
  u64 memory_bytes = 0;  // 0: as many as `bytes`
  std::vector<u8> bytes;
};

struct BuilderSymbol {
  std::string name;
  u64 address;
};

inline std::vector<u8> little_endian(const std::vector<u32>& words) {
  std::vector<u8> bytes;
  for (const u32 word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<u8>(word >> (8 * i)));
  }
  return bytes;
}

template <class T>
void put(std::vector<u8>& file, u64 offset, T value) {
  if (file.size() < offset + sizeof(T)) file.resize(offset + sizeof(T));
  for (size_t i = 0; i < sizeof(T); ++i) {
    file[offset + i] = static_cast<u8>(static_cast<u64>(value) >> (8 * i));
  }
}

/// Offsets a test may want to damage: program header i starts at 64 + 56 * i. With page_bytes, file
/// offsets and addresses agree modulo a page, as an operating system's loader wants it.
inline std::vector<u8> build_elf(u64 entry, const std::vector<BuilderSegment>& segments,
                                 const std::vector<BuilderSymbol>& symbols = {},
                                 u64 page_bytes = 1) {
  std::vector<u8> file = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  file.resize(64);
  put<u16>(file, 16, 2);    // ET_EXEC
  put<u16>(file, 18, 243);  // EM_RISCV
  put<u32>(file, 20, 1);
  put<u64>(file, 24, entry);
  put<u64>(file, 32, 64);
  put<u16>(file, 52, 64);
  put<u16>(file, 54, 56);
  put<u16>(file, 56, static_cast<u16>(segments.size()));
  put<u16>(file, 58, 64);
  file.resize(64 + 56 * segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    const BuilderSegment& s = segments[i];
    const u64 at = 64 + 56 * i;
    while (file.size() % page_bytes != s.address % page_bytes) file.push_back(0);
    put<u32>(file, at, s.type);
    put<u32>(file, at + 4, s.flags);
    put<u64>(file, at + 8, file.size());
    put<u64>(file, at + 16, s.address);
    put<u64>(file, at + 24, s.address);
    put<u64>(file, at + 32, s.bytes.size());
    put<u64>(file, at + 40, s.memory_bytes == 0 ? s.bytes.size() : s.memory_bytes);
    file.insert(file.end(), s.bytes.begin(), s.bytes.end());
  }
  if (symbols.empty()) return file;
  std::string names(1, '\0');
  const u64 table = file.size();
  for (size_t i = 0; i < symbols.size(); ++i) {
    put<u32>(file, table + 24 * i, static_cast<u32>(names.size()));
    put<u8>(file, table + 24 * i + 4, 0x12);  // global function
    put<u16>(file, table + 24 * i + 6, 1);
    put<u64>(file, table + 24 * i + 8, symbols[i].address);
    put<u64>(file, table + 24 * i + 16, u64{4});
    names += symbols[i].name + '\0';
  }
  const u64 names_at = file.size();
  file.insert(file.end(), names.begin(), names.end());
  const u64 sections = file.size();
  file.resize(sections + 3 * 64);  // null, symbols, names
  put<u64>(file, 40, sections);
  put<u16>(file, 60, 3);
  put<u32>(file, sections + 64 + 4, 2);
  put<u64>(file, sections + 64 + 24, table);
  put<u64>(file, sections + 64 + 32, u64{24} * symbols.size());
  put<u32>(file, sections + 64 + 40, 2);
  put<u32>(file, sections + 128 + 4, 3);
  put<u64>(file, sections + 128 + 24, names_at);
  put<u64>(file, sections + 128 + 32, names.size());
  return file;
}

/// One executable segment of `words` at `pc`, entered at its first word.
inline std::vector<u8> build_elf_of_words(u64 pc, const std::vector<u32>& words) {
  BuilderSegment segment;
  segment.address = pc;
  segment.bytes = little_endian(words);
  return build_elf(pc, {segment});
}

}  // namespace epochd::test
