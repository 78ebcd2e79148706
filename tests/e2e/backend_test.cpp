// Where it is proved: with a device, on it alone and to the CPU's bytes; without one, never in
// silence.
#include <csignal>

#include "tests/e2e/support.hpp"

namespace epochd::e2e {
namespace {

class BackendTest : public E2eTest {
 protected:
  BackendTest() {
    const auto doctor = epoch_json({"doctor"});
    for (const auto& check : doctor["checks"]) {
      const std::string finding = check["finding"];
      if (check["check"] == "cuda" && finding.rfind("device ", 0) == 0) has_device_ = true;
    }
  }

  Strings prove(const std::string& to, const std::string& backend, Strings more = {}) const {
    Strings args = {
        "prove",      guest("fib"), "--input",           input_, "-o",        path(to).string(),
        "--security", "test",       "--epoch-size-log2", "8",    "--backend", backend};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  bool has_device_ = false;
  std::string input_ = file("input", little_endian(100));
};

TEST_F(BackendTest, ADeviceProvesTheSameBytes) {
  if (!has_device_) GTEST_SKIP() << "no CUDA device";
  const auto on_cpu = epoch_json(prove("cpu", "cpu"));
  const auto on_device = epoch_json(prove("cuda", "cuda"));
  EXPECT_TRUE(read_file(path("cpu")) == read_file(path("cuda")));
  EXPECT_EQ(on_device["backend"], "cuda");
  EXPECT_EQ(on_device["residency"], "device-only");
  EXPECT_FALSE(on_device.contains("fallback"));
  EXPECT_GT(on_device["peak_device_bytes"], 0);
  EXPECT_GT(on_device["bytes_h2d"], 0);
  EXPECT_GT(on_device["bytes_d2h"], 0);
  const auto& counters = on_device["counters"];
  for (const char* path : {"fill", "lde", "merkle", "logup", "quotient", "open", "deep", "fri",
                           "gather", "device_only"}) {
    EXPECT_GT(counters[path], 0) << path;
    EXPECT_FALSE(on_cpu["counters"].contains(path)) << path;
  }
  for (const char* trouble : {"epoch_retry", "self_verify_failed", "fallback"}) {
    EXPECT_EQ(counters[trouble], 0) << trouble;
  }
  EXPECT_EQ(on_cpu["backend"], "cpu");
  EXPECT_EQ(on_cpu["residency"], "host");
  EXPECT_EQ(on_cpu["peak_device_bytes"], 0);
  EXPECT_EQ(on_cpu["bytes_h2d"], 0);
  EXPECT_EQ(epoch({"verify", guest("fib"), path("cuda").string(), "--security", "test"}).code, 0);
}

TEST_F(BackendTest, TheDaemonProvesOnTheDevice) {
  if (!has_device_) GTEST_SKIP() << "no CUDA device";
  write_config("backend: cuda-required\nprotocol: {security: test, epoch_size_log2: 8}\n");
  const std::string id = submit(guest("fib"), input_);
  ASSERT_EQ(epochd_once().code, 0);
  const auto result = nlohmann::json::parse(read_file(queue() / "done" / id / "result.json"));
  EXPECT_EQ(result["backend"], "cuda");
  EXPECT_GT(result["counters"]["device_only"], 0);
  EXPECT_EQ(epoch({"doctor", "--config", path("epochd.yaml").string()}).code, 0);
}

// A context that is lost takes its process along; so does the out-of-memory killer.
TEST_F(BackendTest, AKilledWorkerCostsEpochsAndNotTheJob) {
  if (!has_device_) GTEST_SKIP() << "no CUDA device";
  const std::string input = file("long", little_endian(400'000));
  write_config("backend: cuda-required\nprotocol: {security: test, epoch_size_log2: 10}\n");
  const std::string id = submit(guest("fib"), input);
  const std::string next = submit(guest("fib"), input_);
  Process daemon = start_epochd({"--once"});
  const Path first_epoch = queue() / "active" / id / "epochs" / "00000001.epoch";
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(first_epoch); })) << daemon.err();
  const std::vector<pid_t> workers = daemon.children();
  ASSERT_FALSE(workers.empty());
  for (const pid_t worker : workers) ::kill(worker, SIGKILL);
  const Outcome outcome = daemon.wait();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("was killed by signal 9"), std::string::npos) << outcome.err;

