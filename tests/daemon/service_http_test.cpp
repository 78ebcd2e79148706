// The pages of a running daemon, and how its server bears clients that mean ill.
#include "daemon/service/http_server.hpp"

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "daemon/service/pages.hpp"
#include "tests/daemon/service_fixture.hpp"

namespace epochd {
namespace {

/// A server with small limits, and its thread.
class HttpTest : public ::testing::Test {
 protected:
  HttpTest() {
    HttpSettings settings;
    settings.port = 0;
    server_.emplace(
        io_, settings,
        [](std::string_view path) {
          if (path == "/large") return HttpAnswer{200, "text/plain", std::string(1 << 22, 'x')};
          return HttpAnswer{200, "text/plain", "page " + std::string(path)};
        },
        [this](unsigned status) { statuses_.push_back(status); },
        HttpLimits{.connections = 3, .header_bytes = 1000, .requests = 4, .idle_ms = 300});
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~HttpTest() override {
    io_.stop();
    thread_.join();
    server_.reset();
  }

  boost::asio::io_context io_{1};
  std::optional<HttpServer> server_;
  std::vector<unsigned> statuses_;
  u16 port_ = 0;
  std::thread thread_;
};

TEST_F(HttpTest, AnswersGetAndHeadWithoutTheQuery) {
  const HttpReply reply = http_get(port_, "/a?b=c");
  EXPECT_EQ(reply.status, 200u);
  EXPECT_EQ(reply.body, "page /a");
  EXPECT_NE(reply.head.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(reply.head.find("default-src 'none'"), std::string::npos);
  RawClient client(port_);
  client.send("HEAD /abc HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const HttpReply head = parse_reply(client.receive());
  EXPECT_EQ(head.status, 200u);
  EXPECT_NE(head.head.find("Content-Length: 9"), std::string::npos) << head.head;
  EXPECT_EQ(head.body, "");
}

TEST_F(HttpTest, ServesSeveralRequestsAndThenCloses) {
  RawClient client(port_);
  for (int i = 1; i <= 4; ++i) {
    client.send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string page = "page /" + std::to_string(i);
    const std::string text =
        client.receive([&](const std::string& got) { return got.ends_with(page); });
    EXPECT_EQ(text.find("Connection: close") != std::string::npos, i == 4) << text;
  }
  EXPECT_EQ(client.receive(), "") << "closed";
}

TEST_F(HttpTest, RefusesWhatIsNotARequest) {
  const auto status_of = [&](const std::string& text) {
    RawClient client(port_);
    client.send(text);
    return parse_reply(client.receive()).status;
  };
  EXPECT_EQ(status_of("hello\r\n\r\n"), 400u);
  EXPECT_EQ(status_of("GET / HTTP/9.9\r\n\r\n"), 400u);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"), 405u);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n"), 413u);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: " + std::string(60'000, 'h') + "\r\n\r\n"), 431u);
  EXPECT_EQ(status_of("GET /" + std::string(60'000, 'h') + " HTTP/1.1\r\n\r\n"), 431u);
  EXPECT_EQ(http_get(port_, "/still").body, "page /still");
}

TEST_F(HttpTest, ClosesOnClientsThatAreSlowOrSilent) {
  RawClient silent(port_);
  RawClient slow(port_);
  slow.send("GET / HT");
  EXPECT_EQ(silent.receive(), "");
  EXPECT_EQ(slow.receive(), "");
}

TEST_F(HttpTest, OnlySoManyConnectionsAreOpen) {
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(port_);
  std::this_thread::sleep_for(milliseconds(50));
  RawClient refused(port_);
  refused.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(refused.receive(), "");
  clients.clear();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(http_get(port_, "/again").status, 200u);
}

TEST_F(HttpTest, AClientThatDoesNotReadHoldsUpNobody) {
  RawClient deaf(port_);
  deaf.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(http_get(port_, "/next").status, 200u);
  EXPECT_EQ(http_get(port_, "/large").body.size(), size_t{1} << 22);
}

TEST_F(HttpTest, AnAddressThatIsTakenIsAnError) {
  HttpSettings settings;
  settings.port = port_;
  boost::asio::io_context io;
  try {
    const HttpServer second(io, settings, {}, {});
    FAIL() << "two servers on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot listen on 127.0.0.1 port " +
                                             std::to_string(port_) + ": Address already in use");
  }
}

class PagesTest : public ServiceTest {
 protected:
  nlohmann::json status() { return nlohmann::json::parse(http_get(port(), "/status").body); }
};

TEST_F(PagesTest, StatusFollowsAJobToItsEnd) {
  configure("backend: cuda-preferred\njobs_at_once: 1\n");
  start();
  EXPECT_EQ(status()["state"], "idle");
  EXPECT_EQ(status()["devices"][0]["name"], "Scripted <device> & \"more\"");
  add("a", "epochs=100 pause_ms=20");
  add("b", "fault=guest");
  ASSERT_TRUE(wait_until([&] {
    const auto json = status();
    return json["state"] == "working" && json["job"]["job"] == "a" &&
           json["job"]["state"] == "proving" && json["job"]["epochs"] == 100 &&
           json["job"]["epochs_done"] > 5 && json["queue"]["incoming"] == 1;
  })) << status();
  ASSERT_TRUE(wait_until([&] { return status()["queue"]["failed"] == 1; })) << status();
  const auto json = status();
  EXPECT_EQ(json["state"], "idle");
  EXPECT_TRUE(json["job"].is_null());
  ASSERT_EQ(json["ended"].size(), 2u);
  EXPECT_EQ(json["ended"][0]["job"], "a");
  EXPECT_EQ(json["ended"][0]["outcome"], "done");
  EXPECT_EQ(json["ended"][0]["epochs"], 100);
  EXPECT_EQ(json["ended"][1]["outcome"], "failed");
  EXPECT_GT(json["history"].back()["resident_bytes"], 1 << 20);
}

TEST_F(PagesTest, HealthAndReadiness) {
  start();
  EXPECT_EQ(http_get(port(), "/healthz").status, 200u);
  EXPECT_EQ(http_get(port(), "/readyz").body, "ready\n");
  EXPECT_EQ(http_get(port(), "/nowhere").status, 404u);
  add("a", "stall=1");
  ASSERT_TRUE(wait_until([&] {
    const auto json = status();
    return json["state"] == "working" && json["job"]["state"] == "executing";
  }));
  signal(SIGTERM);
  ASSERT_TRUE(wait_until([&] { return http_get(port(), "/readyz").status == 503u; }));
  EXPECT_EQ(http_get(port(), "/healthz").status, 200u) << "not for so short a while";
}

TEST_F(PagesTest, ADaemonWhosePortIsTakenProvesAllTheSame) {
  start();
  const u16 taken = port();
  TemporaryDirectory other;
  write(other.path() / "epochd.yaml", "http: {port: " + std::to_string(taken) + "}\n");
  write(other.path() / "queue/incoming/a" / kProgramFile, "epochs=1");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(STDERR_FILENO);
    ::execl(EPOCHD_SERVICE_EPOCHD, "epochd", "--config", (other.path() / "epochd.yaml").c_str(),
            "--queue", (other.path() / "queue").c_str(), "--once", nullptr);
    ::_exit(127);
  }
  int result = -1;
  ::waitpid(pid, &result, 0);
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(fs_.exists(other.path() / "queue/done/a" / kBundleFile));
}

TEST_F(PagesTest, TheDashboardNeedsNothingFromElsewhere) {
  start();
  const HttpReply page = http_get(port(), "/");
  EXPECT_EQ(page.status, 200u);
  EXPECT_NE(page.head.find("Content-Type: text/html"), std::string::npos);
  EXPECT_TRUE(page.body.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.body.ends_with("</html>\n"));
  for (const char* outside : {"src=", "href=", "url(", "@import", "innerHTML", "eval("}) {
    EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
  }
  // Every field the page reads is one that /status has.
  const auto json = status();
  for (const char* field :
       {"state", "jobs", "queue", "ended", "history", "devices", "version", "uptime_seconds"}) {
    EXPECT_NE(page.body.find("status." + std::string(field)), std::string::npos) << field;
    EXPECT_TRUE(json.contains(field)) << field;
  }
}

/// The dashboard as a browser has it after its script ran; nothing where there is no browser.
std::optional<std::string> dashboard_in_browser(u16 port, const Path& profile) {
  const std::string command =
      "command -v chromium >/dev/null || exit 99; timeout 120 chromium --headless --no-sandbox "
      "--disable-gpu --virtual-time-budget=3000 "
      "--user-data-dir=" +
      profile.string() + " --dump-dom http://127.0.0.1:" + std::to_string(port) + "/ 2>/dev/null";
  std::string page;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::array<char, 4096> text;
  for (size_t bytes; (bytes = std::fread(text.data(), 1, text.size(), pipe)) > 0;) {
    page.append(text.data(), bytes);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 99) return std::nullopt;
  EXPECT_EQ(status, 0);
  return page;
}

TEST_F(PagesTest, TheDashboardShowsInABrowserWhatIsGoingOn) {
  configure("backend: cuda-preferred\n");
  add("ended", "epochs=7");
  start();
  ASSERT_TRUE(wait_until([&] { return is_done("ended"); }));
  add("running", "epochs=1000 pause_ms=200");
  ASSERT_TRUE(wait_until([&] { return status()["queue"]["done"] == 1; }));
  ASSERT_TRUE(wait_until([&] { return status()["state"] == "working"; }));
  const std::optional<std::string> page = dashboard_in_browser(port(), root() / "browser");
  if (!page) GTEST_SKIP() << "chromium is not installed";
  for (const char* shown :
       {">working<", ">running<", " of 1000 epochs, on cpu", "<b>1</b>active", "<b>1</b>done",
        "0: Scripted &lt;device&gt; &amp; \"more\", 8.0 GiB",
        "<td>ended</td><td class=\"good\">done</td><td>7</td>", "<polyline points="}) {
    EXPECT_NE(page->find(shown), std::string::npos) << shown << "\n" << *page;
  }
}

class SteppedClock : public Clock {
 public:
  double seconds() const override { return now; }
  i64 unix_seconds() const override { return static_cast<i64>(now); }
  double now = 1000;
};

TEST(Pages, EveryLaneMustGoForwardButOneThatWaits) {
  SteppedClock clock;
  Board board(clock);
  EXPECT_TRUE(board.take_progress()) << "nothing to do";
  board.begin_job("a");
  board.begin_job("b");
  EXPECT_TRUE(board.take_progress()) << "they begin";
  EXPECT_FALSE(board.take_progress());
  board.advance("a");
  EXPECT_FALSE(board.take_progress()) << "b stands still";
  board.advance("b");
  EXPECT_TRUE(board.take_progress());
  board.set_waiting("b", true);
  board.advance("a");
  EXPECT_TRUE(board.take_progress()) << "b waits for a";
  clock.now += 100;
  board.advance("a");
  EXPECT_EQ(board.view().stalled_seconds, 0);
  board.set_waiting("b", false);
  clock.now += 5;
  board.advance("a");
  EXPECT_EQ(board.view().stalled_seconds, 5) << "since it had its turn";
  EXPECT_FALSE(board.take_progress());
  board.end_job("b", "done");
  EXPECT_TRUE(board.take_progress());
  board.advance();  // who gives the jobs looks for one
  board.advance("a");
  EXPECT_TRUE(board.take_progress());
  board.advance("a");
  EXPECT_FALSE(board.take_progress()) << "and does not come back";
  board.rest();
  EXPECT_TRUE(board.take_progress());
  board.enter_phase("a", "proving");
  board.set_epochs("a", 7);
  board.set_epochs_done("a", 2);
  board.begin_job("c");
  board.set_waiting("c", true);
  EXPECT_EQ(board.summary(), "proving a: epoch 3 of 7, claimed c (waiting for its turn); 0 queued");
  ASSERT_EQ(board.view().jobs.size(), 2u);
  EXPECT_EQ(to_json(board.view())["jobs"][1]["waiting"], true);
  EXPECT_EQ(to_json(board.view())["job"]["job"], "a");
}

TEST(Pages, StandingStillForLongIsNotHealthy) {
  SteppedClock clock;
  Board board(clock);
  MetricsRegistry registry;
  DaemonMetrics metrics(registry, 1000);
  const Pages pages(board, registry, metrics, 1000, clock);
  clock.now += 1e6;
  EXPECT_EQ(pages.get("/healthz").status, 200u) << "there was nothing to do";
  board.advance();
  clock.now += kStalledSecondsMax - 1;
  EXPECT_EQ(pages.get("/healthz").status, 200u);
  clock.now += 2;
  EXPECT_EQ(pages.get("/healthz").status, 503u);
  board.advance();
  EXPECT_EQ(pages.get("/healthz").status, 200u);
  board.set_blocked(true);
  EXPECT_EQ(pages.get("/readyz").status, 503u);
  board.set_blocked(false);
  EXPECT_EQ(pages.get("/readyz").status, 200u);
}

}  // namespace
}  // namespace epochd
