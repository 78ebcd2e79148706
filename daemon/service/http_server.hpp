// Answers GET over HTTP on the control thread's io_context, never waiting for anything: the answers
// are computed from what is in memory. Everything a client can make large or slow is bounded.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "config/daemon_settings.hpp"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace epochd {

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpLimits {
  unsigned connections = 32;     ///< more are closed at once
  unsigned header_bytes = 8192;  ///< of a request
  unsigned requests = 1000;      ///< on one connection
  unsigned idle_ms = 10'000;     ///< for a whole request to come, and for an answer to be taken
};

class HttpServer {
 public:
  /// The answer to a GET of a path (without its query); 404 for what is not there.
  using Handler = std::function<HttpAnswer(std::string_view path)>;
  /// Told the status of each answer.
  using Count = std::function<void(unsigned status)>;

  /// Listens at once and serves while `io` runs. Pre: used, and destroyed, where `io` runs or when
  /// it does not. Errors: std::runtime_error when it cannot listen there.
  HttpServer(boost::asio::io_context& io, const HttpSettings& settings, Handler handler,
             Count count, HttpLimits limits = {});
  ~HttpServer();

  u16 port() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace epochd
