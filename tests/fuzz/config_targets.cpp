// The targets for what people write: the settings file and job files.
#include "config/config.hpp"
#include "prover/core/assert.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {
namespace {

// A YAML node takes hundreds of bytes, and a message lists every key there is.
constexpr size_t kBytesPerByte = 4096;
constexpr size_t kBytesAtLeast = 1 << 20;

void check_findings(const Diagnostics& findings) {
  EPOCHD_ASSERT(!findings.empty());
  for (const Diagnostic& d : findings) EPOCHD_ASSERT(d.file == "file" && !d.message.empty());
}

std::string text_of(Input input) {
  return {input.begin(), input.end()};
}

}  // namespace

void fuzz_config(Input input) {
  const std::string text = text_of(input);
  const MemoryMeter meter;
  const auto config = parse_config("file", text);
  EPOCHD_ASSERT(meter.peak_bytes() <= kBytesPerByte * text.size() + kBytesAtLeast);
  if (!config) check_findings(config.error());
  const auto again = parse_config("file", text);
  EPOCHD_ASSERT(static_cast<bool>(config) == static_cast<bool>(again));
  EPOCHD_ASSERT(!config || *config == *again);
}

void fuzz_job(Input input) {
  const std::string text = text_of(input);
  const MemoryMeter meter;
  const auto job = parse_job("file", text);
  EPOCHD_ASSERT(meter.peak_bytes() <= kBytesPerByte * text.size() + kBytesAtLeast);
  if (!job) {
    check_findings(job.error());
    return;
  }
  const auto again = parse_job("file", job_yaml(*job));
  EPOCHD_ASSERT(again && *again == *job);
}

}  // namespace epochd::fuzz
