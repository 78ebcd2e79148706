#include "config/config.hpp"

#include "config/time_text.hpp"

namespace epochd {
namespace {

constexpr i64 kSecondsMax = 30 * 24 * 3600;
constexpr i64 kAgeingSecondsMax = 24 * 3600;
constexpr i64 kDaysMax = 36500;
constexpr i64 kStoreBytesMax = i64{1} << 60;

template <class Target>
void add_protocol_keys(Schema& schema, const std::string& prefix, Target& target) {
  schema.push_back(integer_key(prefix + "epoch_size_log2", target.epoch_size_log2,
                               kEpochSizeLog2Min, kEpochSizeLog2Max));
  schema.push_back(bool_key(prefix + "continuations", target.continuations));
  schema.push_back(
      choice_key<SecurityPreset>(prefix + "security", target.security, kSecurityPresetNames));
}

void add_memory_keys(Schema& schema, MemorySettings& memory) {
  schema.push_back(integer_key("memory.host_bytes", memory.host_bytes, 0, kStoreBytesMax));
  schema.push_back(integer_key("memory.device_bytes", memory.device_bytes, 0, kStoreBytesMax));
  schema.push_back(integer_key("memory.pinned_bytes", memory.pinned_bytes, 0, kStoreBytesMax));
}

void add_service_keys(Schema& schema, DaemonSettings& daemon) {
  RetentionSettings& retention = daemon.retention;
  schema.push_back(integer_key("retention.done_days", retention.done_days, 0, kDaysMax));
  schema.push_back(integer_key("retention.done_bytes", retention.done_bytes, 0, kStoreBytesMax));
  schema.push_back(integer_key("retention.failed_days", retention.failed_days, 0, kDaysMax));
  schema.push_back(
      integer_key("retention.failed_bytes", retention.failed_bytes, 0, kStoreBytesMax));
  schema.push_back(bool_key("http.enabled", daemon.http.enabled));
  schema.push_back(make_address_key("http.address", daemon.http.address));
  schema.push_back(integer_key("http.port", daemon.http.port, 0, 65535));
  JemallocSettings& jemalloc = daemon.jemalloc;
  schema.push_back(bool_key("jemalloc.background_threads", jemalloc.background_threads));
  schema.push_back(bool_key("jemalloc.purge_after_job", jemalloc.purge_after_job));
}

template <class T, class MakeSchema>
Result<T, Diagnostics> parse_file(const std::string& file, const std::string& text,
                                  size_t bytes_max, MakeSchema make_schema) {
  if (text.size() > bytes_max) {
    return Unexpected{Diagnostics{
        {file, 0, 0,
         "is longer than " + std::to_string(bytes_max) + " bytes; it is not a settings file"}}};
  }
  T parsed;
  Diagnostics findings = read_yaml(file, text, make_schema(parsed));
  if (!findings.empty()) return Unexpected{std::move(findings)};
  return parsed;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Schema config_schema(Config& target) {
  DaemonSettings& daemon = target.daemon;
  Schema schema;
  schema.push_back(make_path_key("queue", daemon.queue));
  schema.push_back(integer_key("rescan_s", daemon.rescan_s, 1, 3600));
  schema.push_back(integer_key("jobs_at_once", daemon.jobs_at_once, 1, kJobsAtOnceMax));
  schema.push_back(integer_key("ageing_s", daemon.ageing_s, 1, kAgeingSecondsMax));
  add_protocol_keys(schema, "protocol.", target.protocol);
  schema.push_back(choice_key<BackendPolicy>("backend", daemon.backend, kBackendPolicyNames));
  schema.push_back(make_numbers_key("devices", 0, kDeviceMax, daemon.devices));
  schema.push_back(choice_key<Residency>("residency", daemon.residency, kResidencyNames));
  schema.push_back(integer_key("threads", daemon.threads, 0, 1024));
  schema.push_back(integer_key("pipeline_depth", daemon.pipeline_depth, 1, kPipelineDepthMax));
  schema.push_back(
      integer_key("checkpoint_percent", daemon.checkpoint_percent, 0, kCheckpointPercentMax));
  add_memory_keys(schema, daemon.memory);
  schema.push_back(
      integer_key("cycle_limit", daemon.cycle_limit, 1, static_cast<i64>(kCycleLimitMax)));
  schema.push_back(integer_key("retries.failures", daemon.retries.failures, 0, 1000));
  schema.push_back(integer_key("retries.crashes", daemon.retries.crashes, 0, 1000));
  schema.push_back(integer_key("retries.delay_s", daemon.retries.delay_s, 0, 3600));
  schema.push_back(integer_key("timeouts.execute_s", daemon.timeouts.execute_s, 0, kSecondsMax));
  schema.push_back(integer_key("timeouts.prove_s", daemon.timeouts.prove_s, 0, kSecondsMax));
  schema.push_back(integer_key("timeouts.assemble_s", daemon.timeouts.assemble_s, 0, kSecondsMax));
  add_service_keys(schema, daemon);
  schema.push_back(choice_key<LogLevel>("log.level", daemon.log.level, kLogLevelNames));
  schema.push_back(choice_key<LogFormat>("log.format", daemon.log.format, kLogFormatNames));
  return schema;
}

Schema job_schema(JobSpec& target) {
  Schema schema;
  schema.push_back(make_text_key("name", kJobNameBytesMax, target.name));
  schema.push_back(integer_key("priority", target.priority, kPriorityMin, kPriorityMax));
  schema.push_back(make_time_key("deadline", target.deadline_unix));
  add_protocol_keys(schema, "", target.protocol);
  schema.push_back(choice_key<BackendPolicy>("backend", target.backend, kBackendPolicyNames));
  schema.push_back(choice_key<Residency>("residency", target.residency, kResidencyNames));
  schema.push_back(
      integer_key("cycle_limit", target.cycle_limit, 1, static_cast<i64>(kCycleLimitMax)));
  return schema;
}

Result<Config, Diagnostics> parse_config(const std::string& file, const std::string& text) {
  return parse_file<Config>(file, text, kConfigBytesMax, config_schema);
}

Result<JobSpec, Diagnostics> parse_job(const std::string& file, const std::string& text) {
  return parse_file<JobSpec>(file, text, kJobFileBytesMax, job_schema);
}

std::string job_yaml(const JobSpec& spec) {
  std::string text;
  const auto line = [&](const std::string& key, const std::string& value) {
    text += key + ": " + value + "\n";
  };
  const auto named = [](const auto& names, auto value) {
    return std::string(names[static_cast<size_t>(value)]);
  };
  if (!spec.name.empty()) line("name", quoted(spec.name));
  line("priority", std::to_string(spec.priority));
  if (spec.deadline_unix) line("deadline", format_utc_time(*spec.deadline_unix));
  const ProtocolOverrides& protocol = spec.protocol;
  if (protocol.epoch_size_log2) line("epoch_size_log2", std::to_string(*protocol.epoch_size_log2));
  if (protocol.continuations) line("continuations", *protocol.continuations ? "true" : "false");
  if (protocol.security) line("security", named(kSecurityPresetNames, *protocol.security));
  if (spec.backend) line("backend", named(kBackendPolicyNames, *spec.backend));
  if (spec.residency) line("residency", named(kResidencyNames, *spec.residency));
  if (spec.cycle_limit) line("cycle_limit", std::to_string(*spec.cycle_limit));
  return text;
}

std::vector<std::string> keys_fixed_while_running(const Config& running, const Config& wanted) {
  const DaemonSettings& a = running.daemon;
  const DaemonSettings& b = wanted.daemon;
  std::vector<std::string> keys;
  const auto compare = [&](const char* key, bool is_equal) {
    if (!is_equal) keys.emplace_back(key);
  };
  compare("queue", a.queue == b.queue);
  compare("jobs_at_once", a.jobs_at_once == b.jobs_at_once);
  compare("backend", a.backend == b.backend);
  compare("devices", a.devices == b.devices);
  compare("residency", a.residency == b.residency);
  compare("http.enabled", a.http.enabled == b.http.enabled);
  compare("http.address", a.http.address == b.http.address);
  compare("http.port", a.http.port == b.http.port);
  compare("jemalloc.background_threads",
          a.jemalloc.background_threads == b.jemalloc.background_threads);
  return keys;
}

Config with_fixed_settings_of(const Config& running, Config wanted) {
  wanted.daemon.queue = running.daemon.queue;
  wanted.daemon.jobs_at_once = running.daemon.jobs_at_once;
  wanted.daemon.backend = running.daemon.backend;
  wanted.daemon.devices = running.daemon.devices;
  wanted.daemon.residency = running.daemon.residency;
  wanted.daemon.http = running.daemon.http;
  wanted.daemon.jemalloc.background_threads = running.daemon.jemalloc.background_threads;
  return wanted;
}

ProtocolSettings resolve_protocol(const ProtocolSettings& config_file,
                                  const Environment& environment, const ProtocolOverrides& job_file,
                                  const ProtocolOverrides& flags) {
  ProtocolSettings resolved = config_file;
  environment.protocol.apply_to(resolved);
  job_file.apply_to(resolved);
  flags.apply_to(resolved);
  return resolved;
}

}  // namespace epochd
