// epoch-report: results imported, compared, validated, and documents that say what they say.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "bench/abba/process.hpp"
#include "bench/report/document.hpp"
#include "bench/report/json_schema.hpp"
#include "bench/report/kernels.hpp"
#include "bench/report/tables.hpp"

namespace epochd::bench {
namespace {

namespace fs = std::filesystem;

const char* const kSource = EPOCHD_SOURCE_DIR;

/// What Google Benchmark writes for two repetitions and their mean, cut down to what is read.
Json benchmark_of(const std::string& name, std::vector<double> milliseconds, Json counters) {
  Json list = Json::array();
  for (const double ms : milliseconds) {
    Json entry = {{"name", name + "/repeats:2"},
                  {"run_name", name + "/iterations:3/manual_time"},
                  {"run_type", "iteration"},
                  {"real_time", ms},
                  {"time_unit", "ms"}};
    entry.update(counters);
    list.push_back(entry);
  }
  list.push_back({{"run_name", name}, {"run_type", "aggregate"}, {"real_time", 1e9}});
  return list;
}

Json google_json() {
  Json all = Json::array();
  const auto add = [&](const Json& list) {
    for (const Json& entry : list) all.push_back(entry);
  };
  add(benchmark_of("ceiling/bytes/copy", {10, 8}, {{"bytes", 8e6}, {"workers", 2}}));
  add(benchmark_of("ceiling/butterflies", {4, 5}, {{"butterflies", 4e6}, {"workers", 2}}));
  add(benchmark_of("lde", {3, 2, 4}, {{"bytes", 1e6}, {"butterflies", 1.5e6}, {"workers", 2}}));
  add(benchmark_of("replay", {7, 7}, Json::object()));
  return {{"context", {{"date", "2026-01-01T00:00:00Z"}}}, {"benchmarks", all}};
}

TEST(Kernels, FloorsComeFromTheCeilingsMeasuredBeside) {
  const Json kernels = kernels_from_benchmarks({google_json()}, "this machine");
  EXPECT_EQ(kernels["ceilings"]["threads:2"]["bytes"], 1e9);
  EXPECT_EQ(kernels["ceilings"]["threads:2"]["butterflies"], 1e9);
  ASSERT_EQ(kernels["kernels"].size(), 2u);
  const Json& lde = kernels["kernels"][0];
  EXPECT_DOUBLE_EQ(lde["median_seconds"].get<double>(), 0.003);
  EXPECT_DOUBLE_EQ(lde["floor_seconds"].get<double>(), 0.0015);
  EXPECT_EQ(lde["bound"], "arithmetic");
  EXPECT_FALSE(kernels["kernels"][1].contains("floor_seconds")) << "no work is said";
}

TEST(Kernels, OfSeveralRunsTheBestOfEachIsKept) {
  const auto file = [](std::vector<double> lde) -> Json {
    return {{"context", {{"date", ""}}}, {"benchmarks", benchmark_of("lde", lde, Json::object())}};
  };
  const auto seconds = [](const std::vector<Json>& files) {
    return kernels_from_benchmarks(files, "m")["kernels"][0]["seconds"];
  };
  EXPECT_EQ(seconds({file({3000, 2000})}), (Json{3.0, 2.0})) << "every repetition of one run";
  EXPECT_EQ(seconds({file({3000, 2000}), file({4000, 5000, 9000})}), (Json{2.0, 4.0}));
}

TEST(Kernels, FilesHoldAgainstTheirSchema) {
  const Json schema = read_json(std::string(kSource) + "/bench/report/kernels.schema.json");
  Json kernels = kernels_from_benchmarks({google_json()}, "this machine");
  EXPECT_EQ(schema_errors(schema, kernels), std::vector<std::string>{});
  kernels["kernels"][0]["seconds"][1] = 0;
  kernels["kernels"][0]["bound"] = "luck";
  kernels["kernels"][1].erase("name");
  kernels["ceilings"]["threads:2"]["wishes"] = 1;
  kernels["schema"] = "epoch-kernels/2";
  const std::vector<std::string> errors = schema_errors(schema, kernels);
  ASSERT_EQ(errors.size(), 5u);
  const auto says = [&](const char* path) {
    return std::any_of(errors.begin(), errors.end(),
                       [&](const std::string& e) { return e.starts_with(path); });
  };
  EXPECT_TRUE(says("/kernels/0/seconds/1: must be more than 0"));
  EXPECT_TRUE(says("/kernels/0/bound: must be one of"));
  EXPECT_TRUE(says("/kernels/1: lacks name"));
  EXPECT_TRUE(says("/ceilings/threads:2/wishes: is not known"));
  EXPECT_TRUE(says("/schema: must be"));
  EXPECT_FALSE(schema_errors({{"maxItems", 3}}, Json::array()).empty())
      << "a keyword that nobody checks";
}

Json with_times(const std::vector<std::pair<std::string, std::vector<double>>>& kernels) {
  Json list = Json::array();
  for (const auto& [name, seconds] : kernels) {
    list.push_back({{"name", name}, {"seconds", seconds}});
  }
  return {{"kernels", list}};
}

TEST(Kernels, OnlyWhatIsBeyondNoiseAndThresholdGotSlower) {
  const Json before = with_times({{"steady", {1.00, 1.01, 0.99}},
                                  {"slow", {1.00, 1.01, 0.99}},
                                  {"fast", {1.00, 1.01, 0.99}},
                                  {"noisy", {1.0, 1.6, 0.7}},
                                  {"removed", {1, 1}}});
  const Json after = with_times({{"steady", {1.03, 1.02, 1.04}},
                                 {"slow", {1.20, 1.21, 1.19}},
                                 {"fast", {0.70, 0.71, 0.69}},
                                 {"noisy", {1.2, 1.9, 0.8}},
                                 {"made", {1, 1}}});
  const Comparison result = compare_kernels(before, after, 5);
  ASSERT_EQ(result.slower.size(), 1u);
  EXPECT_EQ(result.slower[0].name, "slow");
  EXPECT_NEAR(result.slower[0].percent, 20, 0.1);
  EXPECT_GT(result.slower[0].percent_low, 5);
  ASSERT_EQ(result.faster.size(), 1u);
  EXPECT_EQ(result.faster[0].name, "fast");
  EXPECT_EQ(result.same, 2);
  EXPECT_EQ(result.gone, std::vector<std::string>{"removed"});
  EXPECT_EQ(result.added, std::vector<std::string>{"made"});
}

TEST(Document, MakesItsTablesAgainAndNothingElse) {
  const std::string text =
      "# Title\n<!-- table suite a.json -->\nold\n<!-- end of table -->\nprose\n";
  const auto make = [](const std::string& kind, const std::string& file) {
    return "| " + kind + " of " + file + " |\n";
  };
  const std::string made = regenerate(text, make);
  EXPECT_EQ(made,
            "# Title\n<!-- table suite a.json -->\n\n| suite of a.json |\n\n"
            "<!-- end of table -->\nprose\n");
  EXPECT_EQ(regenerate(made, make), made) << "again";
  EXPECT_EQ(regenerate("no table\n", make), "no table\n");
  EXPECT_THROW(regenerate("<!-- table suite a.json -->\n", make), std::runtime_error);
  EXPECT_THROW(regenerate("<!-- table suite -->\n<!-- end of table -->\n", make),
               std::runtime_error);
}

TEST(Tables, KeepChipsRatesAndOtherKernelsApart) {
  const Json results = {
      {"schema", "epoch-kernels/1"},
      {"ceilings", Json::object()},
      {"kernels",
       {{{"name", "logup/addi"}, {"median_seconds", 2e-6}},
        {{"name", "constraints/addi"}, {"median_seconds", 3e-6}, {"floor_seconds", 1e-6}},
        {{"name", "scout fib"}, {"median_seconds", 1}, {"items_per_second", 5e8}},
        {{"name", "lde"}, {"median_seconds", 1}}}}};
  EXPECT_NE(make_table("chips", results).find("| addi | 3 us (3.0) | 2 us |  |"), std::string::npos)
      << make_table("chips", results);
  EXPECT_NE(make_table("rates", results).find("| scout fib | 500 M/s |"), std::string::npos);
  const std::string kernels = make_table("kernels", results);
  EXPECT_NE(kernels.find("`lde`"), std::string::npos);
  EXPECT_EQ(kernels.find("addi"), std::string::npos);
  EXPECT_EQ(kernels.find("scout"), std::string::npos);
}

TEST(Tables, RefuseResultsOfAnotherKind) {
  EXPECT_THROW(make_table("suite", {{"schema", "epoch-abba/1"}}), std::runtime_error);
  EXPECT_THROW(make_table("suite", Json::array()), std::runtime_error);
  EXPECT_THROW(make_table("wishes", Json::object()), std::runtime_error);
}

/// Every document with tables says what the committed results say.
TEST(Tables, CommittedDocumentsSayWhatTheirResultsSay) {
  int tables = 0;
  for (const auto& entry : fs::directory_iterator(std::string(kSource) + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = read_file(entry.path());
    const std::string made =
        regenerate(text, [&](const std::string& kind, const std::string& file) {
          ++tables;
          return make_table(kind, read_json(std::string(kSource) + "/" + file));
        });
    EXPECT_EQ(made, text) << entry.path() << ": run epoch-report docs docs/*.md";
  }
  EXPECT_GE(tables, 1);
}

TEST(ReportProgram, ExitsAsItsVerdict) {
  const std::string folder = testing::TempDir() + "report-" + std::to_string(getpid());
  fs::create_directories(folder);
  const auto path = [&](const char* name) { return folder + "/" + name; };
  write_file(path("google.json"), google_json().dump());
  const auto report = [](const std::string& arguments) {
    return abba::run_shell(EPOCHD_REPORT " " + arguments);
  };
  ASSERT_EQ(report("import " + path("google.json") + " -o " + path("a.json")).exit_code, 0);
  const std::string schema = std::string(kSource) + "/bench/report/kernels.schema.json ";
  EXPECT_EQ(report("validate " + schema + path("a.json")).exit_code, 0);
  EXPECT_EQ(report("validate " + schema + path("google.json")).exit_code, 2);
  EXPECT_EQ(report("compare " + path("a.json") + " " + path("a.json")).exit_code, 0);
  Json slower = read_json(path("a.json"));
  for (Json& kernel : slower["kernels"]) {
    for (Json& seconds : kernel["seconds"]) seconds = 10 * seconds.get<double>();
  }
  write_file(path("b.json"), slower.dump());
  const auto worse = report("compare " + path("a.json") + " " + path("b.json"));
  EXPECT_EQ(worse.exit_code, 2);
  EXPECT_NE(worse.out.find("slower   +900.0 %"), std::string::npos) << worse.out;
  slower["machine"] = "another";
  write_file(path("b.json"), slower.dump());
  EXPECT_EQ(report("compare " + path("a.json") + " " + path("b.json")).exit_code, 1);
  EXPECT_NE(report("table kernels " + path("a.json")).out.find("| `lde` | 3 ms | 1.5 ms | 2.00 |"),
            std::string::npos);

  write_file(path("doc.md"), "<!-- table kernels a.json -->\n<!-- end of table -->\n");
  const std::string docs = "docs --root " + folder + " " + path("doc.md");
  EXPECT_EQ(report(docs + " --check").exit_code, 2);
  EXPECT_EQ(report(docs).exit_code, 0);
  EXPECT_EQ(report(docs + " --check").exit_code, 0);
  EXPECT_EQ(report("docs no-such.md").exit_code, 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace epochd::bench
