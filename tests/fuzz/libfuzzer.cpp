// libFuzzer's entry points around one target, EPOCHD_FUZZ_TARGET. The folder that make_seeds wrote
// is named by the environment, EPOCHD_FUZZ_SEEDS: the proof target compares with its seeds.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "prover/core/assert.hpp"
#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {
namespace {

constexpr bool kIsProof = std::string_view(EPOCHD_FUZZ_NAME) == "proof";

std::vector<u64> read_seed(const std::string& name) {
  const char* folder = std::getenv("EPOCHD_FUZZ_SEEDS");
  EPOCHD_ASSERT(folder != nullptr);
  std::ifstream file(std::string(folder) + "/" + name, std::ios::binary);
  EPOCHD_ASSERT(file.good());
  return words_of(Bytes(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace
}  // namespace epochd::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  using namespace epochd::fuzz;
  if (kIsProof) use_reference(read_seed("key/0"), read_seed("proof/0"));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  epochd::fuzz::EPOCHD_FUZZ_TARGET({data, size});
  return 0;
}

#ifdef EPOCHD_FUZZ_WORDS
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Word by word, and at the places of a bundle's parts; one time in eight as libFuzzer likes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace epochd::fuzz;
  static const std::vector<size_t> places =
      epochd::testing::BundleMap(reference_bundle()).boundaries();
  Mutator mutator(seed);
  if (mutator.below(8) == 0) return LLVMFuzzerMutate(data, size, max_size);
  // Mostly one step from the honest bundle: what is damaged often dies early.
  std::vector<epochd::u64> words =
      mutator.below(4) == 0 ? words_of({data, size}) : reference_bundle();
  mutator.damage<epochd::u64>(words, places, reference_bundle());
  const Bytes bytes = bytes_of(words);
  const size_t written = std::min(bytes.size(), max_size);
  if (written > 0) std::memcpy(data, bytes.data(), written);
  return written;
}
#endif
