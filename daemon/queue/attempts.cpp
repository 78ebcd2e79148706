#include "daemon/queue/attempts.hpp"

#include <nlohmann/json.hpp>

#include "config/schema.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/layout.hpp"

namespace epochd {
namespace {

constexpr u64 kBytesMax = 4096;

Attempts read_counts(FileSystem& fs, const Path& job) {
  const Path path = job / kAttemptsFile;
  if (!fs.exists(path)) return {};
  const auto json = nlohmann::json::parse(fs.read_text(path, kBytesMax), nullptr, false);
  const auto count = [&](const char* name) -> u32 {
    const bool is_good = json.is_object() && json.contains(name) && json[name].is_number_unsigned();
    return is_good ? json[name].get<u32>() : 0;
  };
  if (!json.is_object())
    log::warn("attempts file is damaged; counting anew", {{"file", path.string()}});
  return {count("attempt"), count("failures"), count("crashes")};
}

void write_counts(FileSystem& fs, const Path& job, const Attempts& attempts) {
  const nlohmann::json json = {{"attempt", attempts.attempt},
                               {"failures", attempts.failures},
                               {"crashes", attempts.crashes}};
  replace_file(fs, job / kAttemptsFile, as_bytes(json.dump() + "\n"));
}

std::optional<i64> running_attempt(FileSystem& fs, const Path& job) {
  const Path path = job / kRunningFile;
  if (!fs.exists(path)) return std::nullopt;
  return parse_integer(fs.read_text(path, kBytesMax));
}

}  // namespace

Attempts read_attempts(FileSystem& fs, const Path& job) {
  Attempts attempts = read_counts(fs, job);
  const std::optional<i64> running = running_attempt(fs, job);
  if (running && *running == attempts.attempt) ++attempts.crashes;
  return attempts;
}

Attempts begin_attempt(FileSystem& fs, const Path& job) {
  Attempts attempts = read_attempts(fs, job);
  ++attempts.attempt;
  write_counts(fs, job, attempts);
  const Path running = job / kRunningFile;
  try {
    replace_file(fs, running, as_bytes(std::to_string(attempts.attempt)));
  } catch (...) {
    remove_quietly(fs, running);  // no work was begun; what crashed before is counted by now
    throw;
  }
  return attempts;
}

void end_attempt(FileSystem& fs, const Path& job) {
  remove_durably(fs, job / kRunningFile);
}

Attempts end_attempt_failed(FileSystem& fs, const Path& job) {
  Attempts attempts = read_counts(fs, job);
  ++attempts.failures;
  // The counts first: dying in between counts the attempt as failed and as crashed, never as
  // neither.
  write_counts(fs, job, attempts);
  end_attempt(fs, job);
  return attempts;
}

bool is_exhausted(const Attempts& attempts, const RetrySettings& budget) {
  return attempts.failures > budget.failures || attempts.crashes > budget.crashes;
}

}  // namespace epochd
