#include "tests/daemon/simulation/ledger.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/pipeline/checkpoint_files.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd::simulation {
namespace {

/// An epoch saved longer ago than this is durable: a group is a quarter of a second.
constexpr double kDurableAfter_s = 1;

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}
Bytes to_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

}  // namespace

std::optional<Bytes> Ledger::bytes_of(const Path& path) const {
  const auto inode = disk_.find(path);
  if (!inode || disk_.node(*inode).is_directory) return std::nullopt;
  return disk_.node(*inode).bytes;
}

std::string Ledger::tag_of(const Path& job) const {
  const auto yaml = bytes_of(job / kJobFile);
  const std::string text = yaml ? text_of(*yaml) : "";
  const size_t at = text.find("name: ");
  if (at == std::string::npos) return job.filename().string();
  std::string name = text.substr(at + 6, text.find('\n', at) - at - 6);
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
  return name;
}

std::vector<Path> Ledger::places_of(const std::string& tag) const {
  std::vector<Path> found;
  for (const std::string_view name : kPlaceNames) {
    const Path place = disk_.root() / name;
    const auto inode = disk_.find(place);
    if (!inode) continue;
    for (const auto& [id, entry] : disk_.node(*inode).entries) {
      const bool is_directory = disk_.node(entry).is_directory;
      const bool is_it = is_directory ? tag_of(place / id) == tag : id == tag + ".elf";
      if (is_it) found.push_back(place / id);
    }
  }
  const Path intake = disk_.root() / kTmpName / (std::string(kIntakePrefix) + tag);
  if (disk_.find(intake / kProgramFile)) found.push_back(intake);
  return found;
}

void Ledger::violate(const std::string& what) {
  violations_.push_back("life " + std::to_string(life) + ", " +
                        std::to_string(disk_.scheduler().now_s()) + " s: " + what);
}

void Ledger::check_places(bool is_end) {
  for (const auto& [tag, job] : jobs_) {
    const std::vector<Path> places = places_of(tag);
    if (places.size() > 1) {
      violate(tag + " is in two places: " + places[0].string() + " and " + places[1].string());
      continue;
    }
    if (places.empty()) {
      if (job.is_certain && !job.may_be_removed) violate(tag + " is lost");
      continue;
    }
    const std::string place = places[0].parent_path().filename().string();
    const bool is_waiting = place == "incoming" || place == "active" || place == kTmpName;
    if (job.was_done && place != "done") violate(tag + " was done and is in " + place);
    if (place == "cancelled" && !job.was_cancelled) violate(tag + " was never cancelled");
    if (place == "hold" && !job.was_held) violate(tag + " was never held");
    if (job.must_be_cancelled && place != "cancelled") violate(tag + " was cancelled, is " + place);
    if (job.must_be_held && place != "hold") violate(tag + " was held and is in " + place);
    if (is_end && is_waiting && job.is_certain) violate(tag + " still waits in " + place);
    for (size_t i = 0; i < kPlaceNames.size(); ++i) {
      if (place == kPlaceNames[i]) check_answer(places[0], tag, static_cast<Place>(i));
    }
  }
}

void Ledger::check_answer(const Path& job, const std::string& tag, Place place) {
  const Job& known = jobs_.at(tag);
  if (known.may_be_half) return;
  if (place == Place::kDone) check_done(job, tag);
  if (place == Place::kFailed || place == Place::kQuarantine) check_failed(job, tag, place);
  if (!known.is_certain || !disk_.node(*disk_.find(job)).is_directory) return;
  if (bytes_of(job / kProgramFile) != to_bytes(known.elf)) violate(tag + ": another program");
  if (bytes_of(job / kInputFile).value_or(Bytes{}) != to_bytes(known.input)) {
    violate(tag + ": another input");
  }
}

void Ledger::check_done(const Path& job, const std::string& tag) {
  const Job& known = jobs_.at(tag);
  const auto bundle = bytes_of(job / kBundleFile);
  const auto text = bytes_of(job / kResultFile);
  if (!bundle || !text) return violate(tag + " is done without its answer");
  if (known.has_guest_fault) return violate(tag + ": a faulty run is done");
  const Bytes elf = to_bytes(known.elf), input = to_bytes(known.input);
  if (*bundle != expected.of(elf, input, config_.protocol).bundle) {
    violate(tag + ": wrong bytes in done/");
  }
  const auto result = nlohmann::json::parse(text_of(*text), nullptr, false);
  if (!result.is_object()) return violate(tag + ": half a result in done/");
  if (!result.contains("duplicate_of")) check_charges(tag, result);
}

void Ledger::check_failed(const Path& job, const std::string& tag, Place place) {
  const Job& known = jobs_.at(tag);
  const auto text = bytes_of(job / kReasonFile);
  if (!text && known.was_retried) return;  // a retry begins with taking the reason away
  const auto reason = nlohmann::json::parse(text_of(text.value_or(Bytes{})), nullptr, false);
  if (!reason.is_object()) return violate(tag + ": half a reason, or none");
  check_charges(tag, reason);
  if (place == Place::kQuarantine) {
    const bool is_spent = reason.value("failures", 0u) > config_.daemon.retries.failures ||
                          reason.value("crashes", 0u) > config_.daemon.retries.crashes;
    if (!is_spent) violate(tag + " is quarantined within its budget: " + reason.dump());
    return;
  }
  const std::string why = reason.value("reason", "");
  const bool may_time_out = config_.daemon.timeouts.prove_s > 0 || known.has_deadline;
  const bool is_expected =
      (why == "guest-fault" && known.has_guest_fault) || (why == "timeout" && may_time_out);
  if (!is_expected) violate(tag + " failed without a cause: " + reason.dump());
}

