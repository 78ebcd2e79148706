// A queue in a fresh directory, and a file system whose steps can be made to fail.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/queue/durable.hpp"
#include "daemon/queue/queue.hpp"

namespace epochd {

/// Removed with all it holds at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // In memory where possible: these tests call fsync thousands of times.
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;
    const Path parent = has_memory ? Path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "epochd-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
};

/// Records every changing step, and lets the n-th one (from 0), or every one on some file, fail.
/// Threads: any.
class FaultyFileSystem : public FileSystem {
 public:
  struct Event {
    Step step;
    std::string name;
    bool operator==(const Event&) const = default;
  };

  void fail_at(size_t index, int code) {
    fail_index_ = index;
    code_ = code;
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  bool has_failed() const { return has_failed_; }
  void clear() {
    const std::lock_guard lock(mutex_);
    events_.clear();
  }

 protected:
  void before(Step step, const Path& path) override {
    const std::lock_guard lock(mutex_);
    const size_t index = events_.size();
    events_.push_back({step, path.filename().string()});
    if (index != fail_index_) return;
    has_failed_ = true;
    throw IoError("pass the test's fault at", path, code_);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  size_t fail_index_ = ~size_t{0};
  int code_ = 0;
  std::atomic<bool> has_failed_ = false;
};

class QueueTest : public ::testing::Test {
 protected:
  Path root() const { return directory_.path(); }
  Path at(Place place) const { return place_path(root(), place); }

  void write(const Path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    fs_.write(fs_.create_file(path), path, as_bytes(text));
  }
  std::string read(const Path& path) { return fs_.read_text(path, 1 << 20); }

  /// A job directory, as a submitter renames it in.
  void add_job(const std::string& id, const std::string& job_file = "",
               Place place = Place::kIncoming) {
    write(at(place) / id / kProgramFile, "program of " + id);
    write(at(place) / id / kJobFile, job_file);
  }

  /// Everywhere the job is.
  std::vector<std::string> places_of(const std::string& id) {
    std::vector<std::string> places;
    for (const std::string_view name : kPlaceNames) {
      if (std::filesystem::exists(root() / name / id)) places.emplace_back(name);
    }
    return places;
  }

  TemporaryDirectory directory_;
  FileSystem fs_;
};

}  // namespace epochd
