#include "daemon/cli/verifying_key.hpp"

#include <cstring>

#include "daemon/pipeline/program_files.hpp"
#include "daemon/queue/reason.hpp"
#include "prover/core/cpu_features.hpp"

namespace epochd {

VerifyingKey compute_verifying_key(FileSystem& fs, const std::string& program,
                                   const prover::Preset& preset) {
  const Parallel pool;
  const auto key =
      make_proving_key(load_program(fs, program, Links::kFollow), preset, best_isa(), pool);
  if (!key) throw JobError(Reason::kInput, "'" + program + "': " + key.error().message);
  return key->vk;
}

VerifyingKey read_verifying_key(FileSystem& fs, const std::string& path) {
  constexpr u64 kKeyBytesMax = 4096;
  const Bytes bytes = fs.read_prefix(path, kKeyBytesMax, Links::kFollow);
  std::vector<u64> words(bytes.size() / sizeof(u64));
  if (bytes.size() % sizeof(u64) != 0 || words.empty()) {
    throw JobError(Reason::kInput, "'" + path +
                                       "' is not a verifying key; make one with `epoch "
                                       "setup PROG.elf -o F.vk`");
  }
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const auto key = decode_verifying_key(words);
  if (!key) throw JobError(Reason::kInput, "'" + path + "': " + key.error().message);
  return *key;
}

std::string to_hex(const prover::Digest& digest) {
  u8 bytes[sizeof(digest)];
  std::memcpy(bytes, &digest, sizeof(digest));
  std::string text;
  for (const u8 byte : bytes) {
    char hex[4];
    std::snprintf(hex, sizeof(hex), "%02x", byte);
    text += hex;
  }
  return text;
}

}  // namespace epochd