void Ledger::check_charges(const std::string& tag, const nlohmann::json& record) {
  const Job& known = jobs_.at(tag);
  const auto check = [&](const char* what, u32 least, u32 most) {
    const u32 count = record.value(what, 0u);
    // A directory whose fsync failed may take back what came after it.
    if (count >= (is_sync_certain ? least : 0) && count <= most) return;
    violate(tag + " is charged with " + std::to_string(count) + " " + what + ", not " +
            std::to_string(least) + " to " + std::to_string(most));
  };
  check("crashes", known.crashes_min, known.crashes_max);
  check("failures", known.failures_min, known.failures_max);
}

void Ledger::check_litter(const Path& directory, bool has_ended, bool is_done) {
  const auto entries = disk_.node(*disk_.find(directory)).entries;
  for (const auto& [name, inode] : entries) {
    if (name.starts_with(kCancelFile)) continue;  // came while the job was on its way out
    const bool is_working_file = name == kStateFile || name == kRunningFile ||
                                 name == kAttemptsFile || (is_done && name == kEpochsName);
    if (name.ends_with(kTemporarySuffix) || (has_ended && is_working_file)) {
      violate("left behind: " + (directory / name).string());
    }
    if (disk_.node(inode).is_directory) check_litter(directory / name, has_ended, is_done);
  }
}

void Ledger::check_end() {
  check_places(true);
  for (size_t i = 0; i < kPlaceNames.size(); ++i) {
    const Place place = static_cast<Place>(i);
    check_litter(place_path(disk_.root(), place),
                 place != Place::kIncoming && place != Place::kHold, place == Place::kDone);
  }
}

void Ledger::check_proving(const std::string& tag, const Path& job, const JobKey& key, u64 label) {
  const std::string what = tag + ": epoch " + std::to_string(label);
  Job& known = jobs_[tag];
  if (has_faults || known.may_be_half) return;
  if (disk_.find(job / kEpochsName / label_file_name(label, kEpochSuffix))) {
    violate(what + " is proved though it is stored");
  }
  check_equal(tag, key);
  const auto before = known.proved.find(label);
  if (before == known.proved.end() || last_fault_s >= before->second.time_s) return;
  // The first end of a life since then is what may have taken it.
  const auto end = std::find_if(ends.begin(), ends.end(), [&](const LifeEnd& one) {
    return one.life >= before->second.life;
  });
  const bool is_excused =
      end != ends.end() && end->is_crash && end->time_s - before->second.time_s < kDurableAfter_s;
  if (!is_excused) violate(what + " is proved again for no reason");
}

void Ledger::check_resumed(const std::string& tag, const Path& job, u64 label) {
  for (u64 one = 1; one <= label; ++one) {
    const Path path = job / kEpochsName / label_file_name(one, kEpochSuffix);
    const auto inode = disk_.find_durable(path);
    if (inode && disk_.node(*inode).bytes == disk_.node(*inode).durable_bytes) continue;
    if (!is_sync_certain) continue;
    violate(tag + " goes on after epoch " + std::to_string(label) + " though epoch " +
            std::to_string(one) + " is not durable");
  }
}

void Ledger::check_naming(const Path& path) {
  if (path.extension() != kCheckpointSuffix) return;
  size_t count = 1;
  for (const auto& [name, inode] : disk_.node(*disk_.find(path.parent_path())).entries) {
    count += name.ends_with(kCheckpointSuffix) && name != path.filename();
  }
  if (count > 2 && !has_faults) violate("a third checkpoint: " + path.string());
}

std::optional<nlohmann::json> Ledger::result_of(const std::string& tag) const {
  for (const Path& place : places_of(tag)) {
    if (place.parent_path().filename() != "done") continue;
    const auto text = bytes_of(place / kResultFile);
    if (text) return nlohmann::json::parse(text_of(*text), nullptr, false);
  }
  return std::nullopt;
}

void Ledger::check_usage(const std::string& tag, u64 proofs_of_cpu) {
  const auto result = result_of(tag);
  if (!result || !result->is_object() || result->contains("duplicate_of")) return;
  const BackendPolicy policy = jobs_[tag].policy;
  const u64 fallback = (*result)["counters"].value("fallback", u64{0});
  const std::string backend = result->value("backend", "");
  if (policy == BackendPolicy::kCudaRequired && backend != "cuda") {
    violate(tag + " requires a device and was proved on " + backend);
  }
  if (policy == BackendPolicy::kCpu) proofs_of_cpu = 0;  // in nobody's place
  if (fallback == proofs_of_cpu) return;
  violate(tag + " counts " + std::to_string(fallback) + " proofs in the device's place, not " +
          std::to_string(proofs_of_cpu));
}

void Ledger::check_equal(const std::string& tag, const JobKey& key) {
  for (const auto& [other, other_key] : keys) {
    if (other == tag || other_key != key || !jobs_[other].was_done) continue;
    for (const Path& place : places_of(other)) {
      if (place.parent_path().filename() != "done") continue;
      violate(tag + " is proved though its equal " + other + " is done");
    }
  }
}

}  // namespace epochd::simulation
