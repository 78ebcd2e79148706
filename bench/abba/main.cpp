// epoch-abba: is A better than B? Paired runs in randomised blocks, and a verdict as exit code.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>

#include "bench/abba/machine.hpp"
#include "bench/abba/report.hpp"
#include "bench/abba/served.hpp"

namespace epochd::abba {
namespace {

constexpr int kToolError = 1;

struct Outputs {
  std::string json, csv, markdown, html;
};

/// What the command line says beside what a report keeps.
struct Settings {
  Outputs outputs;
  double threshold_percent = 1;
  bool no_rules = false;
  bool no_control = false;
};

/// The commands that stay, started when first asked. The same command on both sides (A/A) is one
/// process, so that nothing at all differs.
class ServedSides {
 public:
  ProcessResult run(const std::string& command, double timeout_seconds) {
    auto& side = sides_[command];
    if (!side) side = std::make_unique<ServedCommand>(command);
    return side->run(timeout_seconds);
  }

 private:
  std::map<std::string, std::unique_ptr<ServedCommand>> sides_;
};

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void write_outputs(const Report& report, const Outputs& outputs) {
  write_file(outputs.json, to_json(report).dump(2) + "\n");
  write_file(outputs.csv, to_csv(report));
  write_file(outputs.markdown, to_markdown(report));
  write_file(outputs.html, to_html(report));
}

void add_options(CLI::App& app, Report& report, Settings& settings) {
  Outputs& outputs = settings.outputs;
  SessionOptions& session = report.options;
  Criteria& criteria = report.criteria;
  app.add_option("--a", session.command_a, "what is judged: a command for /bin/sh")->required();
  app.add_option("--b", session.command_b, "what it is compared with");
  app.add_flag("--aa", criteria.is_aa, "run --a on both sides: what noise alone gives");
  app.add_option("--blocks", session.blocks, "blocks of four runs")->check(CLI::Range(2, 10'000));
  app.add_option("--warmup", session.warmup, "blocks run first and not analysed")
      ->check(CLI::Range(0, 1000));
  app.add_option("--seed", session.seed,
                 "of the order and the bootstrap; printed, and random if 0");
  app.add_option("--metric", session.metric, "key of the JSON a command prints, or wall");
  app.add_flag("--higher-is-better", criteria.higher_is_better, "the metric is a speed");
  app.add_option("--control", session.control,
                 "key that the change cannot move, or wall of the control command; empty for none");
  app.add_option("--control-command", session.control_command,
                 "a command that runs alone before every run and prints --control");
  app.add_flag("--no-control", settings.no_control, "look at no control metric");
  app.add_option("--timeout", session.timeout_seconds, "seconds a run may take; 0: any")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--serve", session.is_served,
               "the commands stay: for every line on standard input they print one of JSON");
  app.add_option("--threshold", settings.threshold_percent, "percent that matter")
      ->check(CLI::Range(0.001, 1000.0));
  app.add_option("--confidence", criteria.confidence, "of the interval")
      ->check(CLI::Range(0.5, 0.9999));
  app.add_flag("--no-rules", settings.no_rules,
               "strike no block out: swapping, throttling and GPU processes are not looked at");
  app.add_flag("--strict", criteria.warnings_count, "a warning makes the verdict unproven");
  app.add_option("--title", report.title, "of the reports");
  app.add_option("--label-a", report.label_a, "what to call A, for example a commit");
  app.add_option("--label-b", report.label_b, "what to call B");
  app.add_option("--json", outputs.json, "write the result as JSON");
  app.add_option("--csv", outputs.csv, "write every run as CSV");
  app.add_option("--markdown", outputs.markdown, "write a summary for a pull request");
  app.add_option("--html", outputs.html, "write a page with plots");
  app.footer(
      "Exit codes: 0 improvement or equivalent, 1 tool error, 2 regression, 3 unproven,\n"
      "4 inconclusive.");
}

int run_report(Report& report, const Settings& settings) {
  SessionOptions& session = report.options;
  while (session.seed == 0) session.seed = std::random_device{}();
  report.machine = describe_machine();
  report.started = utc_now();
  std::cerr << "epoch-abba: seed " << session.seed << ", " << session.warmup << " + "
            << session.blocks << " blocks\n";
  SessionWorld world;
  world.seconds = steady_seconds;
  ServedSides sides;
  if (session.is_served) {
    world.run = [&](const std::string& command, double timeout) {
      return sides.run(command, timeout);
    };
  }
  if (settings.no_rules) world.conditions = [] { return Conditions{}; };
  world.on_block = [&](const Block& block) {
    std::cerr << "block " << block.number << (block.is_warmup ? " (warm-up)" : "") << ": "
              << percent_text(log_ratio_of(block));
    for (const std::string& rule : block.broken_rules) std::cerr << ", struck out: " << rule;
    std::cerr << "\n";
  };
  report.blocks = run_session(session, world);
  int valid = 0;
  for (const Block& block : report.blocks) valid += block.is_valid();
  if (valid < 2) {
    std::cerr << "epoch-abba: fewer than two valid blocks: nothing to estimate\n";
    return exit_code_of(Verdict::kUnproven);
  }
  analyse(report);
  std::cout << to_table(report);
  write_outputs(report, settings.outputs);
  return exit_code_of(report.judgement.verdict);
}

int run(int argc, char** argv) {
  CLI::App app("Judges command A against command B by paired runs in ABBA and BAAB blocks.");
  Report report;
  report.title = "A against B";
  Settings settings;
  add_options(app, report, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kToolError;
  }
  report.criteria.threshold = settings.threshold_percent / 100;
  if (report.criteria.is_aa == !report.options.command_b.empty()) {
    std::cerr << "epoch-abba: give either --b or --aa\n";
    return kToolError;
  }
  if (settings.no_control) {
    report.options.control.clear();
    report.options.control_command.clear();
  } else if (!report.options.control_command.empty() && report.options.control.empty()) {
    std::cerr << "epoch-abba: --control-command needs a --control, for example wall\n";
    return kToolError;
  }
  if (report.criteria.is_aa) report.options.command_b = report.options.command_a;
  try {
    return run_report(report, settings);
  } catch (const std::exception& error) {
    std::cerr << "epoch-abba: " << error.what() << "\n";
    return kToolError;
  }
}

}  // namespace
}  // namespace epochd::abba

int main(int argc, char** argv) {
  return epochd::abba::run(argc, argv);
}
