// Programs for the executor's tests, and running them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "epoch/exec/scout.hpp"
#include "tests/epoch/exec/assembler.hpp"
#include "tests/epoch/isa/elf_builder.hpp"

namespace epochd::test {

constexpr u32 kTextBase = 0x10000;
constexpr u32 kDataBase = 0x02000000;    // lui 0x2000
constexpr u32 kResultBase = 0x04000000;  // lui 0x4000

/// A parsed program with its code; stays where it is, because the code refers to the program.
struct Guest {
  explicit Guest(const std::vector<u8>& file) : program(parse(file)), code(program) {}
  Guest(const Guest&) = delete;

  static ElfImage parse(const std::vector<u8>& file) {
    auto image = parse_elf(file);
    if (!image) throw std::runtime_error(image.error().message);
    return *std::move(image);
  }

  Program program;
  Code code;
};

inline std::unique_ptr<Guest> guest_of_words(const std::vector<u32>& words) {
  return std::make_unique<Guest>(build_elf_of_words(kTextBase, words));
}

/// Text at kTextBase, `data` at kDataBase, and `result_bytes` of zeros at kResultBase.
inline std::vector<u8> build_data_elf(const std::vector<u32>& words, std::vector<u8> data,
                                      u64 result_bytes) {
  BuilderSegment text;
  text.address = kTextBase;
  text.bytes = little_endian(words);
  BuilderSegment table;
  table.flags = 6;
  table.address = kDataBase;
  table.bytes = std::move(data);
  BuilderSegment results;
  results.flags = 6;
  results.address = kResultBase;
  results.memory_bytes = result_bytes;
  return build_elf(kTextBase, {text, table, results}, {}, 4096);
}

inline std::vector<u8> bytes_of_words(const std::vector<u64>& words) {
  std::vector<u8> bytes;
  for (const u64 word : words) put<u64>(bytes, bytes.size(), word);
  return bytes;
}

inline std::vector<u8> read_guest_file(const std::string& name) {
  std::ifstream file(std::string(EPOCHD_GUEST_DIR "/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr u64 kRunawayCycles = 1u << 28;

struct FullRun {
  std::vector<u64> outputs;
  u64 exit_code = 0;
  u64 cycles = 0;
  u64 epochs = 0;
};

/// Runs `scout` to its end in epochs of `cycles_max`; a fault fails the test.
inline FullRun run_to_end(Scout& scout, u32 cycles_max = 1u << 20) {
  FullRun run;
  while (!scout.halted()) {
    auto epoch = scout.run_epoch(cycles_max);
    if (!epoch) {
      ADD_FAILURE() << epoch.error().message();
      break;
    }
    run.outputs.insert(run.outputs.end(), epoch->outputs.begin(), epoch->outputs.end());
    run.exit_code = epoch->exit_code;
    run.cycles += epoch->cycles;
    ++run.epochs;
    if (run.cycles > kRunawayCycles) {
      ADD_FAILURE() << "the program does not end";
      break;
    }
  }
  return run;
}

/// A file that goes away with this.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<u8>& bytes) {
    static int count = 0;
    path_ = ::testing::TempDir() + "epochd-exec-" + std::to_string(getpid()) + "-" +
            std::to_string(count++);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace epochd::test
