#include "tests/e2e/systemd_machine.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>

namespace epochd::e2e {
namespace {

constexpr int kNotHere = 77;
constexpr const char* kInit = "/lib/systemd/systemd";
constexpr const char* kPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";

bool has_program(const std::string& name) {
  for (const char* place : {"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"}) {
    if (std::filesystem::exists(place + name)) return true;
  }
  return false;
}

}  // namespace

Machine::Machine(const Path& directory) : directory_(directory) {
  if (::geteuid() != 0) missing_ = "namespaces and mounts need root";
  if (!std::filesystem::exists(kInit)) missing_ = "systemd is not installed";
  for (const char* name : {"unshare", "nsenter", "setpriv", "dpkg"}) {
    if (!has_program(name)) missing_ = std::string(name) + " is not installed";
  }
  if (missing_.empty()) boot();
}

Machine::~Machine() {
  namespaces_.reset();  // PID 1 dies with its parent, and all of its namespace with it
  leave_group();
}

void Machine::boot() {
  std::filesystem::create_directory(directory_ / "machine");
  namespaces_ = std::make_unique<Process>(
      directory_, Strings{EPOCHD_SYSTEMD_BOOT, (directory_ / "machine").string()},
      std::map<std::string, std::string>{});
  for (int i = 0; i < 6000 && pid_.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (namespaces_->has_ended()) {
      const Outcome outcome = namespaces_->wait();
      namespaces_.reset();
      missing_ = outcome.err;
      EXPECT_EQ(outcome.code, kNotHere) << outcome.err;
      return;
    }
    for (const pid_t child : namespaces_->children()) {
      // The script becomes systemd at its end.
      const std::string name = read_file("/proc/" + std::to_string(child) + "/comm");
      if (name == "systemd\n") pid_ = std::to_string(child);
    }
  }
  root_ = "/proc/" + pid_ + "/root";
  bool is_up = false;
  for (int i = 0; i < 600 && !is_up; ++i) {
    is_up = run({"/bin/systemctl", "is-active", "epochd-test.target"}).code == 0;
    if (!is_up) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(is_up) << "systemd does not come up";
}

/// Groups are directories that only rmdir takes away, and only from below.
void Machine::leave_group() const {
  const std::string text = read_file(directory_ / "machine/group");
  if (text.empty()) return;
  const Path group = text.substr(0, text.find('\n'));
  std::error_code error;
  std::vector<Path> groups = {group};
  const auto inside = std::filesystem::recursive_directory_iterator(group, error);
  for (const auto& entry : inside) {
    if (entry.is_directory(error)) groups.push_back(entry.path());
  }
  for (auto it = groups.rbegin(); it != groups.rend(); ++it) {
    for (int i = 0; i < 100 && ::rmdir(it->c_str()) != 0 && errno == EBUSY; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

Outcome Machine::run(const Strings& command) const {
  Strings all = {"/usr/bin/nsenter",
                 "-t",
                 pid_,
                 "-m",
                 "-u",
                 "-i",
                 "-n",
                 "-p",
                 "-C",
                 "-r",
                 "-w",
                 "/usr/bin/env",
                 "-i",
                 kPath,
                 "HOME=/root",
                 "DEBIAN_FRONTEND=noninteractive"};
  all.insert(all.end(), command.begin(), command.end());
  return Process(directory_, all, {}).wait();
}

std::string Machine::shell(const std::string& command) const {
  Outcome outcome = run({"/bin/bash", "-c", command});
  EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.out << outcome.err;
  while (!outcome.out.empty() && outcome.out.back() == '\n') outcome.out.pop_back();
  return outcome.out;
}

}  // namespace epochd::e2e
