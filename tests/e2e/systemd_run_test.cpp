// The Debian package and the shipped unit under a real systemd: what an operator does to the
// service, and what systemd does to it. The cases are in the order of a service's life.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/e2e/systemd_machine.hpp"

namespace epochd::e2e {
namespace {

constexpr const char* kQueue = "/var/lib/epochd/queue";
constexpr const char* kSettings = "/etc/epochd/epochd.yaml";
constexpr const char* kSecret = "an input that nobody may read in a log. ";

/// One machine for all cases: to boot it and to make the package takes as long as they do.
class SystemdRunTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "epochd-systemd-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    machine_ = std::make_unique<Machine>(directory_);
  }
  static void TearDownTestSuite() {
    machine_.reset();
    std::filesystem::remove_all(directory_);
  }

  void SetUp() override {
    ASSERT_NE(machine_, nullptr);
    if (!machine_->missing().empty()) GTEST_SKIP() << machine_->missing();
  }
  void TearDown() override {
    if (!HasFailure() || machine_ == nullptr) return;
    std::cout << machine_->run({"/bin/journalctl", "--no-pager", "-n", "60"}).out
              << machine_->run({"/bin/systemctl", "status", "--no-pager", "epochd"}).out;
  }

  static Outcome run(const Strings& command) { return machine_->run(command); }
  static std::string shell(const std::string& command) { return machine_->shell(command); }
  static int systemctl(const std::string& verb) {
    return run({"/bin/systemctl", verb, "epochd"}).code;
  }
  static std::string property(const std::string& name) {
    return shell("systemctl show epochd --value -p " + name);
  }
  static u64 number(const std::string& name) { return std::stoull("0" + property(name)); }
  /// "US": microseconds of the clock of the day.
  static u64 time_us(const std::string& name) {
    const std::string text = shell("systemctl show epochd --value --timestamp=us+utc -p " + name);
    return std::stoull(shell("date +%s%6N -d '" + text + "'"));
  }
  /// What the service said, at least as urgent as a priority, as syslog numbers them.
  static std::string journal(const std::string& priority = "debug") {
    return shell("journalctl --sync; journalctl --no-pager -o cat -u epochd -p " + priority);
  }
  static bool is_said(const std::string& text, const std::string& priority = "debug") {
    return journal(priority).find(text) != std::string::npos;
  }
  static bool eventually(const std::function<bool()>& is_true) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < end) {
      if (is_true()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  /// The shipped settings, but for small epochs and the threads.
  static void configure(const std::string& threads = "0") {
    std::string text = read_file(EPOCHD_SOURCE_DIR "/config/epochd.yaml");
    const auto replace = [&](const std::string& line, const std::string& other) {
      const size_t at = text.find("\n" + line + "\n");
      ASSERT_NE(at, std::string::npos) << line;
      text.replace(at + 1, line.size(), other);
    };
    replace("  epoch_size_log2: 20", "  epoch_size_log2: 10");
    replace("threads: 0", "threads: " + threads);
    write_file(machine_->path(kSettings), text);
  }

  /// As root, whose files only root can read. An epoch is some 16 bytes of the input, which is
  /// another one each time.
  static std::string submit(u64 epochs) {
    std::string input = std::to_string(++submitted_);
    while (input.size() < epochs * 16) input += kSecret;
    write_file(machine_->path("/srv/input"), input);
    shell("chmod 600 /srv/input /srv/sha256.elf");
    return shell(std::string("epoch submit --input /srv/input /srv/sha256.elf --queue ") + kQueue);
  }
  static Path job_file(const std::string& place, const std::string& job, const std::string& name) {
    return machine_->path(kQueue + ("/" + place + "/" + job + "/" + name));
  }
  static bool is_done(const std::string& job) {
    return std::filesystem::exists(job_file("done", job, "result.json"));
  }
  static nlohmann::json json_of(const Path& path) {
    return nlohmann::json::parse(read_file(path), nullptr, false);
  }
  static bool has_stored(const std::string& job, int epoch) {
    const std::string name = "epochs/0000000" + std::to_string(epoch) + ".epoch";
    return std::filesystem::exists(job_file("active", job, name));
  }
  /// A job that was interrupted and is done now: the result's words, and that it is there once.
  static nlohmann::json result_of(const std::string& job) {
    EXPECT_TRUE(eventually([&] { return is_done(job); })) << "the job goes on";
    EXPECT_EQ(shell(std::string("cd ") + kQueue + "; echo */" + job), "done/" + job);
    return json_of(job_file("done", job, "result.json"));
  }

  static Path directory_;
  static std::unique_ptr<Machine> machine_;
  static u64 submitted_;
};

Path SystemdRunTest::directory_;
std::unique_ptr<Machine> SystemdRunTest::machine_;
u64 SystemdRunTest::submitted_ = 0;

TEST_F(SystemdRunTest, ThePackageBringsUserStateAndSettingsAndStartsNothing) {
  const Outcome made =
      Process(directory_,
              {EPOCHD_CPACK, "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "--config",
               EPOCHD_BUILD_DIR "/CPackConfig.cmake", "-B", (directory_ / "package").string()},
              {})
          .wait();
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "package")) {
    if (entry.path().extension() != ".deb") continue;
    std::filesystem::copy_file(entry.path(), machine_->path("/srv/epochd.deb"));
  }
  std::filesystem::copy_file(guest_dir() + "/sha256.elf", machine_->path("/srv/sha256.elf"));
  const Outcome installed = run({"/usr/bin/dpkg", "-i", "/srv/epochd.deb"});
  ASSERT_EQ(installed.code, 0) << installed.out << installed.err;

  EXPECT_EQ(shell("stat -c '%U:%G %a' /var/lib/epochd"), "epochd:epochd 700");
  EXPECT_EQ(shell("stat -c '%U:%G %a' /etc/epochd/epochd.yaml"), "root:root 644");
  EXPECT_NE(shell("dpkg-query -W -f '${Conffiles}' epochd").find(kSettings), std::string::npos);
  EXPECT_NE(shell("id epochd").find("(video)"), std::string::npos);
  EXPECT_EQ(property("ActiveState"), "inactive");
  EXPECT_EQ(property("UnitFileState"), "disabled");
  EXPECT_EQ(property("FragmentPath"), "/lib/systemd/system/epochd.service");
}

