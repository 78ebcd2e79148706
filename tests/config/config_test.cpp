// Settings files: what is read, and the exact words for everything that is refused.
#include "config/config.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace epochd {
namespace {

std::string errors_of(const std::string& text) {
  const auto parsed = parse_config("f.yaml", text);
  return parsed ? "" : to_text(parsed.error());
}

std::string job_errors_of(const std::string& text) {
  const auto parsed = parse_job("job.yaml", text);
  return parsed ? "" : to_text(parsed.error());
}

std::string shipped_default() {
  std::ifstream file(EPOCHD_SOURCE_DIR "/config/epochd.yaml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Config, EmptyFileIsTheDefault) {
  EXPECT_EQ(*parse_config("f.yaml", ""), Config{});
  EXPECT_EQ(*parse_config("f.yaml", "# only a comment\n"), Config{});
}

TEST(Config, ShippedFileIsTheDefaultAndNamesEveryKey) {
  const std::string text = shipped_default();
  ASSERT_GT(text.size(), 500u);
  const auto parsed = parse_config("config/epochd.yaml", text);
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  EXPECT_EQ(*parsed, Config{});
  Config scratch;
  const Schema schema = config_schema(scratch);
  std::vector<std::string> given;
  ASSERT_TRUE(read_yaml("f", text, schema, &given).empty());
  for (const Key& key : schema) {
    EXPECT_EQ(std::count(given.begin(), given.end(), key.path), 1) << key.path;
  }
}

TEST(Config, ReadsEveryKey) {
  const auto parsed = parse_config("f.yaml", R"(
queue: /srv/q/../queue
rescan_s: 7
jobs_at_once: 5
ageing_s: 8
protocol: {epoch_size_log2: 18, continuations: false, security: proven128-fast}
backend: cuda-preferred
devices: [3, 1]
residency: host-mirror
threads: 3
pipeline_depth: 9
checkpoint_percent: 13
memory: {host_bytes: 10, device_bytes: 11, pinned_bytes: 12}
cycle_limit: 1000
retries: {failures: 4, crashes: 5, delay_s: 6}
timeouts: {execute_s: 10, prove_s: 11, assemble_s: 12}
retention: {done_days: 1, done_bytes: 2, failed_days: 3, failed_bytes: 4}
http: {enabled: false, address: "::1", port: 80}
jemalloc: {background_threads: false, purge_after_job: false}
log: {level: debug, format: json}
)");
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  Config expected;
  expected.protocol = {18, false, SecurityPreset::kProven128Fast};
  expected.daemon.queue = "/srv/queue";
  expected.daemon.rescan_s = 7;
  expected.daemon.jobs_at_once = 5;
  expected.daemon.ageing_s = 8;
  expected.daemon.devices = {1, 3};
  expected.daemon.pipeline_depth = 9;
  expected.daemon.checkpoint_percent = 13;
  expected.daemon.memory = {10, 11, 12};
  expected.daemon.backend = BackendPolicy::kCudaPreferred;
  expected.daemon.residency = Residency::kHostMirror;
  expected.daemon.threads = 3;
  expected.daemon.cycle_limit = 1000;
  expected.daemon.retries = {4, 5, 6};
  expected.daemon.timeouts = {10, 11, 12};
  expected.daemon.retention = {1, 2, 3, 4};
  expected.daemon.http = {false, "::1", 80};
  expected.daemon.jemalloc = {false, false};
  expected.daemon.log = {LogLevel::kDebug, LogFormat::kJson};
  EXPECT_EQ(*parsed, expected);
}

TEST(Config, DevicesAreAllOrAList) {
  Config config;
  config.daemon.devices = {7};
  EXPECT_TRUE(read_yaml("f", "devices: all\n", config_schema(config)).empty());
  EXPECT_TRUE(config.daemon.devices.empty());
  EXPECT_TRUE(read_yaml("f", "devices:\n  - 2\n  - 0\n", config_schema(config)).empty());
  EXPECT_EQ(config.daemon.devices, (std::vector<int>{0, 2}));
  const std::string must =
      "f.yaml:1:10: 'devices' must be `all`, or a list such as [0, 1] of different integers from 0 "
      "to 1023, not ";
  EXPECT_EQ(errors_of("devices: 0\n"), must + "'0'");
  EXPECT_EQ(errors_of("devices: []\n"), must + "'[]'");
  EXPECT_EQ(errors_of("devices: [0, 0]\n"), must + "'0'");
  EXPECT_EQ(errors_of("devices: [1024]\n"), must + "'1024'");
  EXPECT_EQ(errors_of("devices: [\"1\"]\n"), must + "'1' in quotes");
  EXPECT_NE(errors_of("devices: [[0]]\n").find("f.yaml:1:11: 'devices' must be"),
            std::string::npos);
  EXPECT_NE(errors_of("devices: {a: 1}\n").find("not a section"), std::string::npos);
}

TEST(Config, LanesDepthAndMemoryHaveBounds) {
  EXPECT_EQ(errors_of("jobs_at_once: 0\n"),
            "f.yaml:1:15: 'jobs_at_once' must be an integer from 1 to 8, not '0'");
  EXPECT_EQ(errors_of("jobs_at_once: 9\n"),
            "f.yaml:1:15: 'jobs_at_once' must be an integer from 1 to 8, not '9'");
  EXPECT_EQ(errors_of("ageing_s: 0\n"),
            "f.yaml:1:11: 'ageing_s' must be an integer from 1 to 86400, not '0'");
  EXPECT_EQ(errors_of("pipeline_depth: 65\n"),
            "f.yaml:1:17: 'pipeline_depth' must be an integer from 1 to 64, not '65'");
  EXPECT_NE(errors_of("memory: {host_bytes: -1}\n").find("'memory.host_bytes' must be an integer"),
            std::string::npos);
  EXPECT_EQ(errors_of("memory:\n  host_byte: 1\n"),
            "f.yaml:2:3: unknown key 'memory.host_byte'; did you mean 'memory.host_bytes'?");
}

TEST(Config, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(errors_of("queue: /q\nthraeds: 2\n"),
            "f.yaml:2:1: unknown key 'thraeds'; did you mean 'threads'?");
  EXPECT_EQ(errors_of("retries:\n  crash: 2\n"),
            "f.yaml:2:3: unknown key 'retries.crash'; did you mean 'retries.crashes'?");
  EXPECT_EQ(errors_of("epoch_size_log2: 18\n"),
            "f.yaml:1:1: unknown key 'epoch_size_log2'; did you mean 'protocol.epoch_size_log2'?");
}

TEST(Config, UnknownSectionNamesTheNearest) {
  EXPECT_EQ(errors_of("retrys: {failures: 1}\n"),
            "f.yaml:1:1: unknown key 'retrys'; did you mean 'retries'?");
}

TEST(Config, UnknownKeyWithNothingNearListsAll) {
  const std::string errors = errors_of("zzzzzzzzzzzz: 1\n");
  EXPECT_NE(errors.find("f.yaml:1:1: unknown key 'zzzzzzzzzzzz'; known keys: queue, rescan_s,"),
            std::string::npos)
      << errors;
}

TEST(Config, DuplicateKey) {
  EXPECT_EQ(errors_of("threads: 1\nbackend: cpu\nthreads: 2\n"),
            "f.yaml:3:1: duplicate key 'threads'; it is already on line 1");
  EXPECT_EQ(errors_of("log:\n  level: info\nlog:\n  level: warn\n"),
            "f.yaml:3:1: duplicate key 'log'; it is already on line 1");
}

TEST(Config, WrongTypes) {
  EXPECT_EQ(errors_of("threads: many\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not 'many'");
  EXPECT_EQ(errors_of("threads: \"2\"\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not '2' in quotes");
  EXPECT_EQ(errors_of("threads: 1.5\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not '1.5'");
  EXPECT_EQ(errors_of("threads: 0x10\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not '0x10'");
  EXPECT_EQ(errors_of("protocol:\n  continuations: yes\n"),
            "f.yaml:2:18: 'protocol.continuations' must be true or false, not 'yes'");
  EXPECT_EQ(errors_of("protocol:\n  continuations: \"true\"\n"),
            "f.yaml:2:18: 'protocol.continuations' must be true or false, not 'true' in quotes");
  EXPECT_EQ(errors_of("backend: gpu\n"),
            "f.yaml:1:10: 'backend' must be cpu, cuda-preferred or cuda-required, not 'gpu'");
  EXPECT_EQ(errors_of("threads: [1]\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not a list");
  EXPECT_EQ(errors_of("threads: {a: 1}\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not a section");
}

TEST(Config, MissingValueAndFlatSection) {
  EXPECT_EQ(
      errors_of("threads:\nbackend: cpu\n"),
      "f.yaml:1:1: 'threads' has no value; give an integer from 0 to 1024, or delete the line");
  EXPECT_EQ(errors_of("log: debug\n"),
            "f.yaml:1:6: 'log' is a section; write its keys indented below it: level, format");
  EXPECT_EQ(errors_of("log:\n"),
            "f.yaml:1:1: 'log' is a section; write its keys indented below it: level, format");
}

TEST(Config, OutOfRange) {
  EXPECT_EQ(errors_of("protocol:\n  epoch_size_log2: 27\n"),
            "f.yaml:2:20: 'protocol.epoch_size_log2' must be an integer from 5 to 26, not '27'");
  EXPECT_EQ(errors_of("protocol:\n  epoch_size_log2: 4\n"),
            "f.yaml:2:20: 'protocol.epoch_size_log2' must be an integer from 5 to 26, not '4'");
  EXPECT_EQ(errors_of("threads: -1\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not '-1'");
  EXPECT_NE(errors_of("cycle_limit: 99999999999999999999\n").find("not '99999999999999999999'"),
            std::string::npos);
}

TEST(Config, EveryIntegerKeyRefusesItsNeighboursOutside) {
  Config scratch;
  for (const Key& key : config_schema(scratch)) {
    long long min = 0, max = 0;
    if (std::sscanf(key.takes.c_str(), "an integer from %lld to %lld", &min, &max) != 2) continue;
    EXPECT_FALSE(key.assign({std::to_string(min), false})) << key.path;
    EXPECT_FALSE(key.assign({std::to_string(max), false})) << key.path;
    EXPECT_TRUE(key.assign({std::to_string(min - 1), false})) << key.path;
    EXPECT_TRUE(key.assign({std::to_string(max + 1), false})) << key.path;
  }
}

TEST(Config, RelativePathIsRefused) {
  EXPECT_EQ(errors_of("queue: var/queue\n"),
            "f.yaml:1:8: 'queue' must be an absolute path, not 'var/queue'");
  EXPECT_EQ(errors_of("queue: \"\"\n"),
            "f.yaml:1:8: 'queue' must be an absolute path, not '' in quotes");
}

TEST(Config, AnAddressIsDigits) {
  EXPECT_EQ(errors_of("http:\n  address: localhost\n"),
            "f.yaml:2:12: 'http.address' must be an IP address such as 127.0.0.1 or ::1, not "
            "'localhost'");
  EXPECT_EQ(errors_of("http:\n  address: 127.0.0.1:80\n"),
            "f.yaml:2:12: 'http.address' must be an IP address such as 127.0.0.1 or ::1, not "
            "'127.0.0.1:80'");
  EXPECT_EQ(errors_of("http: {address: 0.0.0.0}\n"), "");
}

TEST(Config, SettingsThatAreFixedWhileRunningAreNamed) {
  const Config running;
  EXPECT_TRUE(keys_fixed_while_running(running, running).empty());
  Config changed;
  changed.daemon.threads = 7;
  changed.daemon.retention.done_days = 7;
  changed.daemon.log.level = LogLevel::kDebug;
  changed.protocol.epoch_size_log2 = 7;
  EXPECT_TRUE(keys_fixed_while_running(running, changed).empty());
  changed.daemon.queue = "/elsewhere";
  changed.daemon.backend = BackendPolicy::kCudaPreferred;
  changed.daemon.http.port = 7;
  changed.daemon.jemalloc.background_threads = false;
  const std::vector<std::string> fixed = {"queue", "backend", "http.port",
                                          "jemalloc.background_threads"};
  EXPECT_EQ(keys_fixed_while_running(running, changed), fixed);

  const Config merged = with_fixed_settings_of(running, changed);
  EXPECT_TRUE(keys_fixed_while_running(running, merged).empty());
  EXPECT_EQ(merged.daemon.threads, 7u);
  EXPECT_EQ(merged.daemon.retention.done_days, 7u);
}

TEST(Config, NotASettingsFile) {
  EXPECT_EQ(errors_of("- a\n- b\n"), "f.yaml:1:1: the file must be a list of 'key: value' lines");
  EXPECT_EQ(errors_of("just text\n"), "f.yaml:1:1: the file must be a list of 'key: value' lines");
  EXPECT_EQ(errors_of("[a]: b\n"), "f.yaml:1:1: a key must be a plain word");
  EXPECT_EQ(errors_of("threads: 1\n---\nthreads: 2\n"),
            "f.yaml:2:1: one document expected; delete what follows the '---'");
  EXPECT_EQ(errors_of("threads: [1\n").substr(0, 26), "f.yaml:2:1: not valid YAML");
  EXPECT_EQ(errors_of(std::string(kConfigBytesMax + 1, '#')),
            "f.yaml: is longer than 1048576 bytes; it is not a settings file");
}

// yaml-cpp takes these for the start of endlessly many empty documents.
TEST(Config, StrayFlowCharactersAreAnErrorAndNoEndlessLoop) {
  for (const char* text : {",", "]", "}", ", rescan_s: 5", "rescan_s: 5\n,", "[]]", "{}}"}) {
    const auto config = parse_config("f.yaml", text);
    ASSERT_FALSE(config) << text;
    EXPECT_FALSE(config.error().empty()) << text;
    EXPECT_FALSE(parse_job("f.yaml", text)) << text;
  }
}

TEST(Config, DeepNestingIsAnErrorAndNotACrash) {
  EXPECT_NE(errors_of("threads: " + std::string(100'000, '[')).find("not valid YAML"),
            std::string::npos);
}

TEST(Config, ReportsEveryFindingInOrder) {
  EXPECT_EQ(errors_of("threads: x\nbackend: y\nlog:\n  level: z\n"),
            "f.yaml:1:10: 'threads' must be an integer from 0 to 1024, not 'x'\n"
            "f.yaml:2:10: 'backend' must be cpu, cuda-preferred or cuda-required, not 'y'\n"
            "f.yaml:4:10: 'log.level' must be debug, info, warn or error, not 'z'");
}

TEST(Job, ReadsEveryKeyAndWritesItBack) {
  const auto parsed = parse_job("job.yaml", R"(
name: 'say "hi" \ there'
priority: -5
deadline: 2026-12-01T10:00:00Z
epoch_size_log2: 12
continuations: true
security: test
backend: cuda-required
residency: device-only
cycle_limit: 123456789012
)");
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  JobSpec expected;
  expected.name = "say \"hi\" \\ there";
  expected.priority = -5;
  expected.deadline_unix = 1796119200;
  expected.protocol = {12, true, SecurityPreset::kTest};
  expected.backend = BackendPolicy::kCudaRequired;
  expected.residency = Residency::kDeviceOnly;
  expected.cycle_limit = 123456789012;
  EXPECT_EQ(*parsed, expected);
  EXPECT_EQ(*parse_job("job.yaml", job_yaml(expected)), expected);
  EXPECT_EQ(*parse_job("job.yaml", job_yaml(JobSpec{})), JobSpec{});
}

TEST(Job, BadKeysAndValues) {
  EXPECT_EQ(job_errors_of("prioritty: 1\n"),
            "job.yaml:1:1: unknown key 'prioritty'; did you mean 'priority'?");
  EXPECT_EQ(job_errors_of("priority: 1001\n"),
            "job.yaml:1:11: 'priority' must be an integer from -1000 to 1000, not '1001'");
  EXPECT_EQ(job_errors_of("deadline: tomorrow\n"),
            "job.yaml:1:11: 'deadline' must be a UTC time such as 2026-12-01T10:00:00Z, not "
            "'tomorrow'");
  EXPECT_EQ(job_errors_of("name: \"a\\nb\"\n").find("'name' must be printable text of at most 64"),
            14u);
  EXPECT_FALSE(job_errors_of("name: " + std::string(65, 'n')).empty());
  EXPECT_TRUE(job_errors_of("name: " + std::string(64, 'n')).empty());
  EXPECT_FALSE(job_errors_of(std::string(kJobFileBytesMax + 1, ' ')).empty());
}

}  // namespace
}  // namespace epochd
