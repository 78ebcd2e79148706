// The only door to logging. A record is a constant message and named values, so that text and JSON
// output say the same thing and a search for the message finds the line of code. Inputs of jobs are
// never logged.
#pragma once

#include <concepts>
#include <initializer_list>
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

/// Records go to stderr. Before the first call: level info, text.
/// Threads: call before other threads log.
void configure(LogLevel level, LogFormat format);

/// Threads: any.
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

/// What follows the level in a line of either format; for tests.
std::string format_record(LogFormat format, std::string_view message,
                          std::initializer_list<Field> fields);

}  // namespace epochd::log
