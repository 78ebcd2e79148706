#include "daemon/cli/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace epochd {

ProgressMonitor::ProgressMonitor() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressMonitor::enter(Phase phase) {
  clear_bar();
  std::cerr << kPhaseNames[static_cast<size_t>(phase)] << std::endl;
  if (phase == Phase::kProving) proving_ = Stopwatch();
}

void ProgressMonitor::epoch(u64 label, u64 count, bool) {
  if (!is_terminal_) {
    if (label == 1) std::cerr << "  " << count << " epochs" << std::endl;
    return;
  }
  constexpr u64 kBarWidth = 40;
  const u64 done = label - 1;
  const u64 filled = count == 0 ? 0 : done * kBarWidth / count;
  std::cerr << "\r[" << std::string(filled, '#') << std::string(kBarWidth - filled, '.') << "] "
            << done << "/" << count;
  if (done > 0) {
    const double left =
        proving_.seconds() / static_cast<double>(done) * static_cast<double>(count - done);
    std::cerr << "  " << seconds_text(left) << " left   ";
  }
  std::cerr << std::flush;
  has_bar_ = true;
}

void ProgressMonitor::clear_bar() {
  if (has_bar_) std::cerr << "\r\033[K";
  has_bar_ = false;
}

}  // namespace epochd
