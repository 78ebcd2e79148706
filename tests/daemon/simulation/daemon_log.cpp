// The daemon's log, in the place of daemon/log: its records go among the steps of the schedule. Its
// own would bring locks and memory from one schedule to the next.
#include <type_traits>

#include "daemon/log/log.hpp"
#include "tests/daemon/simulation/scheduler.hpp"

namespace epochd::log {
namespace {

std::string to_text(const Field::Value& value) {
  return std::visit(
      [](const auto& it) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(it)>, std::string>) {
          return it;
        } else {
          return std::to_string(it);
        }
      },
      value);
}

}  // namespace

void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
  const simulation::Scheduler* scheduler = simulation::Scheduler::current();
  if (scheduler == nullptr || !scheduler->on_log) return;
  std::string text =
      std::string(kLogLevelNames[static_cast<size_t>(level)]) + " " + std::string(message);
  for (const Field& field : fields) {
    text += " " + std::string(field.key()) + "=" + to_text(field.value());
  }
  scheduler->on_log(text);
}

void set_job(std::string_view) {}
void set_stage(std::string_view) {}
class Context {};
std::shared_ptr<Context> context() {
  return nullptr;
}
void join(std::shared_ptr<Context>) {}

}  // namespace epochd::log
