// verify: the verifier as a guest. Input: a verifying key's file (17 words), then a bundle. Emits
// RunError, the epoch or sub-proof it is about, the argument's VerifyError and detail, then, of an
// accepted run, epochs, cycles, exit code and the number of output words. Exits with 0 when the
// bundle is accepted, 1 when it is not.
//
// The sources are the host's verifier, compiled without a library for RV64IM: what shows that it is
// freestanding. The key comes with the input, so a proof of this guest's run would say nothing
// about which program was proved; that is for a guest that emits the key's digest.
#include "epoch/continuation/verify_run.hpp"
#include "epochd.h"

namespace epochd {

// What EPOCHD_ASSERT calls; the verifier has none of its own that input can reach.
void assertion_failed(const char*, const char*, int) noexcept {
  epochd_exit(255);
}

namespace {

constexpr size_t kKeyWords = 17;

RunScratch scratch;

prover::Digest digest_at(const u64* words) {
  return {{words[0], words[1], words[2], words[3]}};
}

/// The layout of encode_verifying_key (epoch/continuation/setup.hpp), checksum unread.
VerifyingKey key_from(const u64* words) {
  VerifyingKey vk;
  vk.preset_id = static_cast<u32>(words[2]);
  vk.entry = static_cast<u32>(words[3]);
  vk.log_program = static_cast<u32>(words[4]);
  vk.log_image = static_cast<u32>(words[4] >> 32);
  vk.epoch_root = digest_at(words + 5);
  vk.global_root = digest_at(words + 9);
  return vk;
}

int verify_input() {
  const size_t bytes = epochd_input_length();
  if (bytes % 8 != 0 || bytes < 8 * kKeyWords) return 1;
  const u64* words = epochd_input_region() + 1;
  const RunResult result = verify_run(key_from(words), words + kKeyWords, bytes / 8 - kKeyWords,
                                      {.allow_test_preset = true}, scratch);
  epochd_emit(static_cast<u64>(result.error));
  epochd_emit(result.index);
  epochd_emit(static_cast<u64>(result.argument.error));
  epochd_emit(result.argument.detail);
  if (!result.ok()) return 1;
  epochd_emit(result.epochs);
  epochd_emit(result.cycles);
  epochd_emit(result.exit_code);
  epochd_emit(result.output_count);
  return 0;
}

}  // namespace
}  // namespace epochd

int main() {
  return epochd::verify_input();
}
