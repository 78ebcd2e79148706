#include "daemon/log/flood_gate.hpp"

namespace epochd::log {

bool FloodGate::pass(std::string_view message, double now_s) {
  auto found = windows_.find(message);
  if (found == windows_.end()) {
    found = windows_.emplace(std::string(message), Window{now_s, 0, 0}).first;
  }
  Window& window = found->second;
  if (now_s - window.start_s >= kWindow_s) {
    window.start_s = now_s;
    window.written = 0;
  }
  if (window.written < kBurst) {
    ++window.written;
    return true;
  }
  ++window.left_out;
  ++total_;
  return false;
}

std::vector<FloodGate::LeftOut> FloodGate::take_left_out(double now_s, bool all) {
  std::vector<LeftOut> taken;
  for (auto& [message, window] : windows_) {
    const bool is_over = now_s - window.start_s >= kWindow_s;
    if (window.left_out == 0 || !(all || is_over)) continue;
    taken.push_back({message, window.left_out});
    window.left_out = 0;
  }
  return taken;
}

}  // namespace epochd::log
