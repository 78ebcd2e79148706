#include "tests/e2e/support.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace epochd::e2e {
namespace {

constexpr const char* kInherited[] = {"PATH",         "HOME",          "LD_LIBRARY_PATH",
                                      "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"};

void redirect(const Path& path, int target) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(fd, target);
  ::close(fd);
}

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::vector<char*> pointers(Strings& strings) {
  std::vector<char*> list;
  for (std::string& s : strings) list.push_back(s.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Process::Process(const Path& directory, const Strings& command,
                 const std::map<std::string, std::string>& environment) {
  static int number = 0;
  const std::string stem = (directory / ("process-" + std::to_string(++number))).string();
  out_ = stem + ".out";
  err_ = stem + ".err";
  Strings arguments = command;
  Strings variables;
  for (const char* name : kInherited) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> envp = pointers(variables);
  pid_ = ::fork();
  if (pid_ != 0) return;
  redirect(out_, STDOUT_FILENO);
  redirect(err_, STDERR_FILENO);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

Process::~Process() {
  if (pid_ > 0) {
    kill(SIGKILL);
    wait();
  }
}

void Process::kill(int signal) const {
  ::kill(pid_, signal);
}

bool Process::has_ended() const {
  ::siginfo_t info{};  // left as it is when there is nothing to tell
  ::waitid(P_PID, static_cast<::id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid_;
}

Outcome Process::wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, read_file(out_), read_file(err_)};
}

std::vector<pid_t> Process::children() const {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    // "PID (name) state parent ..."; the name may hold anything.
    const std::string stat = read_file(entry.path() / "stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || name_end + 4 > stat.size()) continue;
    if (std::atoi(stat.c_str() + name_end + 4) == pid_) found.push_back(pid);
  }
  return found;
}

std::string Process::err() const {
  return read_file(err_);
}

std::string bin_dir() {
  return from_environment("EPOCHD_BIN_DIR", EPOCHD_BIN_DIR);
}

std::string guest_dir() {
  return from_environment("EPOCHD_GUEST_DIR", EPOCHD_GUEST_DIR);
}

std::string read_file(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const Path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  ASSERT_TRUE(file.flush().good()) << path;
}

std::string little_endian(u64 word) {
  std::string bytes(sizeof(word), '\0');
  std::memcpy(bytes.data(), &word, sizeof(word));
  return bytes;
}

std::string make_elf(const std::vector<GuestSegment>& segments, u64 entry) {
  constexpr size_t kHeaderBytes = 64, kProgramHeaderBytes = 56;
  std::string elf(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  elf.resize(16, '\0');
  const auto put = [&](u64 value, size_t bytes) { elf += little_endian(value).substr(0, bytes); };
  put(2, 2);    // ET_EXEC
  put(243, 2);  // RISC-V
  put(1, 4);    // version
  put(entry, 8);
  put(kHeaderBytes, 8);  // program headers
  put(0, 8);             // section headers
  put(0, 4);             // flags
  put(kHeaderBytes, 2);
  put(kProgramHeaderBytes, 2);
  put(segments.size(), 2);
  put(64, 2);
  put(0, 2);
  put(0, 2);
  size_t offset = kHeaderBytes + segments.size() * kProgramHeaderBytes;
  for (const GuestSegment& segment : segments) {
    const size_t bytes = segment.words.size() * 4;
    put(1, 4);  // PT_LOAD
    put(segment.flags, 4);
    put(offset, 8);
    put(segment.address, 8);
    put(segment.address, 8);
    put(bytes, 8);
    put(bytes, 8);
    put(4, 8);
    offset += bytes;
  }
  for (const GuestSegment& segment : segments) {
    for (const u32 word : segment.words) put(word, 4);
  }
  return elf;
}

std::vector<u32> exit_with(u32 code) {
  return {0x00000513u | code << 20, 0x05d00893u, 0x00000073u};
}

E2eTest::E2eTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "epochd-e2e-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  directory_ = pattern;
  std::filesystem::create_directory(queue());
  write_config("protocol: {epoch_size_log2: 8, security: test}\n");
}

E2eTest::~E2eTest() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Outcome E2eTest::epoch(Strings args, const std::map<std::string, std::string>& environment) const {
  args.insert(args.begin(), bin_dir() + "/epoch");
  return Process(directory_, args, environment).wait();
}

nlohmann::json E2eTest::epoch_json(Strings args) const {
  args.push_back("--json");
  const Outcome outcome = epoch(args);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << outcome.out;
  return json;
}

Process E2eTest::start_epochd(Strings args) const {
  return start_daemon(bin_dir() + "/epochd", std::move(args));
}

Process E2eTest::start_daemon(const std::string& program, Strings args) const {
  const Strings fixed = {program, "--config", path("epochd.yaml").string(), "--queue",
                         queue().string()};
  args.insert(args.begin(), fixed.begin(), fixed.end());
  return Process(directory_, args, {});
}

Outcome E2eTest::epochd_once() const {
  return start_epochd({"--once"}).wait();
}

std::string E2eTest::submit(const std::string& program, const std::string& input,
                            Strings more) const {
  Strings args = {"submit", "--queue", queue().string(), program};
  if (!input.empty()) args.insert(args.end(), {"--input", input});
  args.insert(args.end(), more.begin(), more.end());
  return epoch_json(args)["job"];
}

bool E2eTest::wait_until(const std::function<bool()>& is_true) const {
  for (int i = 0; i < 12000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace epochd::e2e
