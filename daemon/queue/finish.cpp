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

/// Where a job with this reason.json was going.
Place place_of_reason(FileSystem& fs, const Path& reason) {
  const auto json = nlohmann::json::parse(fs.read_text(reason, kReasonBytesMax), nullptr, false);
  const bool is_quarantined =
      json.is_object() && json.value("state", std::string()) == "quarantined";
  return is_quarantined ? Place::kQuarantine : Place::kFailed;
}

}  // namespace

void strip_working_files(FileSystem& fs, const Path& job) {
  for (const std::string_view name : {kStateFile, kCancelFile, kRunningFile, kAttemptsFile}) {
    fs.remove_file(job / name);
  }
  fs.sync_directory(job);
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
  const std::string published = queue.publish(id, Place::kCancelled);
  strip_working_files(fs, queue.path_of(Place::kCancelled, published));
  return published;
}

std::optional<Place> finish_interrupted(Queue& queue, FileSystem& fs, const std::string& id) {
  const Path job = queue.active_path(id);
  if (fs.exists(job / kReasonFile)) {
    log::info("finishing the interrupted move of a failed job", {{"job", id}});
    const Place place = place_of_reason(fs, job / kReasonFile);
    move_failed(queue, fs, id, place);
    return place;
  }
  if (fs.exists(job / kResultFile) && fs.exists(job / kBundleFile)) {
    log::info("finishing the interrupted move of a proved job", {{"job", id}});
    move_done(queue, fs, id);
    return Place::kDone;
  }
  return std::nullopt;
}

}  // namespace epochd
