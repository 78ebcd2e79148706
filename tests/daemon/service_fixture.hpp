// A daemon as a process, with what a service manager and a browser see of it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "daemon/queue/status.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {

using std::chrono::milliseconds;

/// The service manager's end of sd_notify.
class NotifySocket {
 public:
  explicit NotifySocket(const Path& path)
      : path_(path), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    ::sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = path.string();
    EXPECT_LT(text.size(), sizeof(name.sun_path));
    text.copy(name.sun_path, text.size());
    EXPECT_EQ(::bind(socket_.fd(), reinterpret_cast<const ::sockaddr*>(&name), sizeof(name)), 0);
  }

  const Path& path() const { return path_; }

  /// The next datagram; empty when none comes in time.
  std::string receive(milliseconds patience) {
    ::pollfd ready{socket_.fd(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count())) != 1) return "";
    char text[8192];
    const ssize_t bytes = ::recv(socket_.fd(), text, sizeof(text), 0);
    return bytes > 0 ? std::string(text, static_cast<size_t>(bytes)) : "";
  }

  /// Receives until a datagram contains the text; that one, or empty when it does not come.
  std::string wait_for(const std::string& text, milliseconds patience = milliseconds(30'000)) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      const auto left =
          std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
      const std::string received = receive(std::max(left, milliseconds(1)));
      if (received.find(text) != std::string::npos) return received;
    }
    return "";
  }

 private:
  Path path_;
  FileHandle socket_;
};

/// A connection that says just what it is told.
class RawClient {
 public:
  explicit RawClient(u16 port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.fd(), reinterpret_cast<const ::sockaddr*>(&name), sizeof(name)), 0);
  }

  void send(const std::string& text) {
    [[maybe_unused]] const ssize_t sent =
        ::send(socket_.fd(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// What comes until the other end closes, or `is_enough` says so.
  std::string receive(const std::function<bool(const std::string&)>& is_enough = {}) {
    std::string all;
    char text[65536];
    ::pollfd ready{socket_.fd(), POLLIN, 0};
    while (::poll(&ready, 1, 30'000) == 1) {
      const ssize_t bytes = ::recv(socket_.fd(), text, sizeof(text), 0);
      if (bytes <= 0) break;
      all.append(text, static_cast<size_t>(bytes));
      if (is_enough && is_enough(all)) break;
    }
    return all;
  }

 private:
  FileHandle socket_;
};

struct HttpReply {
  unsigned status = 0;
  std::string head;
  std::string body;
};

inline HttpReply parse_reply(const std::string& text) {
  HttpReply reply;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.compare(0, 9, "HTTP/1.1 ") != 0) return reply;
  reply.status = static_cast<unsigned>(std::stoul(text.substr(9, 3)));
  reply.head = text.substr(0, end);
  reply.body = text.substr(end + 4);
  return reply;
}

inline HttpReply http_get(u16 port, const std::string& path) {
  RawClient client(port);
  client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  return parse_reply(client.receive());
}

class ServiceTest : public QueueTest {
 protected:
  ServiceTest() { configure(""); }
  ~ServiceTest() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Path queue() const { return root() / "queue"; }
  Path config_path() const { return root() / "epochd.yaml"; }

  /// More settings than those every test has.
  void configure(const std::string& more) {
    write(config_path(),
          "retries: {failures: 1, crashes: 5, delay_s: 0}\nhttp: {port: 0}\nrescan_s: 1\n" + more);
  }

  void add(const std::string& id, const std::string& program) {
    write(root() / "new" / id / kProgramFile, program);
    std::filesystem::create_directories(place_path(queue(), Place::kIncoming));
    std::filesystem::rename(root() / "new" / id, place_path(queue(), Place::kIncoming) / id);
  }

  using Variables = std::vector<std::pair<std::string, std::string>>;

  void start(const Variables& environment = {}, bool once = false) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    const int fd = ::open((root() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, STDERR_FILENO);
    ::execl(EPOCHD_SERVICE_EPOCHD, "epochd", "--config", config_path().c_str(), "--queue",
            queue().c_str(), once ? "--once" : nullptr, nullptr);
    ::_exit(127);
  }
  void signal(int number) { ::kill(pid_, number); }
  /// Exit status, or minus the signal.
  int wait_for_end() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  pid_t pid() const { return pid_; }

  bool wait_until(const std::function<bool()>& is_true) {
    for (int i = 0; i < 3000; ++i) {
      if (is_true()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
  std::string log_text() {
    return fs_.exists(root() / "log") ? fs_.read_text(root() / "log", 1 << 26) : "";
  }
  bool is_logged(const std::string& text) { return log_text().find(text) != std::string::npos; }
  std::string state_of(const std::string& id) {
    const auto status = job_status(fs_, queue(), id);
    return status ? status->state_text() : "nowhere";
  }
  bool is_done(const std::string& id) { return state_of(id) == "done"; }

  /// Where the pages are; waits for them.
  u16 port() {
    const std::string key = " port=";
    EXPECT_TRUE(wait_until([&] { return is_logged("http listens"); })) << log_text();
    const std::string log = log_text();
    const size_t at = log.rfind(key);
    return at == std::string::npos ? u16{0}
                                   : static_cast<u16>(std::stoul(log.substr(at + key.size())));
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace epochd
