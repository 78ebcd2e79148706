#include "daemon/log/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "daemon/log/flood_gate.hpp"

namespace epochd::log {

class Context {
 public:
  explicit Context(std::string_view job) : job_(job) {}
  void set_stage(std::string_view stage) {
    const std::lock_guard lock(mutex_);
    stage_ = stage;
  }
  const std::string& job() const { return job_; }
  std::string stage() const {
    const std::lock_guard lock(mutex_);
    return stage_;
  }

 private:
  const std::string job_;
  mutable std::mutex mutex_;
  std::string stage_;
};

namespace {

thread_local std::shared_ptr<Context> own_context;

/// As syslog numbers them.
char priority_digit(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return '7';
    case spdlog::level::warn:
      return '4';
    case spdlog::level::err:
    case spdlog::level::critical:
      return '3';
    default:
      return '6';
  }
}

/// What journald takes off a line's start again.
class PriorityPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const char prefix[] = {'<', priority_digit(message.level), '>'};
    line.append(prefix, prefix + sizeof(prefix));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityPrefix>();
  }
};

std::shared_ptr<spdlog::logger> make_logger(LogFormat format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (std::getenv("NO_COLOR") != nullptr) sink->set_color_mode(spdlog::color_mode::never);
  const std::string pattern = format == LogFormat::kText
                                  ? "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v"
                                  : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<PriorityPrefix>('*');
  formatter->set_pattern(is_journal() ? "%*" + pattern : pattern);
  sink->set_formatter(std::move(formatter));
  auto logger = std::make_shared<spdlog::logger>("epochd", std::move(sink));
  logger->set_level(spdlog::level::trace);  // who writes has asked for the level already
  return logger;
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

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What records are about, and how they are written. Threads: any.
class State {
 public:
  State() : loggers_{make_logger(LogFormat::kText), make_logger(LogFormat::kJson)} {}

  void configure(const LogSettings& settings) {
    level_ = settings.level;
    format_ = settings.format;
  }
  LogSettings settings() const { return {level_, format_}; }

  template <class Use>
  auto with_gate(Use use) {
    const std::lock_guard lock(mutex_);
    return use(gate_);
  }

  void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
    std::vector<Field> all(fields);
    add_context(all);
    const LogFormat format = format_;
    spdlog::logger& logger = *loggers_[static_cast<size_t>(format)];
    logger.log(spdlog_level(level), "{}", format_record(format, message, all));
  }

 private:
  static void add_context(std::vector<Field>& fields) {
    if (!own_context) return;
    const auto add = [&](std::string_view key, const std::string& value) {
      const bool is_there = std::any_of(fields.begin(), fields.end(),
                                        [&](const Field& field) { return field.key() == key; });
      if (!is_there && !value.empty()) fields.emplace_back(key, value);
    };
    add("job", own_context->job());
    add("stage", own_context->stage());
  }

  std::array<std::shared_ptr<spdlog::logger>, kLogFormatNames.size()> loggers_;
  std::atomic<LogLevel> level_ = LogSettings{}.level;
  std::atomic<LogFormat> format_ = LogSettings{}.format;
  std::mutex mutex_;
  FloodGate gate_;
};

State& state() {
  static State instance;
  return instance;
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

bool is_journal_stream(const char* stream, int fd) {
  struct ::stat status {};
  if (stream == nullptr || ::fstat(fd, &status) != 0) return false;
  return stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

bool is_journal() {
  return is_journal_stream(std::getenv("JOURNAL_STREAM"), STDERR_FILENO);
}

void configure(LogLevel level, LogFormat format) {
  state().configure({level, format});
}

LogSettings configured() {
  return state().settings();
}

void set_job(std::string_view id) {
  own_context = id.empty() ? nullptr : std::make_shared<Context>(id);
}

void set_stage(std::string_view stage) {
  if (own_context) own_context->set_stage(stage);
}

std::shared_ptr<Context> context() {
  return own_context;
}

void join(std::shared_ptr<Context> context) {
  own_context = std::move(context);
}

std::string format_record(LogFormat format, std::string_view message,
                          std::span<const Field> fields) {
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

std::string format_record(LogFormat format, std::string_view message,
                          std::initializer_list<Field> fields) {
  return format_record(format, message, std::span(fields.begin(), fields.size()));
}

void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < state().settings().level) return;
  if (level >= LogLevel::kWarn) {
    tell_left_out();
    if (!state().with_gate([&](FloodGate& gate) { return gate.pass(message, now_s()); })) return;
  }
  state().write(level, message, fields);
}

void tell_left_out(bool all) {
  const auto left_out =
      state().with_gate([&](FloodGate& gate) { return gate.take_left_out(now_s(), all); });
  for (const FloodGate::LeftOut& one : left_out) {
    state().write(LogLevel::kWarn, "records were left out, because they repeated too fast",
                  {{"record", one.message}, {"count", one.count}});
  }
}

u64 suppressed_total() {
  return state().with_gate([](const FloodGate& gate) { return gate.left_out_total(); });
}

}  // namespace epochd::log
