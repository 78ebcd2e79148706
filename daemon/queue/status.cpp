#include "daemon/queue/status.hpp"

#include <nlohmann/json.hpp>

#include "daemon/queue/job_id.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

constexpr u64 kRecordBytesMax = 1 << 20;

/// The place's own name for the state; active jobs have a record that says more.
constexpr std::array<std::string_view, 7> kStateNames = {
    "queued", "held", "claimed", "done", "failed", "quarantined", "cancelled"};

/// A record, or an empty object when it is not there, damaged, or gone meanwhile.
nlohmann::json read_record(FileSystem& fs, const Path& path) {
  try {
    auto json = nlohmann::json::parse(fs.read_text(path, kRecordBytesMax), nullptr, false);
    if (json.is_object()) return json;
  } catch (const IoError&) {
  }
  return nlohmann::json::object();
}

std::string text_of(const nlohmann::json& record, const char* key, const std::string& otherwise) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

u64 number_of(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_number_unsigned() ? found->get<u64>() : 0;
}

JobStatus status_of(FileSystem& fs, const Path& root, Place place, const std::string& id) {
  const Path job = place_path(root, place) / id;
  JobStatus status;
  status.id = id;
  status.place = place;
  status.state = kStateNames[static_cast<size_t>(place)];
  if (place == Place::kActive) {
    const auto record = read_record(fs, job / kStateFile);
    status.state = text_of(record, "state", status.state);
    status.epoch = number_of(record, "epoch");
    status.epochs = number_of(record, "epochs");
    status.attempt = static_cast<u32>(number_of(record, "attempt"));
  } else if (place == Place::kFailed || place == Place::kQuarantine) {
    const auto record = read_record(fs, job / kReasonFile);
    status.reason = text_of(record, "reason", "");
    const std::string phase = text_of(record, "phase", "");
    if (!phase.empty()) status.reason += "(" + phase + ")";
    status.message = text_of(record, "message", "");
  }
  return status;
}

}  // namespace

std::string JobStatus::state_text() const {
  if (state == "proving" && epoch > 0) {
    const std::string count = epochs > 0 ? std::to_string(epochs) : "?";
    return state + "(" + std::to_string(epoch) + "/" + count + ")";
  }
  return reason.empty() ? state : state + "(" + reason + ")";
}

std::optional<JobStatus> job_status(FileSystem& fs, const Path& root, const std::string& id) {
  const std::optional<Place> place = is_job_id(id) ? find_job(fs, root, id) : std::nullopt;
  if (!place) return std::nullopt;
  return status_of(fs, root, *place, id);
}

std::vector<JobStatus> queue_status(FileSystem& fs, const Path& root) {
  std::vector<JobStatus> all;
  for (size_t i = 0; i < kPlaceNames.size(); ++i) {
    const Place place = static_cast<Place>(i);
    if (!fs.exists(place_path(root, place))) continue;
    for (const Entry& entry : fs.list(place_path(root, place))) {
      if (entry.name.front() == '.') continue;
      const bool is_lone_program = place == Place::kIncoming && entry.kind == Entry::Kind::kFile &&
                                   Path(entry.name).extension() == ".elf";
      if (entry.kind == Entry::Kind::kDirectory || is_lone_program) {
        all.push_back(status_of(fs, root, place, entry.name));
      }
    }
  }
  return all;
}

}  // namespace epochd
