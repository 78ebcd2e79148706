// Writes the seeds, a folder for each target: make_seeds FOLDER.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/seeds.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  for (const auto& [target, inputs] : epochd::fuzz::make_seeds(EPOCHD_FUZZ_SEED_DIR)) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / target;
    std::filesystem::create_directories(folder);
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::ofstream file(folder / std::to_string(i), std::ios::binary);
      file.write(reinterpret_cast<const char*>(inputs[i].data()),
                 static_cast<std::streamsize>(inputs[i].size()));
    }
  }
}
