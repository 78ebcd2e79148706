// Drives the real programs as a user does: files, flags, exit codes, words.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::e2e {

using Path = std::filesystem::path;
using Strings = std::vector<std::string>;

struct Outcome {
  int code = -1;  ///< exit status, or minus the signal
  std::string out;
  std::string err;
};

/// A running program. Its stdout and stderr go to files under `directory`.
class Process {
 public:
  Process(const Path& directory, const Strings& command,
          const std::map<std::string, std::string>& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const;
  bool has_ended() const;
  Outcome wait();
  std::string err() const;
  /// Processes it started that run now.
  std::vector<pid_t> children() const;

 private:
  Path out_, err_;
  pid_t pid_ = -1;
};

/// Where the programs and the guests are: as built, or as the environment's EPOCHD_BIN_DIR and
/// EPOCHD_GUEST_DIR say, for tests that were carried to another machine.
std::string bin_dir();
std::string guest_dir();

std::string read_file(const Path& path);
void write_file(const Path& path, const std::string& bytes);
std::string little_endian(u64 word);

/// A small guest, assembled from instruction words.
struct GuestSegment {
  u64 address = 0x10000;
  std::vector<u32> words;
  u32 flags = 5;  ///< R + X
};
std::string make_elf(const std::vector<GuestSegment>& segments, u64 entry = 0x10000);
/// li a0, code; li a7, 93; ecall
std::vector<u32> exit_with(u32 code);

class E2eTest : public ::testing::Test {
 protected:
  E2eTest();
  ~E2eTest() override;

  Path path(const std::string& name) const { return directory_ / name; }
  std::string file(const std::string& name, const std::string& bytes) const {
    write_file(path(name), bytes);
    return path(name).string();
  }
  static std::string guest(const std::string& name) { return guest_dir() + "/" + name + ".elf"; }

  /// epoch ARGS...
  Outcome epoch(Strings args, const std::map<std::string, std::string>& environment = {}) const;
  /// epoch ARGS... --json, with its answer parsed. Pre: exit code 0.
  nlohmann::json epoch_json(Strings args) const;
  /// epochd --config CONFIG --queue QUEUE ...
  Process start_epochd(Strings args = {}) const;
  /// Another daemon, in the same way.
  Process start_daemon(const std::string& program, Strings args = {}) const;
  Outcome epochd_once() const;
  Path queue() const { return path("queue"); }
  void write_config(const std::string& text) const { write_file(path("epochd.yaml"), text); }

  /// Puts a job into the queue and returns its id.
  std::string submit(const std::string& program, const std::string& input = "",
                     Strings more = {}) const;
  bool wait_until(const std::function<bool()>& is_true) const;

 private:
  Path directory_;
};

}  // namespace epochd::e2e
