// Every series the daemon exports is one that something moves, and is in the operator's manual.
#include "daemon/service/metrics.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "daemon/queue/steer.hpp"
#include "tests/daemon/service_fixture.hpp"

namespace epochd {
namespace {

/// Values by series, and families by their TYPE lines, of a page of metrics.
struct MetricsPage {
  explicit MetricsPage(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# TYPE ")) {
        families.insert(line.substr(7, line.find(' ', 7) - 7));
      } else if (!line.starts_with("#")) {
        const size_t space = line.rfind(' ');
        values[line.substr(0, space)] = std::stod(line.substr(space + 1));
      }
    }
  }
  double at(const std::string& series) const {
    const auto found = values.find(series);
    return found == values.end() ? -1 : found->second;
  }
  std::map<std::string, double> values;
  std::set<std::string> families;
};

TEST(Metrics, TextFormat) {
  MetricsRegistry registry;
  Metric& counter = registry.counter("a_total", "Help.", {"kind", "x\"\\\n"});
  counter.add();
  counter.add(0.5);
  EXPECT_EQ(&registry.counter("a_total", "Help.", {"kind", "x\"\\\n"}), &counter);
  registry.gauge("b_bytes", "More help.").set(1e12);
  Histogram& histogram = registry.histogram("c_seconds", "Spread.", {0.5, 2});
  for (const double value : {0.1, 0.5, 1.0, 3.0}) histogram.observe(value);
  EXPECT_EQ(registry.text(), R"(# HELP a_total Help.
# TYPE a_total counter
a_total{kind="x\"\\\n"} 1.5
# HELP b_bytes More help.
# TYPE b_bytes gauge
b_bytes 1e+12
# HELP c_seconds Spread.
# TYPE c_seconds histogram
c_seconds_bucket{le="0.5"} 2
c_seconds_bucket{le="2"} 3
c_seconds_bucket{le="+Inf"} 4
c_seconds_sum 4.6
c_seconds_count 4
)");
}

