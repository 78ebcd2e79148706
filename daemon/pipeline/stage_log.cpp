#include "daemon/pipeline/stage_log.hpp"

#include <nlohmann/json.hpp>

namespace epochd {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

TraceFile::TraceFile(FileSystem& fs, const Path& path)
    : fs_(fs), path_(path), file_(fs.create_file(path)), buffer_("[") {}

u32 TraceFile::row_of(const std::string& row) {
  const auto [found, is_new] = rows_.emplace(row, static_cast<u32>(rows_.size()));
  const u32 number = found->second;
  if (is_new) {
    const nlohmann::json name = {{"ph", "M"},
                                 {"name", "thread_name"},
                                 {"pid", 1},
                                 {"tid", number},
                                 {"args", {{"name", row}}}};
    write(name.dump());
    const nlohmann::json order = {{"ph", "M"},
                                  {"name", "thread_sort_index"},
                                  {"pid", 1},
                                  {"tid", number},
                                  {"args", {{"sort_index", number}}}};
    write(order.dump());
  }
  return number;
}

void TraceFile::add(const std::string& row, const StageSpan& span, u64 label) {
  const auto microseconds = [](i64 ns) {
    return static_cast<double>(ns) / kNanosecondsPerMicrosecond;
  };
  nlohmann::json event = {{"ph", "X"},
                          {"name", span.name},
                          {"pid", 1},
                          {"tid", row_of(row)},
                          {"ts", microseconds(span.begin_ns - start_ns_)},
                          {"dur", microseconds(span.end_ns - span.begin_ns)}};
  if (label > 0) event["args"] = {{"epoch", label}};
  write(event.dump());
}

void TraceFile::write(const std::string& event) {
  buffer_ += (buffer_ == "[" ? "\n" : ",\n") + event;
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceFile::flush() {
  if (error_) return;
  try {
    fs_.write(file_, path_, as_bytes(buffer_));
  } catch (...) {
    error_ = std::current_exception();
  }
  buffer_.clear();
}

void TraceFile::close() {
  buffer_ += "\n]\n";
  flush();
  if (error_) std::rethrow_exception(error_);
}

void StageLog::add(const std::string& row, const StageSpan& span, u64 label) {
  const std::lock_guard lock(mutex_);
  total_ns_[span.name] += span.end_ns - span.begin_ns;
  if (trace_ != nullptr) trace_->add(row, span, label);
}

std::map<std::string, double> StageLog::seconds() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, double> seconds;
  for (const auto& [name, ns] : total_ns_) {
    seconds[name] = static_cast<double>(ns) / kNanosecondsPerSecond;
  }
  return seconds;
}

}  // namespace epochd
