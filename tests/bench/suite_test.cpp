// epoch-bench: what is in a suite, and the program with an `epoch` that makes its numbers up.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/abba/process.hpp"
#include "bench/suite/suite.hpp"
#include "bench/workloads/workload.hpp"

namespace epochd::bench {
namespace {

namespace fs = std::filesystem;

TEST(Suite, NamesWorkloadsThatExist) {
  const SuiteOptions options = {.epoch_size_log2 = 16, .threads_max = 6};
  for (const char* name : {"smoke", "workloads", "scaling", "all"}) {
    const auto cases = make_suite(name, options);
    ASSERT_TRUE(cases) << name;
    EXPECT_FALSE(cases->empty());
    for (const Case& c : *cases) {
      EXPECT_TRUE(make_workload(c.workload)) << c.workload;
      EXPECT_EQ(c.epoch_size_log2, 16u);
    }
  }
  EXPECT_FALSE(make_suite("everything", options));
}

// 5 cycles an iteration and a few before them: the last epoch is begun and not full.
TEST(Suite, ScalesFromFourEpochsToSixtyFourAndOneThreadToAll) {
  std::vector<uint64_t> epochs;
  std::vector<uint32_t> threads;
  const auto on_cpu = make_suite("scaling", {.epoch_size_log2 = 16, .threads_max = 6});
  for (const Case& c : *on_cpu) {
    const uint64_t cycles = make_workload(c.workload)->input[0] * 5 + 107;
    if (c.group == "epochs") epochs.push_back((cycles + 65535) >> 16);
    if (c.group == "threads") threads.push_back(c.threads);
  }
  EXPECT_EQ(epochs, (std::vector<uint64_t>{4, 8, 16, 32, 64}));
  EXPECT_EQ(threads, (std::vector<uint32_t>{1, 2, 4, 6}));
  const auto on_device = make_suite("scaling", {.threads_max = 6, .on_cpu = false});
  for (const Case& c : *on_device) EXPECT_EQ(c.group, "epochs");
}

class BenchProgram : public ::testing::Test {
 protected:
  BenchProgram() : directory_(testing::TempDir() + "bench-" + std::to_string(getpid())) {
    fs::create_directories(directory_);
    std::ofstream(path("epoch"))
        << "#!/bin/sh\necho \"$@\" >> " << path("calls") << "\nread n < " << path("n")
        << "\necho $((n + 1)) > " << path("n")
        << "\necho \"{\\\"prove_seconds\\\": $((3 - n % 2)).5, \\\"cycles\\\": 7000000,"
           " \\\"cycles_per_second\\\": $((2000000 + n % 2 * 800000)), \\\"epochs\\\": 7,"
           " \\\"verify_seconds\\\": 0.0125, \\\"proof_bytes\\\": 1500000}\"\n";
    std::ofstream(path("n")) << "0\n";
    fs::permissions(path("epoch"), fs::perms::owner_all);
  }
  ~BenchProgram() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  abba::ProcessResult bench(const std::string& arguments) const {
    return abba::run_shell(EPOCHD_BENCH " --guests /guests --epoch " + path("epoch") + " " +
                           arguments);
  }

