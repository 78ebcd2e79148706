#include "daemon/queue/attempts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/schema.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/layout.hpp"

namespace epochd {
namespace {

constexpr u64 kBytesMax = 4096;

/// What attempts.json holds.
struct Record {
  Attempts counts;
  JobTimes times;
};

Record read_record(FileSystem& fs, const Path& job) {
  const Path path = job / kAttemptsFile;
  if (!fs.exists(path)) return {};
  const auto json = nlohmann::json::parse(fs.read_text(path, kBytesMax), nullptr, false);
  const auto number = [&](const char* name) -> u64 {
    const bool is_good = json.is_object() && json.contains(name) && json[name].is_number_unsigned();
    return is_good ? json[name].get<u64>() : 0;
  };
  const auto count = [&](const char* name) { return static_cast<u32>(number(name)); };
  const auto time = [&](const char* name) { return static_cast<i64>(number(name)); };
  if (!json.is_object())
    log::warn("attempts file is damaged; counting anew", {{"file", path.string()}});
  return {{count("attempt"), count("failures"), count("crashes")},
          {time("queued_ns"), time("started_ns")}};
}

void write_record(FileSystem& fs, const Path& job, const Record& record) {
  const nlohmann::json json = {{"attempt", record.counts.attempt},
                               {"failures", record.counts.failures},
                               {"crashes", record.counts.crashes},
                               {"queued_ns", record.times.queued_ns},
                               {"started_ns", record.times.started_ns}};
  replace_file(fs, job / kAttemptsFile, as_bytes(json.dump() + "\n"));
}

/// Durably, or a power cut would make it look like a crash.
void forget_quietly(FileSystem& fs, const Path& running) noexcept {
  try {
    remove_durably(fs, running);
  } catch (...) {
  }
}

std::optional<i64> running_attempt(FileSystem& fs, const Path& job) {
  const Path path = job / kRunningFile;
  if (!fs.exists(path)) return std::nullopt;
  return parse_integer(fs.read_text(path, kBytesMax));
}

}  // namespace

Attempts read_attempts(FileSystem& fs, const Path& job) {
  Attempts attempts = read_record(fs, job).counts;
  const std::optional<i64> running = running_attempt(fs, job);
  if (running && *running == attempts.attempt) ++attempts.crashes;
  return attempts;
}

Attempts begin_attempt(FileSystem& fs, const Path& job, i64 now_ns) {
  JobTimes times = read_times(fs, job);
  if (times.queued_ns == 0) {
    // Nothing was written into the directory since it came.
    const std::optional<Entry> entry = fs.stat(job);
    times = {entry ? std::max<i64>(entry->mtime_ns, 0) : 0, std::max<i64>(now_ns, 0)};
  }
  Attempts attempts = read_attempts(fs, job);
  ++attempts.attempt;
  write_record(fs, job, {attempts, times});
  const Path running = job / kRunningFile;
  try {
    replace_file(fs, running, as_bytes(std::to_string(attempts.attempt)));
  } catch (...) {
    forget_quietly(fs, running);  // no work was begun; what crashed before is counted by now
    throw;
  }
  return attempts;
}

JobTimes read_times(FileSystem& fs, const Path& job) {
  return read_record(fs, job).times;
}

void end_attempt(FileSystem& fs, const Path& job) {
  remove_durably(fs, job / kRunningFile);
}

Attempts end_attempt_failed(FileSystem& fs, const Path& job) {
  Record record = read_record(fs, job);
  ++record.counts.failures;
  // The counts first: dying in between counts the attempt as failed and as crashed, never as
  // neither.
  write_record(fs, job, record);
  end_attempt(fs, job);
  return record.counts;
}

bool is_exhausted(const Attempts& attempts, const RetrySettings& budget) {
  return attempts.failures > budget.failures || attempts.crashes > budget.crashes;
}

}  // namespace epochd