  const auto result = nlohmann::json::parse(read_file(queue() / "done" / id / "result.json"));
  EXPECT_EQ(result["backend"], "cuda");
  EXPECT_EQ(result["attempt"], 1);
  EXPECT_EQ(result["counters"]["worker_restart"], 1);
  EXPECT_EQ(result["counters"]["fallback"], 0);
  ASSERT_EQ(epoch({"prove", guest("fib"), "--input", input, "-o", path("cpu").string(),
                   "--security", "test", "--epoch-size-log2", "10", "--backend", "cpu"})
                .code,
            0);
  EXPECT_TRUE(read_file(queue() / "done" / id / "bundle.proof") == read_file(path("cpu")));
  const auto second = nlohmann::json::parse(read_file(queue() / "done" / next / "result.json"));
  EXPECT_EQ(second["backend"], "cuda");
  EXPECT_EQ(second["counters"]["worker_restart"], 0);
}

TEST_F(BackendTest, ARequiredDeviceThatIsMissingIsAnError) {
  if (has_device_) GTEST_SKIP() << "there is a CUDA device";
  const Outcome outcome = epoch(prove("p", "cuda"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("a CUDA device is required and none can be used: "), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("p")));
  write_config("backend: cuda-required\n");
  EXPECT_EQ(epochd_once().code, 3);
  EXPECT_TRUE(std::filesystem::is_empty(queue())) << "refused before the queue is touched";
  EXPECT_EQ(epoch({"doctor", "--config", path("epochd.yaml").string()}).code, 3);
}

TEST_F(BackendTest, AFallbackToTheCpuIsNeverSilent) {
  if (has_device_) GTEST_SKIP() << "there is a CUDA device";
  Strings args = prove("p", "auto");
  args.push_back("--json");
  const Outcome outcome = epoch(args);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  const std::string why = json["fallback"];
  EXPECT_EQ(why.rfind("no CUDA device can be used: ", 0), 0u) << why;
  EXPECT_NE(outcome.err.find("no CUDA device proves this job"), std::string::npos) << outcome.err;
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["counters"]["fallback"], json["epochs"].get<u64>() + 1) << "and the global proof";
  const auto asked_for = epoch_json(prove("q", "cpu"));
  EXPECT_FALSE(asked_for.contains("fallback"));
  EXPECT_FALSE(asked_for["counters"].contains("fallback"));
  EXPECT_TRUE(read_file(path("p")) == read_file(path("q")));

  write_config("backend: cuda-preferred\nprotocol: {security: test, epoch_size_log2: 8}\n");
  const std::string id = submit(guest("fib"), input_);
  const Outcome daemon = epochd_once();
  ASSERT_EQ(daemon.code, 0) << daemon.err;
  EXPECT_NE(daemon.err.find("proving on the CPU although a device is preferred"),
            std::string::npos);
  const auto result = nlohmann::json::parse(read_file(queue() / "done" / id / "result.json"));
  EXPECT_EQ(result["fallback"], why);
}

TEST_F(BackendTest, AMirroredRunProvesTheSameBytes) {
  const auto plain = epoch_json(prove("plain", "cpu"));
  const auto mirrored = epoch_json(prove("p", "auto", {"--residency", "host-mirror"}));
  EXPECT_TRUE(read_file(path("p")) == read_file(path("plain")));
  if (has_device_) {
    EXPECT_EQ(mirrored["residency"], "host-mirror");
    EXPECT_GT(mirrored["counters"]["host_mirror"], 0);
    EXPECT_EQ(mirrored["counters"]["device_only"], 0);
    EXPECT_EQ(mirrored["counters"]["mirror_fallback"], 0);
  } else {
    EXPECT_EQ(mirrored["residency"], "host");
    EXPECT_TRUE(mirrored.contains("fallback"));
  }
  write_config("backend: cuda-preferred\nresidency: host-mirror\n");
  EXPECT_EQ(epochd_once().code, 0);
  EXPECT_EQ(epoch({"doctor", "--config", path("epochd.yaml").string()}).code, 0);
}

TEST_F(BackendTest, DoctorPlansADevicesMemory) {
  const auto doctor = epoch_json({"doctor"});
  std::string finding;
  for (const auto& check : doctor["checks"]) {
    if (check["check"] == "device memory") finding = check["finding"];
  }
  EXPECT_EQ(finding.rfind("for one epoch in flight, preset proven100: 2^16 ", 0), 0u) << finding;
  EXPECT_NE(finding.find(", 2^22 "), std::string::npos) << finding;
  EXPECT_EQ(finding.find("device 0 holds ") != std::string::npos, has_device_) << finding;
}

}  // namespace
}  // namespace epochd::e2e
