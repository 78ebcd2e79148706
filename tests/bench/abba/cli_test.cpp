// The program itself: commands that print made-up times, exit codes, and every kind of output.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/abba/process.hpp"

namespace epochd::abba {
namespace {

namespace fs = std::filesystem;

class AbbaProgram : public ::testing::Test {
 protected:
  AbbaProgram() : directory_(testing::TempDir() + "abba-" + std::to_string(getpid())) {
    fs::create_directories(directory_);
  }
  ~AbbaProgram() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string text(const std::string& name) const { return read_text(path(name)); }

  /// A command that prints prove_seconds: `values` in turn, from the start again after the last.
  std::string command(const std::string& name, const std::string& values,
                      const std::string& more = "") const {
    std::ofstream(path(name + ".n")) << "0\n";
    std::ofstream(path(name)) << "read n < " << path(name + ".n") << "\n"
                              << "echo $((n + 1)) > " << path(name + ".n") << "\n"
                              << "set -- " << values << "\n"
                              << "shift $((n % $#))\n"
                              << "echo \"{\\\"prove_seconds\\\": $1 " << more << "}\"\n";
    return "'sh " + path(name) + "'";
  }
  ProcessResult abba(const std::string& arguments) const {
    return run_shell(EPOCHD_ABBA " --no-rules --seed 5 --warmup 1 " + arguments);
  }

 private:
  fs::path directory_;
};

const char* const kAroundOne = "1.000 1.002 0.999 1.001 0.998";

TEST_F(AbbaProgram, TellsEveryVerdictByItsExitCode) {
  const std::string base = " --b " + command("base", kAroundOne);
  const auto run = [&](const std::string& a) { return abba("--blocks 8 --a " + a + base); };
  const ProcessResult better = run(command("better", "0.90 0.901 0.899 0.902"));
  EXPECT_EQ(better.exit_code, 0) << better.out << better.err;
  EXPECT_NE(better.out.find("improvement: the interval ["), std::string::npos) << better.out;
  EXPECT_NE(better.err.find("seed 5"), std::string::npos) << better.err;
  const ProcessResult worse = run(command("worse", "1.10 1.101 1.099 1.102"));
  EXPECT_EQ(worse.exit_code, 2) << worse.out;
  const ProcessResult same = run(command("same", "1.001 0.999 1.000"));
  EXPECT_EQ(same.exit_code, 0) << same.out;
  EXPECT_NE(same.out.find("equivalent:"), std::string::npos) << same.out;
  const ProcessResult noisy = run(command("noisy", "0.5 2.0 1.1 0.7 1.6 0.9 1.3"));
  EXPECT_EQ(noisy.exit_code, 4) << noisy.out;
}

TEST_F(AbbaProgram, TheControlMetricGuardsTheVerdict) {
  const std::string a = command("a", "0.90 0.901 0.899", ", \\\"execute_seconds\\\": 0.2");
  const std::string b = command("b", kAroundOne, ", \\\"execute_seconds\\\": 0.1");
  EXPECT_EQ(abba("--blocks 6 --a " + a + " --b " + b).exit_code, 3);
  EXPECT_EQ(abba("--blocks 6 --control '' --a " + a + " --b " + b).exit_code, 0);
}

// What runs beside the proving moves with it; a program that runs alone does not.
TEST_F(AbbaProgram, AControlCommandReplacesOneThatIsPartOfTheRun) {
  const std::string sides = " --a " +
                            command("a", "0.90 0.901 0.899", ", \\\"execute_seconds\\\": 0.2") +
                            " --b " + command("b", kAroundOne, ", \\\"execute_seconds\\\": 0.1");
  const std::string alone = command("alone", "1 1.001 0.999", ", \\\"execute_seconds\\\": 0.05");
  const ProcessResult part = abba("--blocks 6" + sides);
  EXPECT_EQ(part.exit_code, 3);
  EXPECT_NE(part.out.find("--control-command"), std::string::npos) << part.out;
  const ProcessResult run = abba("--blocks 6 --control-command " + alone + sides);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("control (execute_seconds)      +0.00 %"), std::string::npos) << run.out;
  EXPECT_EQ(abba("--blocks 6 --no-control" + sides).exit_code, 0);
  EXPECT_EQ(abba("--blocks 6 --control '' --control-command true" + sides).exit_code, 1);
}

TEST_F(AbbaProgram, ServedCommandsAreStartedOnce) {
  std::ofstream(path("serve"))
      << "echo started >> " << path("starts")
      << "\nwhile read line; do echo \"{\\\"prove_seconds\\\": $1}\"; done\n";
  const std::string serve = "sh " + path("serve");
  const ProcessResult run = abba("--serve --blocks 6 --a '" + serve + " 1' --b '" + serve + " 2'");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("improvement:"), std::string::npos) << run.out;
  EXPECT_EQ(text("starts"), "started\nstarted\n");
  EXPECT_EQ(abba("--serve --aa --blocks 2 --a 'read line; exit 7'").exit_code, 1);
}

TEST_F(AbbaProgram, RunsThatTakeTooLongAreToolErrors) {
  const ProcessResult run = abba("--timeout 0.2 --metric wall --aa --blocks 2 --a 'sleep 60'");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("took longer than 0.2"), std::string::npos) << run.err;
}

