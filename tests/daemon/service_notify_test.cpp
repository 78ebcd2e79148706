// What a service manager sees: a real process and the socket it reports to.
#include "daemon/service/notify.hpp"

#include "daemon/queue/attempts.hpp"
#include "daemon/queue/drain.hpp"
#include "tests/daemon/service_fixture.hpp"

namespace epochd {
namespace {

class NotifyTest : public ServiceTest {
 protected:
  Variables environment(const std::string& watchdog_usec = "") const {
    Variables variables = {{"NOTIFY_SOCKET", manager_.path().string()}};
    if (!watchdog_usec.empty()) variables.emplace_back("WATCHDOG_USEC", watchdog_usec);
    return variables;
  }

  NotifySocket manager_{root() / "notify"};
};

TEST_F(NotifyTest, ReadyStatusOfTheJobAndStopping) {
  configure("jobs_at_once: 1\n");
  start(environment());
  EXPECT_NE(manager_.wait_for("READY=1").find("STATUS=idle"), std::string::npos);
  add("a", "epochs=300 pause_ms=10");
  add("b", "epochs=1");
  EXPECT_NE(manager_.wait_for("STATUS=proving a: epoch ").find(" of 300; "), std::string::npos);
  EXPECT_NE(manager_.wait_for("1 queued"), "");
  signal(SIGTERM);
  EXPECT_NE(manager_.wait_for("STOPPING=1"), "");
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(NotifyTest, TheStatusNamesEveryJobUnderWay) {
  start(environment("1000000"));
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  add("a", "epochs=500 pause_ms=10");
  ASSERT_NE(manager_.wait_for("STATUS=proving a: epoch "), "");
  add("b", "epochs=1");
  EXPECT_NE(manager_.wait_for(" b (waiting for its turn)"), "");
  for (int i = 0; i < 3; ++i) EXPECT_NE(manager_.wait_for("WATCHDOG=1", milliseconds(5000)), "");
  signal(SIGTERM);
  EXPECT_NE(manager_.wait_for("STOPPING=1"), "");
  EXPECT_EQ(wait_for_end(), 0);
  for (const char* id : {"a", "b"}) {
    const Path job = place_path(queue(), Place::kActive) / id;
    EXPECT_TRUE(fs_.exists(job)) << id;
    EXPECT_EQ(read_attempts(fs_, job).crashes, 0u) << id;
  }
}

TEST_F(NotifyTest, TheWatchdogHearsNothingWhenOneOfTwoJobsStandsStill) {
  start(environment("400000"));
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  add("stuck", "stall=1");
  ASSERT_NE(manager_.wait_for("STATUS=executing stuck"), "");
  add("good", "epochs=3000 pause_ms=5");
  ASSERT_NE(manager_.wait_for("proving good: epoch "), "");
  while (manager_.receive(milliseconds(300)).find("WATCHDOG=1") != std::string::npos) {
  }
  EXPECT_EQ(manager_.wait_for("WATCHDOG=1", milliseconds(1500)), "");
}

TEST_F(NotifyTest, AnAbstractSocketIsReached) {
  const std::string name = "@epochd-test-" + std::to_string(::getpid());
  const FileHandle socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ::sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, name.size());
  address.sun_path[0] = '\0';
  const auto bytes = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(::bind(socket.fd(), reinterpret_cast<const ::sockaddr*>(&address), bytes), 0);
  ServiceManager manager(name, ServiceManager::Micros(0));
  ASSERT_TRUE(manager.is_present());
  manager.status("two\nlines");
  char text[100];
  const ssize_t got = ::recv(socket.fd(), text, sizeof(text), MSG_DONTWAIT);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(text, static_cast<size_t>(got)), "STATUS=two lines");
}

TEST_F(NotifyTest, WithoutAManagerNothingIsSaid) {
  ServiceManager nobody;
  EXPECT_FALSE(nobody.is_present());
  nobody.ready("fine");
  ServiceManager unreachable((root() / "nothing").string(), ServiceManager::Micros(1));
  EXPECT_FALSE(unreachable.is_present());
  EXPECT_EQ(unreachable.watchdog().count(), 0);
  EXPECT_FALSE(ServiceManager("vsock:2:1", ServiceManager::Micros(1)).is_present());
}

TEST_F(NotifyTest, TheWatchdogIsForTheNamedProcessOnly) {
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(watchdog_period("30000000", self.c_str()).count(), 30'000'000);
  EXPECT_EQ(watchdog_period("30000000", nullptr).count(), 30'000'000);
  EXPECT_EQ(watchdog_period("30000000", "1").count(), 0);
  EXPECT_EQ(watchdog_period(nullptr, self.c_str()).count(), 0);
  EXPECT_EQ(watchdog_period("-3", nullptr).count(), 0);
  EXPECT_EQ(watchdog_period("often", nullptr).count(), 0);
}

TEST_F(NotifyTest, TheWatchdogHearsOfIdlingAndOfProgress) {
  start(environment("1000000"));
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  for (int i = 0; i < 4; ++i) EXPECT_NE(manager_.wait_for("WATCHDOG=1", milliseconds(5000)), "");
  add("a", "epochs=500 pause_ms=10");
  ASSERT_NE(manager_.wait_for("STATUS=proving a"), "");
  for (int i = 0; i < 4; ++i) EXPECT_NE(manager_.wait_for("WATCHDOG=1", milliseconds(5000)), "");
}

TEST_F(NotifyTest, LoadingACheckpointIsProgressAndCanBeStopped) {
  start(environment("1000000"));
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  add("a", "load=1");
  ASSERT_NE(manager_.wait_for("STATUS=executing a"), "");
  for (int i = 0; i < 6; ++i) EXPECT_NE(manager_.wait_for("WATCHDOG=1", milliseconds(5000)), "");
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(NotifyTest, TheWatchdogHearsNothingFromAWorkerThatStandsStill) {
  start(environment("400000"));
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  add("a", "stall=1");
  ASSERT_NE(manager_.wait_for("STATUS=executing a"), "");
  while (!manager_.receive(milliseconds(300)).empty()) {
  }
  // The control thread lives on and says other things; it must not vouch for the worker.
  signal(SIGHUP);
  EXPECT_NE(manager_.wait_for("RELOADING=1"), "");
  EXPECT_NE(manager_.wait_for("READY=1"), "");
  EXPECT_EQ(manager_.wait_for("WATCHDOG=1", milliseconds(1500)), "");
}

TEST_F(NotifyTest, WaitingForTheNextAttemptIsNotStandingStill) {
  write(config_path(), "retries: {failures: 1, delay_s: 3600}\nhttp: {enabled: false}\n");
  add("a", "fault=memory epochs=2 at=1");
  start(environment("400000"));
  ASSERT_TRUE(wait_until([&] { return is_logged("the job is tried again"); }));
  while (!manager_.receive(milliseconds(1)).empty()) {
  }
  for (int i = 0; i < 4; ++i) EXPECT_NE(manager_.wait_for("WATCHDOG=1", milliseconds(5000)), "");
}

TEST_F(NotifyTest, ADeviceThatProvedAndIsLostAsksToBeStartedAgain) {
  configure("backend: cuda-required\n");
  add("a", "epochs=1 device=1");
  start(environment("4000000"));
  ASSERT_TRUE(wait_until([&] { return is_done("a"); })) << log_text();
  add("b", "lost=1");
  EXPECT_NE(manager_.wait_for("WATCHDOG=trigger"), "");
  EXPECT_EQ(wait_for_end(), 3);
  const Path job = place_path(queue(), Place::kActive) / "b";
  EXPECT_TRUE(fs_.exists(job)) << "it goes on after the start";
  EXPECT_EQ(read_attempts(fs_, job).crashes, 0u);
}

// Or anybody who may submit a job could keep the service starting.
TEST_F(NotifyTest, ADeviceThatRefusesAJobDoesNot) {
  configure("backend: cuda-required\n");
  add("a", "epochs=1 device=1");
  start(environment("4000000"));
  ASSERT_TRUE(wait_until([&] { return is_done("a"); })) << log_text();
  add("b", "small=1");
  ASSERT_TRUE(wait_until([&] { return state_of("b") == "quarantined(gpu)"; })) << log_text();
  EXPECT_EQ(manager_.wait_for("WATCHDOG=trigger", milliseconds(500)), "");
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(NotifyTest, ADeviceThatNeverWorkedDoesNot) {
  configure("backend: cuda-required\n");
  add("a", "lost=1");
  start(environment("4000000"));
  ASSERT_TRUE(wait_until([&] { return state_of("a") == "quarantined(gpu)"; })) << log_text();
  EXPECT_EQ(manager_.wait_for("WATCHDOG=trigger", milliseconds(1500)), "");
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(NotifyTest, ReloadSaysWhenItBeganAndWhenItIsOver) {
  start(environment());
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  configure("log: {level: debug}\n");
  signal(SIGHUP);
  const std::string begun = manager_.wait_for("RELOADING=1");
  const size_t at = begun.find("\nMONOTONIC_USEC=");
  ASSERT_NE(at, std::string::npos) << begun;
  EXPECT_GT(std::stoull(begun.substr(at + 16)), 0u);
  EXPECT_NE(manager_.wait_for("READY=1"), "");
  add("a", "epochs=1");
  EXPECT_TRUE(wait_until([&] { return is_logged("epoch proved job=a"); })) << "debug is on now";
}

TEST_F(NotifyTest, ABadFileKeepsTheSettingsAndSaysWhere) {
  configure("log: {level: debug}\n");
  start(environment());
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  configure("log: {level: loud}\n");
  signal(SIGHUP);
  ASSERT_NE(manager_.wait_for("RELOADING=1"), "");
  const std::string answer = manager_.wait_for("READY=1");
  EXPECT_NE(answer.find("epochd.yaml:4:14: 'log.level' must be debug,"), std::string::npos)
      << answer;
  EXPECT_TRUE(is_logged("the settings stay as they were"));
  add("a", "epochs=1");
  EXPECT_TRUE(wait_until([&] { return is_logged("epoch proved job=a"); })) << "still debug";
  const std::string idle = manager_.wait_for("STATUS=idle");
  EXPECT_NE(idle.find("kept the old settings: "), std::string::npos) << "said on; " << idle;
  configure("log: {level: debug}\n");
  signal(SIGHUP);
  EXPECT_EQ(manager_.wait_for("READY=1").find("kept"), std::string::npos) << "and over";
}

TEST_F(NotifyTest, WhyItCannotStartIsTold) {
  configure("log: {level: loud}\n");
  start(environment());
  EXPECT_NE(manager_.wait_for("STATUS=").find("epochd.yaml:4:14: 'log.level' must be debug,"),
            std::string::npos);
  EXPECT_EQ(wait_for_end(), 2);
}

TEST_F(NotifyTest, AReloadInTheMiddleOfAJobDropsNothingAndHoldsForTheNext) {
  start(environment());
  ASSERT_NE(manager_.wait_for("READY=1"), "");
  add("a", "epochs=100 pause_ms=10");
  ASSERT_NE(manager_.wait_for("STATUS=proving a"), "");
  configure("protocol: {epoch_size_log2: 11}\nqueue: /elsewhere\nbackend: cuda-preferred\n");
  for (int i = 0; i < 5; ++i) {
    signal(SIGHUP);
    ASSERT_NE(manager_.wait_for("READY=1"), "");
  }
  EXPECT_TRUE(is_logged("this setting changes when the daemon is started again key=backend"));
  EXPECT_FALSE(is_logged("key=queue")) << "the command line names the queue";
  add("b", "epochs=1");
  ASSERT_TRUE(wait_until([&] { return is_done("a") && is_done("b"); })) << log_text();
  const auto result = [&](const std::string& id) {
    return nlohmann::json::parse(read(place_path(queue(), Place::kDone) / id / kResultFile));
  };
  EXPECT_EQ(result("a")["epoch_size_log2"], 20) << "as when it began";
  EXPECT_EQ(result("a")["attempt"], 1);
  EXPECT_EQ(result("b")["epoch_size_log2"], 11);
}

TEST_F(NotifyTest, ASecondSignalEndsAtOnceAndBlamesNobody) {
  add("a", "stall=1");
  start(environment());
  ASSERT_NE(manager_.wait_for("STATUS=executing a"), "");
  signal(SIGTERM);
  ASSERT_NE(manager_.wait_for("STOPPING=1"), "");
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), -SIGTERM);
  const Path job = place_path(queue(), Place::kActive) / "a";
  EXPECT_TRUE(fs_.exists(job));
  EXPECT_EQ(read_attempts(fs_, job).crashes, 0u);
}

TEST_F(NotifyTest, ADrainedQueueIsLeftAtTheNextEpochAndNotTouchedUntilItIsUndone) {
  add("a", "epochs=300 pause_ms=10");
  start(environment());
  ASSERT_NE(manager_.wait_for("STATUS=proving a"), "");
  EXPECT_TRUE(request_drain(fs_, queue()));
  EXPECT_FALSE(request_drain(fs_, queue())) << "it is already";
  EXPECT_NE(manager_.wait_for("STOPPING=1"), "");
  EXPECT_EQ(wait_for_end(), 0);
  const Path job = place_path(queue(), Place::kActive) / "a";
  EXPECT_TRUE(fs_.exists(job / kEpochsName / "00000001.epoch"));
  EXPECT_EQ(read_attempts(fs_, job).crashes, 0u);

  start(environment());
  EXPECT_EQ(wait_for_end(), 0) << "nothing is done on a drained queue";
  EXPECT_TRUE(is_logged("the queue is drained"));
  EXPECT_FALSE(fs_.exists(job / kRunningFile));

  EXPECT_TRUE(withdraw_drain(fs_, queue()));
  EXPECT_FALSE(withdraw_drain(fs_, queue()));
  start(environment(), true);
  EXPECT_EQ(wait_for_end(), 0);
  EXPECT_TRUE(is_done("a"));
  EXPECT_TRUE(is_logged("job done"));
}

TEST_F(NotifyTest, ChildrenAreNotToldOfTheManager) {
  ::setenv("NOTIFY_SOCKET", manager_.path().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "1000000", 1);
  const ServiceManager manager = ServiceManager::from_environment();
  EXPECT_TRUE(manager.is_present());
  EXPECT_EQ(manager.watchdog().count(), 1'000'000);
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
}

}  // namespace
}  // namespace epochd
