// What is fuzzed: one function for each format that comes from outside. A target takes any bytes
// and checks what must hold for all of them: an answer and no crash, memory in proportion to the
// input, and that what is accepted means what it says. A broken promise aborts. The same functions
// run under libFuzzer (EPOCHD_FUZZ=ON) and, on seeds and random damage, as an ordinary test.
#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::fuzz {

using Bytes = std::vector<u8>;
using Input = std::span<const u8>;

/// A bundle's words against the verifying key of `use_reference`. Accepted means: the honest one.
/// The verifier allocates nothing. Pre: use_reference.
void fuzz_proof(Input input);
/// A verifying key's file, as it is and with its checksum made right.
void fuzz_key(Input input);
/// An ELF; if it parses, its program's table, and its first instructions executed.
void fuzz_elf(Input input);
/// A capsule, as it is and with its checksum made right; if it decodes, its replay.
void fuzz_capsule(Input input);
/// A kept epoch: its proof record and its boundary rows.
void fuzz_payload(Input input);
/// A snapshot of a run, as it is and with its checksum made right; if it is read, the run goes on.
void fuzz_snapshot(Input input);
/// What a run came to.
void fuzz_facts(Input input);
/// A capsule's file, with its program, as it is and with its checksum made right.
void fuzz_package(Input input);
/// The settings file.
void fuzz_config(Input input);
/// A job file.
void fuzz_job(Input input);

/// What proofs are compared with: an encoded verifying key and a bundle it accepts.
void use_reference(std::span<const u64> key, std::span<const u64> bundle);
const std::vector<u64>& reference_bundle();

struct Target {
  std::string_view name;
  void (*run)(Input input);
};
inline constexpr Target kTargets[] = {{"proof", fuzz_proof},     {"key", fuzz_key},
                                      {"elf", fuzz_elf},         {"capsule", fuzz_capsule},
                                      {"payload", fuzz_payload}, {"snapshot", fuzz_snapshot},
                                      {"facts", fuzz_facts},     {"package", fuzz_package},
                                      {"config", fuzz_config},   {"job", fuzz_job}};

/// Whole words of the input, in memory of exactly their length, so that a read past the end shows.
inline std::vector<u64> words_of(Input input) {
  std::vector<u64> words(input.size() / sizeof(u64));
  if (!words.empty()) std::memcpy(words.data(), input.data(), words.size() * sizeof(u64));
  return words;
}
inline Bytes bytes_of(std::span<const u64> words) {
  Bytes bytes(words.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace epochd::fuzz