TEST_F(SystemdRunTest, IsActiveWhenItIsReadyAndSaysWhatItDoes) {
  write_file(machine_->path("/etc/systemd/system/epochd.service.d/test.conf"),
             "[Service]\nWatchdogSec=4\nRestartSec=100ms\n");
  shell("systemctl daemon-reload");
  ASSERT_EQ(run({"/bin/systemctl", "enable", "--now", "epochd"}).code, 0);
  EXPECT_EQ(property("SubState"), "running");
  EXPECT_EQ(property("StatusText"), "idle; 0 queued");
  EXPECT_EQ(shell("stat -c %U /proc/" + property("MainPID")), "epochd");
  EXPECT_EQ(shell("stat -c '%U:%G %a' /var/lib/epochd/queue/incoming"), "epochd:epochd 700");
  // Its own word comes first: "2026-12-01T10:00:00.123Z info epochd serves ...".
  const std::string said =
      shell("journalctl --sync; journalctl -o cat -u epochd -g 'epochd serves'");
  const u64 serves_us = std::stoull(shell("date +%s%6N -d " + said.substr(0, said.find(' '))));
  EXPECT_LE(serves_us, time_us("ActiveEnterTimestamp"));
}

TEST_F(SystemdRunTest, IsShutIn) {
  const std::string pid = property("MainPID");
  const std::string status = read_file(machine_->path("/proc/" + pid + "/status"));
  for (const char* line : {"NoNewPrivs:\t1", "Seccomp:\t2", "CapBnd:\t0000000000000000",
                           "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000"}) {
    EXPECT_NE(status.find(line), std::string::npos) << line << " in\n" << status;
  }
  // With its view of the files even root cannot write elsewhere.
  const std::string in_service = "nsenter -m -r -w -t " + pid + " ";
  shell(in_service + "touch /var/lib/epochd/probe /tmp/probe");
  shell("rm /var/lib/epochd/probe; test ! -e /tmp/probe");
  for (const char* file :
       {"/etc/epochd/probe", "/usr/bin/probe", "/var/probe", "/run/lock/probe"}) {
    EXPECT_NE(run({"/bin/sh", "-c", in_service + "touch " + file}).code, 0) << file;
  }
  EXPECT_EQ(shell(in_service + "ls /root | wc -l"), "0") << "no homes";
  // A device that is neither NVIDIA's nor one of those everybody has; no driver has the number.
  shell("mknod /srv/device c 200 0");
  const std::string group = "/sys/fs/cgroup" + property("ControlGroup") + "/cgroup.procs";
  const std::string open_it = "cat /srv/device 2>&1 >/dev/null </dev/null; true";
  EXPECT_NE(shell("echo $$ >" + group + "; " + open_it).find("not permitted"), std::string::npos);
  EXPECT_EQ(shell(open_it).find("not permitted"), std::string::npos) << "the unit forbids it";
}

