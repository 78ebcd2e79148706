#include <algorithm>
#include <array>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

/// What a folder may include, by prefix. The first row whose folder matches decides.
struct Arrow {
  std::string_view from;
  std::array<std::string_view, 4> to;  ///< unused entries are empty
  std::string_view why;
};

constexpr Arrow kArrows[] = {
    {"prover/", {"prover/"}, "prover/ knows nothing of the machine, the device or the daemon"},
    {"epoch/", {"epoch/", "prover/"}, "epoch/ stands on prover/ alone"},
    {"config/",
     {"config/", "prover/core/", "epoch/machine.hpp"},
     "config/ is read by everybody and reads nobody"},
    {"cuda/",
     {"cuda/", "epoch/", "prover/", "config/residency.hpp"},
     "cuda/ stands on epoch/ and prover/"},
    {"daemon/",
     {"daemon/", "epoch/", "prover/", "config/"},
     "daemon/ composes everything, except tests"},
};

/// Headers that bring in a clock, a thread, a file, a socket or a device.
constexpr std::string_view kImpure[] = {
    "chrono",        "ctime",        "time.h",         "sys/time.h",
    "thread",        "future",       "filesystem",     "fstream",
    "iostream",      "sys/socket.h", "netinet/in.h",   "arpa/inet.h",
    "netdb.h",       "poll.h",       "sys/epoll.h",    "sys/stat.h",
    "sys/inotify.h", "fcntl.h",      "unistd.h",       "dirent.h",
    "signal.h",      "csignal",      "cuda_runtime.h", "condition_variable"};

bool allowed(const Arrow& arrow, std::string_view target) {
  return std::any_of(arrow.to.begin(), arrow.to.end(), [&](std::string_view prefix) {
    return !prefix.empty() && target.starts_with(prefix);
  });
}

bool must_be_pure(const SourceFile& file) {
  if (file.is_under("prover/core/") || file.is_under("epoch/guest/")) return false;
  return file.is_under("prover/") || file.is_under("epoch/");
}

void check_project_include(const SourceFile& file, size_t line, std::string_view target,
                           Violations* out) {
  const std::string where = "includes " + std::string(target) + ": ";
  if (file.is_under("prover/verify/") && target.starts_with("prover/prove/")) {
    out->push_back({file.path, line, where + "the verifier must build without the prover"});
  }
  for (const Arrow& arrow : kArrows) {
    if (!file.is_under(arrow.from)) continue;
    const bool device_query = file.is_under("daemon/") && target.starts_with("cuda/");
    if (!allowed(arrow, target) && !device_query) {
      out->push_back({file.path, line, where + std::string(arrow.why)});
    }
    return;
  }
}

}  // namespace

std::string_view include_target(std::string_view line) {
  constexpr std::string_view kDirective = "#include";
  const size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos || !line.substr(at).starts_with(kDirective)) return {};
  const size_t open = line.find_first_of("\"<", at + kDirective.size());
  if (open == std::string_view::npos) return {};
  const size_t close = line.find(line[open] == '"' ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return {};
  return line.substr(open, close + 1 - open);
}

Violations check_include_arrows(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (!file.is_c_family() || file.is_under("epoch/guest/")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string_view written = include_target(file.lines[i]);
      if (written.empty()) continue;
      const std::string_view target = written.substr(1, written.size() - 2);
      if (written.front() == '"') {
        check_project_include(file, i + 1, target, &out);
      } else if (must_be_pure(file) &&
                 std::find(std::begin(kImpure), std::end(kImpure), target) != std::end(kImpure)) {
        out.push_back({file.path, i + 1,
                       "includes <" + std::string(target) +
                           ">: no clock, thread, file or socket here; pass it in from daemon/"});
      }
    }
  }
  return out;
}

}  // namespace epochd::tidy
