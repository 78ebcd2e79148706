#include "daemon/log/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace epochd::log {
namespace {

struct State {
  LogFormat format = LogFormat::kText;
  std::shared_ptr<spdlog::logger> logger;
};

std::shared_ptr<spdlog::logger> make_logger(LogFormat format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (std::getenv("NO_COLOR") != nullptr) sink->set_color_mode(spdlog::color_mode::never);
  const char* pattern = format == LogFormat::kText
                            ? "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v"
                            : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  return std::make_shared<spdlog::logger>("epochd", std::move(sink));
}

State& state() {
  static State instance{LogFormat::kText, make_logger(LogFormat::kText)};
  return instance;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::off;
}

nlohmann::json to_json(const Field& field) {
  return std::visit([](const auto& value) { return nlohmann::json(value); }, field.value());
}

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A value as text: a word stays as it is; anything else is written as a JSON string, on one line.
std::string to_word(const Field& field) {
  const nlohmann::json value = to_json(field);
  const std::string text = dump(value);
  if (!value.is_string()) return text;
  const std::string inner = text.substr(1, text.size() - 2);
  const bool is_word = !inner.empty() && std::none_of(inner.begin(), inner.end(), [](char c) {
    return c == ' ' || c == '"' || c == '\\' || c == '=';
  });
  return is_word ? inner : text;
}

}  // namespace

void configure(LogLevel level, LogFormat format) {
  state().format = format;
  state().logger = make_logger(format);
  state().logger->set_level(spdlog_level(level));
}

std::string format_record(LogFormat format, std::string_view message,
                          std::initializer_list<Field> fields) {
  std::string record;
  if (format == LogFormat::kText) {
    record = message;
    for (const Field& field : fields) {
      record.append(" ").append(field.key()).append("=").append(to_word(field));
    }
    return record;
  }
  record = "\"message\":" + dump(std::string(message));
  for (const Field& field : fields) {
    record.append(",\"").append(field.key()).append("\":").append(dump(to_json(field)));
  }
  return record;
}

void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
  spdlog::logger& logger = *state().logger;
  if (!logger.should_log(spdlog_level(level))) return;
  logger.log(spdlog_level(level), "{}", format_record(state().format, message, fields));
}

}  // namespace epochd::log