TEST_F(SystemdRunTest, ItsPagesAnswerOnLoopback) {
  const std::string get =
      "exec 3<>/dev/tcp/127.0.0.1/9477; "
      "printf 'GET /PAGE HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n' >&3; cat <&3";
  for (const char* page : {"healthz", "readyz", "metrics", "status"}) {
    std::string command = get;
    command.replace(command.find("PAGE"), 4, page);
    EXPECT_EQ(shell(command).substr(0, 15), "HTTP/1.1 200 OK") << page;
  }
}

TEST_F(SystemdRunTest, RootSubmitsAndTheJobIsProved) {
  configure();
  ASSERT_EQ(systemctl("reload"), 0);
  EXPECT_TRUE(eventually([&] { return is_said("new settings; those of jobs hold from"); }));
  const std::string job = submit(8);
  std::string status;
  EXPECT_TRUE(eventually([&] {
    status = property("StatusText");
    return status.find("proving " + job + ": epoch ") == 0 || is_done(job);
  }));
  EXPECT_NE(status.find(" of "), std::string::npos) << status;
  EXPECT_NE(status.find("; 0 queued"), std::string::npos) << status;
  ASSERT_TRUE(eventually([&] { return is_done(job); }));
  EXPECT_EQ(shell(std::string("find ") + kQueue + " ! -user epochd"), "");
  EXPECT_EQ(shell(std::string("find ") + kQueue + "/done -type f ! -perm 600"), "");
  shell(std::string("epoch verify /srv/sha256.elf ") + kQueue + "/done/" + job + "/bundle.proof");
  EXPECT_FALSE(is_said(std::string(kSecret).substr(0, 20))) << "inputs are never logged";
}

TEST_F(SystemdRunTest, AJobOfAnotherUserKeepsNobodyWaiting) {
  shell(std::string("mkdir -m 700 /srv/foreign; cp /srv/sha256.elf /srv/foreign/program.elf; ") +
        "mv /srv/foreign " + kQueue + "/incoming/");
  const std::string job = submit(1);
  EXPECT_TRUE(eventually([&] { return is_done(job); }));
  EXPECT_TRUE(is_said("belongs to another user; left alone", "warning"));
  EXPECT_FALSE(is_said("epochd serves", "warning")) << "that is no warning";
  shell(std::string("chown -R epochd: ") + kQueue + "/incoming/foreign");
  EXPECT_TRUE(eventually([&] { return is_done("foreign"); })) << "once it is the queue's";
}

TEST_F(SystemdRunTest, ABadFileAtAReloadChangesNothing) {
  const std::string pid = property("MainPID");
  configure("many");
  EXPECT_EQ(systemctl("reload"), 0);
  const auto is_told = [&] { return property("StatusText").find(kSettings) != std::string::npos; };
  EXPECT_TRUE(eventually(is_told)) << property("StatusText");
  EXPECT_TRUE(is_said("the settings stay as they were", "err"));
  EXPECT_EQ(property("ActiveState"), "active");
  EXPECT_EQ(property("MainPID"), pid);
  const std::string job = submit(1);
  EXPECT_TRUE(eventually([&] { return is_done(job); })) << "it goes on with what it had";
  EXPECT_TRUE(is_told()) << "not forgotten over the next job: " << property("StatusText");
  configure();
  EXPECT_EQ(systemctl("reload"), 0);
  EXPECT_TRUE(eventually([&] { return !is_told(); }));
}

TEST_F(SystemdRunTest, StoppingDrainsAndChargesNobody) {
  const std::string job = submit(14);
  ASSERT_TRUE(eventually([&] { return has_stored(job, 2); }));
  EXPECT_EQ(systemctl("stop"), 0);
  EXPECT_EQ(property("Result"), "success");
  EXPECT_EQ(property("ExecMainCode"), "1") << "it exited";
  EXPECT_EQ(property("ExecMainStatus"), "0");
  EXPECT_TRUE(std::filesystem::exists(job_file("active", job, "program.elf")));
  EXPECT_EQ(systemctl("start"), 0);
  const auto result = result_of(job);
  EXPECT_EQ(result["crashes"], 0);
  EXPECT_GE(result["counters"]["epochs_resumed"], 2);
}