TEST_F(AbbaProgram, AaRunsOneCommandTwice) {
  const ProcessResult run = abba("--aa --blocks 6 --a " + command("a", kAroundOne));
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_NE(run.out.find("equivalent:"), std::string::npos) << run.out;
}

TEST_F(AbbaProgram, MeasuresWallTime) {
  const ProcessResult run =
      abba("--metric wall --blocks 2 --threshold 20 --a 'sleep 0.02' --b 'sleep 0.2'");
  EXPECT_NE(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("A against B"), std::string::npos) << run.out;
}

TEST_F(AbbaProgram, WritesEveryForm) {
  const std::string a = command("a", "0.90 0.901 0.899 0.902");
  const std::string b = command("b", kAroundOne);
  const ProcessResult run =
      abba("--blocks 6 --title 'x < y' --a " + a + " --b " + b + " --json " + path("o.json") +
           " --csv " + path("o.csv") + " --markdown " + path("o.md") + " --html " + path("o.html"));
  ASSERT_EQ(run.exit_code, 0) << run.err;

  const auto json = nlohmann::json::parse(text("o.json"));
  EXPECT_EQ(json["schema"], "epoch-abba/1");
  EXPECT_EQ(json["verdict"], "improvement");
  EXPECT_EQ(json["seed"], 5);
  EXPECT_EQ(json["blocks"].size(), 7u);
  EXPECT_EQ(json["estimate"]["blocks"], 6);
  EXPECT_NEAR(json["estimate"]["effect_percent"].get<double>(), -9.95, 0.3);
  for (const auto& block : json["blocks"]) EXPECT_EQ(block["runs"].size(), 4u);

  const std::string csv = text("o.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 7);
  const std::string markdown = text("o.md");
  EXPECT_TRUE(markdown.starts_with("### x < y: improvement (-")) << markdown;

  const std::string html = text("o.html");
  EXPECT_NE(html.find("x &lt; y"), std::string::npos);
  EXPECT_EQ(html.find("x < y"), std::string::npos) << "not escaped";
  EXPECT_EQ(html.find("nan"), std::string::npos);
  for (const char* outside : {"http://", "https://", "src=", "<link", "<script"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  size_t dots = 0;
  for (size_t at = html.find("<circle"); at != std::string::npos; at = html.find("<circle", at + 1))
    ++dots;
  EXPECT_EQ(dots, 6u + 4 * 7 + 2) << "a dot a block, a dot a run, two in the legend";
}

// With the rules on, whatever this machine does: the blocks are there, and so is what struck them.
TEST_F(AbbaProgram, LooksAtTheMachine) {
  const std::string arguments =
      " --aa --blocks 2 --a " + command("a", kAroundOne) + " --json " + path("o.json");
  const ProcessResult run = run_shell(EPOCHD_ABBA + arguments);
  if (run.exit_code == 3) {
    EXPECT_NE(run.err.find("struck out: "), std::string::npos) << run.err;
    return;
  }
  EXPECT_NE(run.exit_code, 1) << run.err;
  const auto json = nlohmann::json::parse(text("o.json"));
  EXPECT_GE(json["blocks"].size(), 3u);
}

TEST_F(AbbaProgram, AsksTheDriverAboutTheGpu) {
  const std::string arguments = " --aa --blocks 2 --a " + command("a", kAroundOne);
  const std::string on_that_gpu = "LD_LIBRARY_PATH=" EPOCHD_FAKE_NVML " " EPOCHD_ABBA;
  const ProcessResult run = run_shell(on_that_gpu + arguments);
  EXPECT_EQ(run.exit_code, 3) << "no block is valid";
  EXPECT_NE(run.err.find("struck out: the GPU throttled"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("struck out: 1 other GPU processes"), std::string::npos) << run.err;
  const ProcessResult served =
      run_shell(on_that_gpu +
                " --serve --aa --blocks 2 --a 'while read x; do echo {}; done'"
                " --metric wall");
  EXPECT_NE(served.err.find("the GPU throttled"), std::string::npos) << served.err;
  EXPECT_EQ(served.err.find("GPU processes"), std::string::npos) << "they are its own";
  const ProcessResult named =
      run_shell(on_that_gpu + arguments + " --no-rules --json " + path("o.json"));
  EXPECT_NE(text("o.json").find(", A Fake GPU, "), std::string::npos) << named.err;
}

TEST_F(AbbaProgram, ToolErrorsAreOne) {
  EXPECT_EQ(abba("--a true").exit_code, 1) << "no B";
  EXPECT_EQ(abba("--aa --a true --b true").exit_code, 1);
  EXPECT_EQ(abba("--b true").exit_code, 1);
  EXPECT_EQ(abba("--a true --b true --blocks 1").exit_code, 1);
  EXPECT_EQ(abba("--a true --b true").exit_code, 1) << "prints no metric";
  EXPECT_EQ(abba("--a false --b true --metric wall").exit_code, 1);
  EXPECT_EQ(
      abba("--aa --blocks 2 --a " + command("a", kAroundOne) + " --json /nowhere/o").exit_code, 1);
  EXPECT_EQ(run_shell(EPOCHD_ABBA " --help").exit_code, 0);
}

}  // namespace
}  // namespace epochd::abba