TEST(Metrics, ManyThreadsLoseNothing) {
  MetricsRegistry registry;
  Histogram& histogram = registry.histogram("h", "", {1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        registry.counter("c_total", "").add();
        histogram.observe(0.5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MetricsPage page(registry.text());
  EXPECT_EQ(page.at("c_total"), 40'000);
  EXPECT_EQ(page.at("h_count"), 40'000);
  EXPECT_EQ(page.at("h_sum"), 20'000);
}

class MetricsTest : public ServiceTest {
 protected:
  MetricsPage page() {
    const MetricsPage now(http_get(port(), "/metrics").body);
    for (const auto& [series, value] : now.values) {
      if (value > 0) moved_.insert(series);
    }
    return now;
  }
  bool wait_for_value(const std::string& series, double at_least) {
    return wait_until([&] { return page().at(series) >= at_least; });
  }
  void expect_value(const std::string& series, double at_least) {
    EXPECT_TRUE(wait_for_value(series, at_least)) << series << " is " << page().at(series);
  }
  static std::string attempts(const std::string& outcome) {
    return "epochd_attempts_total{outcome=\"" + outcome + "\"}";
  }
  static std::string errors(const std::string& reason) {
    return "epochd_prover_errors_total{reason=\"" + reason + "\"}";
  }

  std::set<std::string> moved_;  ///< series that ever were above 0
};

TEST_F(MetricsTest, EverySeriesIsMoved) {
  // One file of an old answer, for retention to remove.
  write(queue() / "failed/old" / kReasonFile, "{}");
  std::filesystem::last_write_time(
      queue() / "failed/old" / kReasonFile,
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 30));
  const std::string settings = "backend: cuda-preferred\nretention: {failed_days: 7}\n";
  configure(settings);
  add("good", "epochs=3 device=1 refuse=1 pause_ms=1 flood=50");
  add("guest", "fault=guest");
  add("cycles", "fault=cycles");
  add("memory", "fault=memory epochs=2 at=1");
  add("invalid", "fault=verify epochs=1");
  add("lost", "lost=1");
  add("nonsense", "nonsense");
  start();
  expect_value("epochd_queue_jobs{place=\"failed\"}", 3);
  expect_value("epochd_queue_jobs{place=\"quarantine\"}", 3);
  expect_value("epochd_queue_jobs{place=\"done\"}", 1);
  expect_value(attempts("done"), 1);
  expect_value(attempts("failed"), 6);
  expect_value(attempts("retry"), 3);
  for (const char* reason : {"guest-fault", "cycle-limit", "memory", "internal", "gpu", "input"}) {
    expect_value(errors(reason), 1);
  }
  expect_value("epochd_epochs_total{source=\"proved\"}", 4);
  expect_value("epochd_cycles_total", 300);
  expect_value("epochd_epoch_retries_total", 2);
  expect_value("epochd_self_verify_failures_total", 3);
  expect_value("epochd_fallback_proofs_total", 4);
  expect_value("epochd_device_worker_restarts_total", 5);
  expect_value("epochd_device_transfer_bytes_total{direction=\"to-device\"}", 1000);
  expect_value("epochd_device_transfer_bytes_total{direction=\"from-device\"}", 100);
  expect_value("epochd_stage_seconds_total{stage=\"scripted stage\"}", 1.5);
  expect_value("epochd_log_suppressed_total", 30);
  expect_value("epochd_job_seconds_count", 10);
  expect_value("epochd_retention_removed_jobs_total{place=\"failed\"}", 1);
  expect_value("epochd_retention_removed_bytes_total{place=\"failed\"}", 2);
  expect_value("epochd_queue_disk_free_bytes", 1);
  expect_value("process_resident_memory_bytes", 1 << 20);
  expect_value("epochd_peak_resident_memory_bytes", 1 << 20);
  expect_value("process_start_time_seconds", 1.7e9);

  add("device", "epochs=1 device=1");
  expect_value("epochd_device_peak_bytes", 10'000);
  add("held", "epochs=1");
  add("running", "epochs=1000 pause_ms=5");
  expect_value("epochd_job_running", 1);
  expect_value("epochd_queue_jobs{place=\"active\"}", 1);
  ASSERT_TRUE(wait_until([&] { return state_of("running").starts_with("proving("); }));
  add("beside", "epochs=1 at=1");
  expect_value("epochd_job_running", 2);
  expect_value("epochd_jobs_waiting_for_turn", 1);
  cancel_job(fs_, queue(), "running");
  expect_value(attempts("cancelled"), 1);
  expect_value("epochd_queue_jobs{place=\"cancelled\"}", 1);

  signal(SIGHUP);
  expect_value("epochd_config_reloads_total{result=\"accepted\"}", 1);
  configure("nonsense: 1\n");
  signal(SIGHUP);
  expect_value("epochd_config_reloads_total{result=\"refused\"}", 1);
  http_get(port(), "/nowhere");
  expect_value("epochd_http_responses_total{code=\"404\"}", 1);

  // Families none of whose series moved: there must be none, but what this build cannot have.
  for (const std::string& family : page().families) {
    const bool is_moved = std::any_of(moved_.begin(), moved_.end(), [&](const std::string& series) {
      return series.starts_with(family);
    });
    const bool is_of_jemalloc = family == "epochd_jemalloc_bytes" && !EPOCHD_HAS_JEMALLOC;
    EXPECT_TRUE(is_moved || is_of_jemalloc) << family;
  }
}

TEST_F(MetricsTest, ResumedEpochsAndStopsAreCountedApart) {
  add("a", "epochs=100 pause_ms=10");
  start();
  ASSERT_TRUE(wait_until([&] { return page().at("epochd_epochs_total{source=\"proved\"}") > 10; }));
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
  std::filesystem::remove(root() / "log");
  start();
  expect_value("epochd_epochs_total{source=\"earlier-attempt\"}", 10);
  expect_value(attempts("done"), 1);
}

TEST_F(MetricsTest, AHeapProfileIsWrittenOnDemandWhereThatIsPossible) {
  if (!EPOCHD_HAS_JEMALLOC) GTEST_SKIP() << "built without jemalloc";
  start();
  port();
  signal(SIGUSR1);
  ASSERT_TRUE(wait_until([&] { return is_logged("no heap profile why="); }));
  signal(SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
  if (is_logged("built without profiling")) GTEST_SKIP() << "this jemalloc has no profiling";
  EXPECT_TRUE(is_logged("profiling is off; start with MALLOC_CONF=prof:true"));

  std::filesystem::remove(root() / "log");
  start({{"MALLOC_CONF", "prof:true"}});
  port();
  signal(SIGUSR1);
  ASSERT_TRUE(wait_until([&] { return is_logged("heap profile written"); })) << log_text();
  const std::string name = "heap-" + std::to_string(pid()) + "-1.prof";
  EXPECT_TRUE(read(queue() / kTmpName / name).starts_with("heap_v2/"));
}

TEST_F(MetricsTest, MemoryIsAsTheAllocatorHasItNow) {
  if (!EPOCHD_HAS_JEMALLOC) GTEST_SKIP() << "built without jemalloc";
  start();
  const MetricsPage now = page();
  const auto part = [&](const std::string& kind) {
    return now.at("epochd_jemalloc_bytes{kind=\"" + kind + "\"}");
  };
  EXPECT_GT(part("allocated"), 0);
  EXPECT_GE(part("active"), part("allocated"));
  EXPECT_GE(part("resident"), part("active"));
  EXPECT_GT(part("metadata"), 0);
}

TEST_F(MetricsTest, EverySeriesIsInTheManual) {
  std::ifstream file(EPOCHD_SOURCE_DIR "/docs/operations.md");
  std::stringstream manual;
  manual << file.rdbuf();
  start();
  for (const std::string& family : page().families) {
    EXPECT_NE(manual.str().find("`" + family + "`"), std::string::npos) << family;
  }
}

}  // namespace
}  // namespace epochd
