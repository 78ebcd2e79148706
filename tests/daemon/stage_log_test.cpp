// Totals of stages, and the trace that viewers of Chrome's format read.
#include "daemon/pipeline/stage_log.hpp"

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

TEST_F(QueueTest, StageLogAddsUpByName) {
  StageLog log;
  log.add("a", {"prove", 1'000'000'000, 3'000'000'000});
  log.add("b", {"prove", 2'000'000'000, 2'500'000'000});
  log.add("b", {"verify", 5, 5});
  EXPECT_EQ(log.seconds(), (std::map<std::string, double>{{"prove", 2.5}, {"verify", 0}}));
}

TEST_F(QueueTest, TraceIsJsonWithARowForEachLane) {
  const Path path = root() / "trace.json";
  constexpr int kSpans = 1000;  // more than the buffer holds
  {
    TraceFile trace(fs_, path);
    StageLog log(&trace);
    std::thread other([&] {
      for (int i = 0; i < kSpans; ++i) log.add("pool 0", {"prove", i, i + 2}, 7);
    });
    for (int i = 0; i < kSpans; ++i) const LoggedStage stage(log, "scout", "seal");
    other.join();
    trace.close();
  }
  const auto trace = nlohmann::json::parse(read(path));
  std::map<std::string, int> rows;
  std::map<int, int> events;
  for (const auto& event : trace) {
    if (event["ph"] == "M" && event["name"] == "thread_name") {
      rows[event["args"]["name"]] = event["tid"];
    }
    if (event["ph"] != "X") continue;
    ++events[event["tid"]];
    EXPECT_GE(event["dur"], 0);
    EXPECT_EQ(event.contains("args"), event["name"] == "prove");
  }
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(events[rows["pool 0"]], kSpans);
  EXPECT_EQ(events[rows["scout"]], kSpans);
}

TEST_F(QueueTest, AnEmptyTraceIsJsonToo) {
  const Path path = root() / "trace.json";
  TraceFile(fs_, path).close();
  EXPECT_EQ(nlohmann::json::parse(read(path)), nlohmann::json::array());
}

TEST_F(QueueTest, ATraceThatCannotBeWrittenIsToldAtItsEnd) {
  FaultyFileSystem faulty;
  faulty.fail_at(1, ENOSPC);
  TraceFile trace(faulty, root() / "trace.json");
  for (int i = 0; i < 2000; ++i) trace.add("row", {"stage", i, i + 1}, 0);
  EXPECT_THROW(trace.close(), IoError);
}

}  // namespace
}  // namespace epochd
