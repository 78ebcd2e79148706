#include <algorithm>
#include <chrono>
#include <random>

#include "config/config.hpp"
#include "config/time_text.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/job_id.hpp"
#include "daemon/queue/owner.hpp"
#include "daemon/queue/queue.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

/// "fib-20261201T100000Z-1f3a5c": readable, in order of time, and not met twice.
std::string make_id(const std::string& name) {
  const auto now = std::chrono::system_clock::now();
  std::string time = format_utc_time(
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  std::random_device random;
  char tail[16];
  std::snprintf(tail, sizeof(tail), "-%06x", random() & 0xffffffu);
  return to_job_id(name.substr(0, kJobNameBytesMax)) + "-" + time + tail;
}

/// Removes the half made job unless it was handed over.
class TemporaryJob {
 public:
  TemporaryJob(FileSystem& fs, Path path) : fs_(fs), path_(std::move(path)) {
    fs_.make_directory(path_);
  }
  ~TemporaryJob() {
    try {
      fs_.remove_tree(path_);
    } catch (...) {  // it stays in tmp/, where nothing looks for jobs
    }
  }
  TemporaryJob(const TemporaryJob&) = delete;
  TemporaryJob& operator=(const TemporaryJob&) = delete;
  const Path& path() const { return path_; }

 private:
  FileSystem& fs_;
  Path path_;
};

/// Does the directory hold anything a queue does not?
bool has_foreign_entry(FileSystem& fs, const Path& root) {
  for (const Entry& entry : fs.list(root)) {
    const bool is_place =
        std::find(kPlaceNames.begin(), kPlaceNames.end(), entry.name) != kPlaceNames.end();
    if (!is_place && entry.name != kTmpName && entry.name != kLockName) return true;
  }
  return false;
}

}  // namespace

void require_queue(FileSystem& fs, const Path& root) {
  const auto entry = fs.stat(root);
  if (!entry) {
    throw NotAQueue("there is no queue at '" + root.string() +
                    "'; create the directory, or name the one epochd serves with --queue");
  }
  if (!fs.exists(place_path(root, Place::kIncoming)) && has_foreign_entry(fs, root)) {
    throw NotAQueue("'" + root.string() +
                    "' is not a queue directory: it has other files and no incoming/; name the "
                    "one epochd serves with --queue");
  }
  complete_queue_directories(fs, root);
}

std::string submit_job(FileSystem& fs, const Path& root, const SubmitRequest& request) {
  // Whoever submits may read them; the queue's owner need not.
  const FileHandle program = fs.open_for_reading(request.program, Links::kFollow);
  FileHandle input;
  if (request.input) input = fs.open_for_reading(*request.input, Links::kFollow);
  const AsQueueOwner owner(root);
  require_queue(fs, root);
  const std::string name =
      request.spec.name.empty() ? request.program.stem().string() : request.spec.name;
  const std::string id = request.id.empty() ? make_id(name) : request.id;
  const TemporaryJob job(fs, root / kTmpName / id);
  copy_file(fs, program, request.program, job.path() / kProgramFile);
  if (request.input) copy_file(fs, input, *request.input, job.path() / kInputFile);
  replace_file(fs, job.path() / kJobFile, as_bytes(job_yaml(request.spec)));
  const Path target = place_path(root, Place::kIncoming) / id;
  if (move_no_replace(fs, job.path(), target) != FileSystem::Moved::kYes) {
    throw IoError("submit the job as", target, EEXIST);
  }
  return id;
}

}  // namespace epochd
