// Lone NAME.elf files (with NAME.input beside them) become job directories.
//
// The program is moved first into tmp/.intake-NAME/, then the input, then the directory into
// incoming/. Every step can be repeated, so a crash in between is finished by the next start,
// whatever it left.
#include "config/config.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/job_id.hpp"
#include "daemon/queue/queue.hpp"

namespace epochd {
namespace {

constexpr std::string_view kElfSuffix = ".elf";
constexpr std::string_view kInputSuffix = ".input";

bool has_suffix(const std::string& name, std::string_view suffix) {
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

void Queue::finish_interrupted_intakes() {
  for (const Entry& entry : fs_.list(root_ / kTmpName)) {
    const bool is_intake = entry.kind == Entry::Kind::kDirectory &&
                           entry.name.compare(0, kIntakePrefix.size(), kIntakePrefix) == 0;
    if (is_intake) complete_intake(entry.name.substr(kIntakePrefix.size()));
  }
}

void Queue::take_in_lone_programs() {
  const Path incoming = place_path(root_, Place::kIncoming);
  for (const Entry& entry : fs_.list(incoming)) {
    if (entry.kind != Entry::Kind::kFile || entry.name.front() == '.') continue;
    if (has_suffix(entry.name, kInputSuffix)) continue;  // waits for its program
    if (!has_suffix(entry.name, kElfSuffix)) {
      warn_once(entry.name, "neither a job directory nor NAME.elf nor NAME.input; left alone");
      continue;
    }
    const std::string name = entry.name.substr(0, entry.name.size() - kElfSuffix.size());
    const Path input = incoming / (name + std::string(kInputSuffix));
    if (fs_.is_being_written(incoming / entry.name) || fs_.is_being_written(input)) {
      warn_once(entry.name, "still open for writing; waiting for it");
      continue;
    }
    complete_intake(name);
  }
}

void Queue::complete_intake(const std::string& name) {
  const Path incoming = place_path(root_, Place::kIncoming);
  const Path tmp = root_ / kTmpName;
  const Path job = tmp / (std::string(kIntakePrefix) + name);
  fs_.make_directory(job);
  fs_.sync_directory(tmp);  // also when it was there: whoever made it may have died before this
  fs_.rename_no_replace(incoming / (name + std::string(kElfSuffix)), job / kProgramFile);
  if (!fs_.exists(job / kProgramFile)) {
    fs_.remove_tree(job);  // the submitter took the program back
    return;
  }
  fs_.rename_no_replace(incoming / (name + std::string(kInputSuffix)), job / kInputFile);
  JobSpec spec;
  spec.name = to_job_id(name).substr(0, kJobNameBytesMax);
  replace_file(fs_, job / kJobFile, as_bytes(job_yaml(spec)));  // makes the directory durable too
  fs_.sync_directory(incoming);
  const std::string id = put_into_incoming(job, to_job_id(name));
  log::info("program taken in", {{"file", name + std::string(kElfSuffix)}, {"job", id}});
}

std::string Queue::put_into_incoming(const Path& job, const std::string& wanted_id) {
  const Path incoming = place_path(root_, Place::kIncoming);
  std::string id = wanted_id;
  for (u32 number = 2;; ++number) {
    const bool is_free = !is_known(id);
    if (is_free) {
      const auto moved = move_no_replace(fs_, job, incoming / id);
      if (moved == FileSystem::Moved::kYes) return id;
      if (moved == FileSystem::Moved::kSourceGone) throw IoError("move the job", job, ENOENT);
    }
    id = to_alternative_id(wanted_id, number);
  }
}

}  // namespace epochd
