// The only door to logging. A record is a constant message and named values, so that text and JSON
// output say the same thing and a search for the message finds the line of code. Inputs of jobs are
// never logged.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "config/daemon_settings.hpp"

namespace epochd::log {

/// One named value of a record.
class Field {
 public:
  using Value = std::variant<std::string, i64, u64, double, bool>;

  Field(std::string_view key, std::string value) : key_(key), value_(std::move(value)) {}
  Field(std::string_view key, std::string_view value) : Field(key, std::string(value)) {}
  Field(std::string_view key, const char* value) : Field(key, std::string(value)) {}
  Field(std::string_view key, bool value) : key_(key), value_(value) {}
  Field(std::string_view key, double value) : key_(key), value_(value) {}
  template <std::signed_integral T>
  Field(std::string_view key, T value) : key_(key), value_(static_cast<i64>(value)) {}
  template <std::unsigned_integral T>
  Field(std::string_view key, T value) : key_(key), value_(static_cast<u64>(value)) {}

  std::string_view key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

/// True when stderr is journald's, by the name that systemd gives the stream ("device:inode"). A
/// line is then begun with its priority, "<3>" of an error, so that journalctl -p finds it.
bool is_journal();
bool is_journal_stream(const char* stream, int fd);

/// Records go to stderr. Before the first call: level info, text. Threads: any.
void configure(LogLevel level, LogFormat format);
/// What was configured last: for a process that is to log in the same way.
LogSettings configured();

/// What a thread is at: its records that do not name a job or a stage themselves get these. A new
/// job, "" for none, has no stage.
void set_job(std::string_view id);
void set_stage(std::string_view stage);

/// A job and its stage, shared by the threads that work on it. Threads: any.
class Context;
/// The calling thread's; null where there is none.
std::shared_ptr<Context> context();
/// The calling thread works on that from now on: for a thread that another one starts.
void join(std::shared_ptr<Context> context);

/// Of warnings and errors with the same message, the first 20 in ten seconds are written and the
/// others counted; a record with the count follows (daemon/log/flood_gate.hpp). Threads: any.
void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(LogLevel::kDebug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(LogLevel::kInfo, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(LogLevel::kWarn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(LogLevel::kError, message, fields);
}

/// Writes the counts of what was left out: of the windows that are over, or all.
/// Threads: any.
void tell_left_out(bool all = false);
/// Records left out since the start. Threads: any.
u64 suppressed_total();

/// What follows the level in a line of either format; for tests.
std::string format_record(LogFormat format, std::string_view message,
                          std::span<const Field> fields);
std::string format_record(LogFormat format, std::string_view message,
                          std::initializer_list<Field> fields);

}  // namespace epochd::log
