#include "daemon/queue/finish.hpp"

#include <nlohmann/json.hpp>

#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {
namespace {

constexpr u64 kReasonBytesMax = 1 << 20;

std::string to_line(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string move_done(Queue& queue, FileSystem& fs, const std::string& id) {
  const Path job = queue.active_path(id);
  strip_working_files(fs, job);
  fs.remove_tree(job / kEpochsName);
  fs.sync_directory(job);
  return queue.publish(id, Place::kDone);
}

std::string move_failed(Queue& queue, FileSystem& fs, const std::string& id, Place place) {
  strip_working_files(fs, queue.active_path(id));
  return queue.publish(id, place);
}

/// What a crash left half written.
void remove_temporary_files(FileSystem& fs, const Path& directory) {
  for (const Entry& entry : fs.list(directory)) {
    const bool is_temporary = entry.name.ends_with(kTemporarySuffix);
    if (is_temporary && entry.kind == Entry::Kind::kFile) fs.remove_file(directory / entry.name);
  }
  // Also when there was none: a rename that is not durable would bring its old name back.
  fs.sync_directory(directory);
}

void strip_all_but_cancel(FileSystem& fs, const Path& job) {
  for (const std::string_view name : {kStateFile, kRunningFile, kAttemptsFile}) {
    fs.remove_file(job / name);
  }
  if (fs.exists(job / kEpochsName)) remove_temporary_files(fs, job / kEpochsName);
  remove_temporary_files(fs, job);
}

/// Where a job with this reason.json was going.
Place place_of_reason(FileSystem& fs, const Path& reason) {
  const auto json = nlohmann::json::parse(fs.read_text(reason, kReasonBytesMax), nullptr, false);
  const bool is_quarantined =
      json.is_object() && json.value("state", std::string()) == "quarantined";
  return is_quarantined ? Place::kQuarantine : Place::kFailed;
}

}  // namespace

void strip_working_files(FileSystem& fs, const Path& job) {
  strip_all_but_cancel(fs, job);
  remove_durably(fs, job / kCancelFile);
}

std::string publish_done(Queue& queue, FileSystem& fs, const std::string& id,
                         const nlohmann::json& result) {
  replace_file(fs, queue.active_path(id) / kResultFile, as_bytes(to_line(result)));
  return move_done(queue, fs, id);
}

std::string publish_failed(Queue& queue, FileSystem& fs, const std::string& id, Place place,
                           const JobError& error, const Attempts& attempts) {
  const bool is_quarantined = place == Place::kQuarantine;
  nlohmann::json reason = {{"state", is_quarantined ? "quarantined" : "failed"},
                           {"reason", name_of(error.reason())},
                           {"message", error.what()},
                           {"attempt", attempts.attempt},
                           {"failures", attempts.failures},
                           {"crashes", attempts.crashes}};
  if (!error.phase().empty()) reason["phase"] = error.phase();
  replace_file(fs, queue.active_path(id) / kReasonFile, as_bytes(to_line(reason)));
  return move_failed(queue, fs, id, place);
}

std::string publish_cancelled(Queue& queue, FileSystem& fs, const std::string& id) {
  // The request stays in the directory until after the move: it is what a restart would act on.
  strip_all_but_cancel(fs, queue.active_path(id));
  const std::string published = queue.publish(id, Place::kCancelled);
  try {
    remove_durably(fs, queue.path_of(Place::kCancelled, published) / kCancelFile);
  } catch (const IoError& error) {
    if (error.code() != ENOENT) throw;  // else it was fetched from there meanwhile
  }
  return published;
}

bool has_decision(FileSystem& fs, const Path& job) {
  return fs.exists(job / kReasonFile) ||
         (fs.exists(job / kResultFile) && fs.exists(job / kBundleFile));
}

std::optional<Finished> finish_interrupted(Queue& queue, FileSystem& fs, const std::string& id) {
  const Path job = queue.active_path(id);
  if (!has_decision(fs, job)) return std::nullopt;
  if (fs.exists(job / kReasonFile)) {
    log::info("finishing the interrupted move of a failed job", {{"job", id}});
    const Place place = place_of_reason(fs, job / kReasonFile);
    return Finished{place, move_failed(queue, fs, id, place)};
  }
  log::info("finishing the interrupted move of a proved job", {{"job", id}});
  return Finished{Place::kDone, move_done(queue, fs, id)};
}

}  // namespace epochd
