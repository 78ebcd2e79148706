#include "daemon/cli/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace epochd {

ProgressMonitor::ProgressMonitor() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressMonitor::enter(Phase phase) {
  clear_bar();
  std::cerr << kPhaseNames[static_cast<size_t>(phase)] << std::endl;
}

void ProgressMonitor::surveyed(u64 count) {
  count_ = count;
  if (!is_terminal_) std::cerr << "  " << count << " epochs" << std::endl;
}

void ProgressMonitor::saved(u64 label, bool) {
  if (!is_terminal_) return;
  if (count_ == 0) {
    std::cerr << "\r" << label << " epochs" << std::flush;
    has_bar_ = true;
    return;
  }
  constexpr u64 kBarWidth = 40;
  const u64 filled = label * kBarWidth / count_;
  const double left =
      proving_.seconds() / static_cast<double>(label) * static_cast<double>(count_ - label);
  std::cerr << "\r[" << std::string(filled, '#') << std::string(kBarWidth - filled, '.') << "] "
            << label << "/" << count_ << "  " << seconds_text(left) << " left   " << std::flush;
  has_bar_ = true;
}

void ProgressMonitor::clear_bar() {
  if (has_bar_) std::cerr << "\r\033[K";
  has_bar_ = false;
}

}  // namespace epochd
