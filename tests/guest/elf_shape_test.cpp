// What the linker script promises about every guest: a static RV64 executable without compressed
// code, its segments inside [0x1000, 0xC0000000), code apart from data, nothing empty. Read here
// with <elf.h>, not with the loader.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

template <class T>
T read_at(const std::string& file, size_t offset) {
  T value;
  EXPECT_LE(offset + sizeof value, file.size());
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::vector<std::filesystem::path> proved_guests() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(EPOCHD_GUEST_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".elf") && !name.ends_with(".qemu.elf")) paths.push_back(entry.path());
  }
  return paths;
}

void expect_uncompressed(const std::string& file, const Elf64_Phdr& segment) {
  EXPECT_EQ(segment.p_vaddr % 4, 0u);
  EXPECT_EQ(segment.p_filesz % 4, 0u);
  EXPECT_EQ(segment.p_filesz, segment.p_memsz);
  for (size_t at = 0; at < segment.p_filesz; at += 4) {
    const auto word = read_at<uint32_t>(file, segment.p_offset + at);
    EXPECT_EQ(word & 3, 3u) << "a 16-bit instruction at " << std::hex << segment.p_vaddr + at;
  }
}

TEST(GuestElf, EveryGuestHasTheShapeTheLoaderAccepts) {
  const auto guests = proved_guests();
  EXPECT_GE(guests.size(), 7u);
  for (const auto& path : guests) {
    SCOPED_TRACE(path.string());
    std::ifstream stream(path, std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(stream)), {});
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
    EXPECT_EQ(header.e_ident[EI_CLASS], ELFCLASS64);
    EXPECT_EQ(header.e_ident[EI_DATA], ELFDATA2LSB);
    EXPECT_EQ(header.e_type, ET_EXEC);
    EXPECT_EQ(header.e_machine, EM_RISCV);
    EXPECT_EQ(header.e_flags & EF_RISCV_RVC, 0u);
    EXPECT_EQ(header.e_entry % 4, 0u);

    int executable = 0;
    uint64_t previous_end = 0x1000;
    for (int i = 0; i < header.e_phnum; ++i) {
      const auto segment = read_at<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
      ASSERT_EQ(segment.p_type, static_cast<uint32_t>(PT_LOAD));
      EXPECT_GT(segment.p_memsz, 0u);
      EXPECT_GE(segment.p_vaddr, previous_end);
      previous_end = segment.p_vaddr + segment.p_memsz;
      EXPECT_LE(previous_end, 0xC0000000u);
      if ((segment.p_flags & PF_X) == 0) continue;
      ++executable;
      EXPECT_EQ(segment.p_flags & PF_W, 0u);
      EXPECT_GE(header.e_entry, segment.p_vaddr);
      EXPECT_LT(header.e_entry, previous_end);
      expect_uncompressed(file, segment);
    }
    EXPECT_EQ(executable, 1);
  }
}

}  // namespace