 private:
  fs::path directory_;
};

TEST_F(BenchProgram, ReportsTheFastestOfEachCase) {
  const auto run = bench("--only fib-5k matmul --repeat 2 --epoch-size-log2 14 --floor-mhz 5.6" +
                         std::string(" --json ") + path("o.json") + " --html " + path("o.html"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("matmul"), std::string::npos) << run.out;

  const auto json = nlohmann::json::parse(abba::read_text(path("o.json")));
  EXPECT_EQ(json["schema"], "epoch-bench/1");
  ASSERT_EQ(json["cases"].size(), 2u);
  const auto& first = json["cases"][0];
  EXPECT_EQ(first["workload"], "fib-5k");
  EXPECT_EQ(first["prove_seconds"], (std::vector<double>{3.5, 2.5}));
  EXPECT_EQ(first["prove_seconds_median"], 3.0);
  EXPECT_EQ(first["record"]["prove_seconds"], 2.5);
  EXPECT_EQ(first["mhz"], 2.8);
  EXPECT_EQ(first["of_floor"], 0.5);

  const std::string calls = abba::read_text(path("calls"));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 4);
  EXPECT_NE(calls.find("prove /guests/fib.elf --input "), std::string::npos) << calls;
  EXPECT_NE(calls.find("--epoch-size-log2 14"), std::string::npos) << calls;
  const std::string html = abba::read_text(path("o.html"));
  EXPECT_NE(html.find("<td>2.800</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>50 %</td>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST_F(BenchProgram, DrawsWhatScales) {
  const auto run = bench("--suite smoke --repeat 1 --html " + path("o.html"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string html = abba::read_text(path("o.html"));
  EXPECT_NE(html.find("MHz over threads"), std::string::npos);
  EXPECT_NE(html.find("<polyline"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

/// A machine that does 1 G of everything a second, on one thread as on two.
const char* const kCeilings =
    R"({"schema": "epoch-kernels/1", "ceilings": {"threads:1": {"bytes": 1e9,
    "multiplications": 1e9, "butterflies": 1e9, "compressions": 1e9}}})";

TEST_F(BenchProgram, SetsStagesBesideTheirFloors) {
  std::ofstream(path("ceilings")) << kCeilings;
  std::ofstream(path("epoch"))
      << "#!/bin/sh\ncase $1 in\n"
         "inspect) echo '{\"epochs\": [{\"tables\": [{\"chip\": \"addi\", \"log2_rows\": 10}]},"
         " {\"tables\": [{\"chip\": \"addi\", \"log2_rows\": 10}]}]}' ;;\n"
         "*) echo '{\"prove_seconds\": 2, \"cycles\": 4096, \"cycles_per_second\": 2048,"
         " \"stages\": {\"fill\": 0.5, \"grind\": 0.25}}' ;;\nesac\n";
  const auto run = bench("--only fib-5k --repeat 1 --ceilings " + path("ceilings") + " --json " +
                         path("o.json") + " --html " + path("o.html"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(abba::read_text(path("o.json")));
  const auto& floors = json["cases"][0]["stage_floor_seconds"];
  EXPECT_DOUBLE_EQ(floors["grind"].get<double>(), 2 * 1048576 / 1e9) << "two epochs, 20 bits";
  double all = 0;
  for (const auto& floor : floors) all += floor.get<double>();
  EXPECT_NEAR(json["cases"][0]["of_floor"].get<double>(), all / 2, 1e-12);
  const std::string html = abba::read_text(path("o.html"));
  EXPECT_NE(html.find("<td>grind</td><td>0.2500</td><td>0.0021</td>"), std::string::npos) << html;

  std::ofstream(path("ceilings")) << "{}";
  EXPECT_EQ(bench("--only fib-5k --ceilings " + path("ceilings")).exit_code, 1);
}

TEST_F(BenchProgram, EndsAProofThatTakesTooLong) {
  std::ofstream(path("epoch")) << "#!/bin/sh\nsleep 60\n";
  const auto run = bench("--only fib-5k --timeout 0.2");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("took longer than 0.2 s"), std::string::npos) << run.err;
}

TEST(Suite, CeilingsAreThoseOfTheThreadsThatWork) {
  const CeilingsByThreads all = {{1, {.bytes = 1}}, {8, {.bytes = 8}}};
  EXPECT_EQ(ceilings_for(all, 1).bytes, 1);
  EXPECT_EQ(ceilings_for(all, 4).bytes, 1);
  EXPECT_EQ(ceilings_for(all, 16).bytes, 8);
}

TEST_F(BenchProgram, SaysWhatFailed) {
  EXPECT_EQ(bench("--suite everything").exit_code, 2);
  const auto unknown = bench("--only no-such");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("no workload no-such"), std::string::npos) << unknown.err;
  std::ofstream(path("epoch")) << "#!/bin/sh\necho broken >&2\nexit 3\n";
  const auto broken = bench("--only fib-5k");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_NE(broken.err.find("ended with 3: broken"), std::string::npos) << broken.err;
}

}  // namespace
}  // namespace epochd::bench