TEST_F(SystemdRunTest, KilledItIsStartedAgainAndGoesOn) {
  const u64 restarts = number("NRestarts");
  const std::string job = submit(14);
  ASSERT_TRUE(eventually([&] { return has_stored(job, 2); }));
  shell("kill -9 " + property("MainPID"));
  EXPECT_TRUE(eventually(
      [&] { return number("NRestarts") == restarts + 1 && property("ActiveState") == "active"; }));
  const auto result = result_of(job);
  EXPECT_EQ(result["crashes"], 1);
  EXPECT_GE(result["counters"]["epochs_resumed"], 2);
}

TEST_F(SystemdRunTest, TheWatchdogEndsOneThatStandsStill) {
  EXPECT_EQ(property("TimeoutAbortUSec"), "30s") << "not as long as for a stop";
  const u64 restarts = number("NRestarts");
  const std::string job = submit(14);
  ASSERT_TRUE(eventually([&] { return has_stored(job, 1); }));
  shell("kill -STOP " + property("MainPID"));
  EXPECT_TRUE(eventually([&] { return number("NRestarts") == restarts + 1; }));
  EXPECT_TRUE(is_said("Watchdog timeout"));
  EXPECT_EQ(result_of(job)["crashes"], 1);
}

TEST_F(SystemdRunTest, ADrainLastsUntilItIsUndone) {
  const std::string queue = std::string(" --queue ") + kQueue;
  const u64 restarts = number("NRestarts");
  shell("epoch drain --wait" + queue);
  EXPECT_TRUE(eventually([&] { return property("ActiveState") == "inactive"; }));
  EXPECT_EQ(property("Result"), "success");
  EXPECT_EQ(number("NRestarts"), restarts) << "its end was no failure";
  // Also when somebody keeps trying.
  for (int i = 0; i < 6; ++i) EXPECT_EQ(systemctl("start"), 0) << i;
  EXPECT_TRUE(eventually([&] { return property("ActiveState") == "inactive"; }));
  EXPECT_TRUE(is_said("the queue is drained: nothing is done until `epoch drain --undo`"));
  EXPECT_EQ(property("Result"), "success");
  shell("epoch drain --undo" + queue);
  EXPECT_EQ(systemctl("start"), 0);
  EXPECT_EQ(property("ActiveState"), "active");
}

TEST_F(SystemdRunTest, WrongSettingsAreToldAndNotTriedAgain) {
  EXPECT_EQ(systemctl("stop"), 0);
  configure("many");
  EXPECT_NE(systemctl("start"), 0);
  // Longer than a restart would take.
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_EQ(property("ActiveState"), "failed");
  EXPECT_EQ(property("ExecMainStatus"), "2");
  EXPECT_EQ(number("NRestarts"), 0u);
  EXPECT_NE(property("StatusText").find(std::string(kSettings) + ":"), std::string::npos);
  EXPECT_NE(property("StatusText").find("'threads'"), std::string::npos);
  EXPECT_TRUE(is_said(std::string(kSettings) + ":", "err"));
  configure();
  EXPECT_EQ(systemctl("start"), 0);
}

TEST_F(SystemdRunTest, AnUpgradeGoesOnWithTheJob) {
  const std::string pid = property("MainPID");
  const std::string job = submit(14);
  ASSERT_TRUE(eventually([&] { return has_stored(job, 1); }));
  const std::string settings = read_file(machine_->path(kSettings));
  const Outcome installed = run({"/usr/bin/dpkg", "-i", "/srv/epochd.deb"});
  EXPECT_EQ(installed.code, 0) << installed.out << installed.err;
  EXPECT_EQ(property("ActiveState"), "active");
  EXPECT_NE(property("MainPID"), pid) << "the new program runs";
  EXPECT_EQ(read_file(machine_->path(kSettings)), settings);
  EXPECT_EQ(result_of(job)["crashes"], 0);
}

TEST_F(SystemdRunTest, RemovalLeavesTheQueueAlone) {
  EXPECT_EQ(run({"/usr/bin/dpkg", "-r", "epochd"}).code, 0);
  EXPECT_NE(property("ActiveState"), "active");
  EXPECT_TRUE(std::filesystem::exists(machine_->path(kSettings))) << "until it is purged";
  EXPECT_EQ(run({"/usr/bin/dpkg", "-P", "epochd"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(machine_->path(kSettings)));
  EXPECT_EQ(shell(std::string("stat -c %U ") + kQueue + "/done"), "epochd");
  EXPECT_EQ(shell("find /etc/systemd /lib/systemd -name 'epochd.service'"), "");
}

}  // namespace
}  // namespace epochd::e2e
