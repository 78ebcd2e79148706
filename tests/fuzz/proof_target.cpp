#include <memory>

#include "epoch/continuation/setup.hpp"
#include "epoch/continuation/verify_run.hpp"
#include "prover/core/assert.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {
namespace {

struct Reference {
  VerifyingKey key;
  std::vector<u64> bundle;
  std::unique_ptr<RunScratch> scratch = std::make_unique<RunScratch>();
};
std::unique_ptr<Reference> reference;

}  // namespace

void use_reference(std::span<const u64> key, std::span<const u64> bundle) {
  const auto decoded = decode_verifying_key(key);
  EPOCHD_ASSERT(decoded);
  reference = std::make_unique<Reference>();
  reference->key = *decoded;
  reference->bundle.assign(bundle.begin(), bundle.end());
}

const std::vector<u64>& reference_bundle() {
  EPOCHD_ASSERT(reference != nullptr);
  return reference->bundle;
}

void fuzz_proof(Input input) {
  EPOCHD_ASSERT(reference != nullptr);
  const std::vector<u64> words = words_of(input);
  const MemoryMeter meter;
  const RunResult result = verify_run(reference->key, words.data(), words.size(),
                                      {.allow_test_preset = true}, *reference->scratch);
  EPOCHD_ASSERT(meter.peak_bytes() == 0);
  EPOCHD_ASSERT(result.ok() == (words == reference->bundle));
  size_t outputs = 0;
  for_each_output(
      words.data(), words.size(), [](void* n, u64) { ++*static_cast<size_t*>(n); }, &outputs);
  EPOCHD_ASSERT(outputs <= words.size());
}

}  // namespace epochd::fuzz
