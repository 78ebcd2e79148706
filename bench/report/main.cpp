// epoch-report: what is done with results of benchmarks.
#include <CLI/CLI.hpp>
#include <iostream>

#include "bench/abba/machine.hpp"
#include "bench/report/document.hpp"
#include "bench/report/json_schema.hpp"
#include "bench/report/kernels.hpp"
#include "bench/report/tables.hpp"

namespace epochd::bench {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kSlower = 2;

struct Options {
  std::vector<std::string> files;
  std::string kind, file, other, output, machine;
  std::string root = ".";
  double threshold_percent = 5;
  bool is_check = false;
};

int gather(const Options& o) {
  std::vector<Json> results;
  for (const std::string& file : o.files) results.push_back(read_json(file));
  write_file(o.output, gather_intervals(results).dump(1) + "\n");
  return kOk;
}

int table(const Options& o) {
  std::cout << make_table(o.kind, read_json(o.file));
  return kOk;
}

int docs(const Options& o) {
  int code = kOk;
  for (const std::string& file : o.files) {
    const std::string old = read_file(file);
    const std::string made = regenerate(old, [&](const std::string& kind, const std::string& data) {
      return make_table(kind, read_json(o.root + "/" + data));
    });
    if (made == old) continue;
    if (o.is_check) {
      std::cerr << "epoch-report: " << file
                << " is not what its results say: run epoch-report docs\n";
      code = kSlower;
    } else {
      write_file(file, made);
      std::cout << file << "\n";
    }
  }
  return code;
}

int import(const Options& o) {
  const std::string machine = o.machine.empty() ? abba::describe_machine() : o.machine;
  std::vector<Json> files;
  for (const std::string& file : o.files) files.push_back(read_json(file));
  write_file(o.output, kernels_from_benchmarks(files, machine).dump(1) + "\n");
  return kOk;
}

void print(const char* what, const std::vector<Change>& changes) {
  for (const Change& c : changes) {
    std::printf("%-7s %+7.1f %% [%+.1f, %+.1f]  %s\n", what, c.percent, c.percent_low,
                c.percent_high, c.name.c_str());
  }
}

int compare(const Options& o) {
  const Json before = read_json(o.file, "epoch-kernels/1");
  const Json after = read_json(o.other, "epoch-kernels/1");
  if (before["machine"] != after["machine"]) {
    std::cerr << "epoch-report: these are two machines: " << before["machine"] << " and "
              << after["machine"] << "\n";
    return kFailed;
  }
  const Comparison result = compare_kernels(before, after, o.threshold_percent);
  print("slower", result.slower);
  print("faster", result.faster);
  for (const std::string& name : result.gone) std::cout << "gone    " << name << "\n";
  for (const std::string& name : result.added) std::cout << "new     " << name << "\n";
  std::cout << result.slower.size() << " slower, " << result.faster.size() << " faster, "
            << result.same << " within " << o.threshold_percent << " % or noise\n";
  return result.slower.empty() ? kOk : kSlower;
}

int validate(const Options& o) {
  const auto errors = schema_errors(read_json(o.file), read_json(o.other));
  for (const std::string& error : errors) std::cerr << o.other << " " << error << "\n";
  return errors.empty() ? kOk : kSlower;
}

int run(int argc, char** argv) {
  CLI::App app("Gathers, compares and validates results, and makes tables of them.");
  app.require_subcommand(1);
  Options o;
  int (*action)(const Options&) = nullptr;
  const auto command = [&](const char* name, const char* about, int (*does)(const Options&)) {
    CLI::App* sub = app.add_subcommand(name, about);
    sub->callback([&action, does] { action = does; });
    return sub;
  };
  CLI::App* sub = command("intervals", "Results of epoch-abba in one file", gather);
  sub->add_option("files", o.files, "written by epoch-abba --json, or by this")->required();
  sub->add_option("-o,--output", o.output, "where to")->required();
  sub = command("table", "One table as Markdown", table);
  sub->add_option("kind", o.kind, "what of")->required()->check(CLI::IsMember(table_kinds()));
  sub->add_option("file", o.file, "the results")->required();
  sub = command("docs", "Makes the tables of documents again from their results", docs);
  sub->add_option("files", o.files, "Markdown with `<!-- table KIND FILE -->`")->required();
  sub->add_option("--root", o.root, "where the markers' paths begin");
  sub->add_flag("--check", o.is_check, "change nothing; exit code 2 where something would change");
  sub = command("import", "Times of kernels from what Google Benchmark wrote", import);
  sub->add_option("files", o.files, "of --benchmark_out")->required();
  sub->add_option("-o,--output", o.output, "where to")->required();
  sub->add_option("--machine", o.machine, "instead of what is found here");
  sub = command("compare", "What got slower beyond noise: exit code 2", compare);
  sub->add_option("before", o.file, "made by import")->required();
  sub->add_option("after", o.other, "made by import")->required();
  sub->add_option("--threshold", o.threshold_percent, "percent that count")
      ->check(CLI::Range(0.0, 1000.0));
  sub = command("validate", "Holds a file against a schema: exit code 2 where it breaks it",
                validate);
  sub->add_option("schema", o.file, "for example bench/report/kernels.schema.json")->required();
  sub->add_option("file", o.other, "JSON")->required();
  try {
    app.parse(argc, argv);
    return action(o);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kFailed;
  } catch (const std::exception& error) {
    std::cerr << "epoch-report: " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  return epochd::bench::run(argc, argv);
}
