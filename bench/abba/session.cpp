#include "bench/abba/session.hpp"

#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <sstream>

namespace epochd::abba {
namespace {

using nlohmann::json;

constexpr size_t kErrorTail = 2000;
constexpr uint64_t kServedProcesses = 2;

json last_object(const std::string& text) {
  json whole = json::parse(text, nullptr, false);
  if (whole.is_object()) return whole;
  json found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json object = json::parse(line, nullptr, false);
    if (object.is_object()) found = std::move(object);
  }
  return found;
}

class Session {
 public:
  Session(const SessionOptions& options, const SessionWorld& world)
      : options_(options), world_(world), start_(world.seconds()) {}

  Block run_block(Order order, bool is_warmup) {
    Block block;
    block.number = next_number_++;
    block.order = order;
    block.is_warmup = is_warmup;
    const Conditions before = world_.conditions();
    for (const Side side : sides_of(order)) block.runs.push_back(run_once(side));
    // Two served sides may each hold a device.
    block.broken_rules =
        broken_rules(before, world_.conditions(), options_.is_served ? kServedProcesses : 0);
    world_.on_block(block);
    return block;
  }

 private:
  Run run_once(Side side) {
    const std::string& command = side == Side::kA ? options_.command_a : options_.command_b;
    Run run;
    run.side = side;
    if (!options_.control_command.empty()) run.control = run_control();
    run.started = world_.seconds() - start_;
    const ProcessResult result = world_.run(command, options_.timeout_seconds);
    require_success(command, result);
    run.wall_seconds = result.wall_seconds;
    run.value = require_metric(command, result, options_.metric, "--metric");
    if (options_.control_command.empty() && !options_.control.empty()) {
      run.control = metric_of(result.out, options_.control);
    }
    return run;
  }

  double run_control() {
    const std::string& command = options_.control_command;
    const ProcessResult result = world_.run_control(command, options_.timeout_seconds);
    require_success(command, result);
    return require_metric(command, result, options_.control, "--control");
  }

  void require_success(const std::string& command, const ProcessResult& result) const {
    if (result.exit_code == 0) return;
    const std::string how =
        result.exit_code == kTimedOut
            ? "took longer than " + std::to_string(options_.timeout_seconds) + " s"
            : "ended with " + std::to_string(result.exit_code);
    const size_t skipped = result.err.size() - std::min(result.err.size(), kErrorTail);
    throw RunFailed("a command " + how + ": " + command + "\n" + result.err.substr(skipped));
  }

  static double require_metric(const std::string& command, const ProcessResult& result,
                               const std::string& key, const char* option) {
    if (key == "wall") return result.wall_seconds;
    if (const auto value = metric_of(result.out, key)) return *value;
    throw RunFailed("no positive number \"" + key + "\" in the JSON that " + command +
                    " printed; " + option + " names another, or wall");
  }

  const SessionOptions& options_;
  const SessionWorld& world_;
  double start_;
  int next_number_ = 0;
};

/// Mean of A's logs minus mean of B's, of what `value` picks.
template <class Value>
double log_ratio(const Block& block, const Value& value) {
  double sum = 0;
  for (const Run& run : block.runs) {
    sum += (run.side == Side::kA ? 1 : -1) * std::log(value(run));
  }
  return sum / (kRunsInBlock / 2);
}

}  // namespace

std::optional<double> metric_of(const std::string& out, const std::string& key) {
  const json object = last_object(out);
  const json* at = &object;
  std::istringstream parts(key);
  for (std::string part; std::getline(parts, part, '.');) {
    if (!at->is_object() || !at->contains(part)) return std::nullopt;
    at = &(*at)[part];
  }
  if (!at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<Block> run_session(const SessionOptions& options, const SessionWorld& world) {
  Session session(options, world);
  std::vector<Block> blocks;
  // Warm-up blocks have a schedule of their own, so that their number changes no measured order.
  for (const Order order : make_schedule(options.warmup, ~options.seed)) {
    blocks.push_back(session.run_block(order, true));
  }
  const std::vector<Order> schedule = make_schedule(options.blocks, options.seed);
  std::deque<Order> pending(schedule.begin(), schedule.end());
  for (int extra = options.blocks; !pending.empty();) {
    blocks.push_back(session.run_block(pending.front(), false));
    pending.pop_front();
    if (!blocks.back().is_valid() && extra-- > 0) pending.push_back(blocks.back().order);
  }
  return blocks;
}

double log_ratio_of(const Block& block) {
  return log_ratio(block, [](const Run& run) { return run.value; });
}

std::optional<double> control_log_ratio_of(const Block& block) {
  for (const Run& run : block.runs) {
    if (!run.control) return std::nullopt;
  }
  return log_ratio(block, [](const Run& run) { return *run.control; });
}

}  // namespace epochd::abba
