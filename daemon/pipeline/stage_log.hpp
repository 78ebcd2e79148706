// Where the time of a job goes: what its stages took together, and, where asked for, every stage
// as an event of a trace that chrome://tracing and Perfetto show. Memory does not grow with them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "daemon/pipeline/stage_spans.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

/// A trace in the JSON array format of Chrome: complete events, a row for everything that does one
/// thing at a time. Threads: one at a time.
class TraceFile {
 public:
  /// Errors: IoError.
  TraceFile(FileSystem& fs, const Path& path);
  /// Rows are made as they appear. `label`: the epoch, 0 for none. What cannot be written is kept
  /// for close() to say.
  void add(const std::string& row, const StageSpan& span, u64 label);
  /// Completes the file. Errors: IoError, of any write.
  void close();

 private:
  u32 row_of(const std::string& row);
  void write(const std::string& event);
  void flush();

  FileSystem& fs_;
  Path path_;
  FileHandle file_;
  std::string buffer_;
  std::map<std::string, u32> rows_;
  i64 start_ns_ = monotonic_ns();
  std::exception_ptr error_;
};

/// Threads: any.
class StageLog {
 public:
  /// `trace` may be null, and outlives this.
  explicit StageLog(TraceFile* trace = nullptr) : trace_(trace) {}

  void add(const std::string& row, const StageSpan& span, u64 label = 0);
  /// By name. Stages that contain others count them too.
  std::map<std::string, double> seconds() const;

 private:
  mutable std::mutex mutex_;
  TraceFile* trace_;
  std::map<std::string, i64> total_ns_;
};

/// One stage from its construction to the end of the scope.
class LoggedStage {
 public:
  LoggedStage(StageLog& log, std::string row, std::string name, u64 label = 0)
      : log_(log), row_(std::move(row)), label_(label), span_{std::move(name), monotonic_ns()} {}
  ~LoggedStage() {
    span_.end_ns = monotonic_ns();
    log_.add(row_, span_, label_);
  }
  LoggedStage(const LoggedStage&) = delete;
  LoggedStage& operator=(const LoggedStage&) = delete;

 private:
  StageLog& log_;
  std::string row_;
  u64 label_;
  StageSpan span_;
};

}  // namespace epochd
