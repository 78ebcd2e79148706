#include "daemon/service/http_server.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>

namespace epochd {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Response = http::response<http::string_body>;

constexpr u64 kBodyBytesMax = 1024;  // no request here needs one
/// What is still taken from a client whose request was refused, so that it gets to read why.
constexpr size_t kRefusedBytesMax = 1 << 20;
constexpr std::chrono::milliseconds kRetryPause{200};

/// The status that tells a client what was wrong with its request; nothing when it just left.
std::optional<http::status> status_of(const error_code& error) {
  if (error == http::error::header_limit) return http::status::request_header_fields_too_large;
  if (error == http::error::body_limit) return http::status::payload_too_large;
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  const bool is_http =
      error.category() == http::make_error_code(http::error::end_of_stream).category();
  return is_http ? std::optional(http::status::bad_request) : std::nullopt;
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  class Session;

  Impl(asio::io_context& io, Handler given_handler, Count given_count,
       const HttpLimits& given_limits)
      : acceptor(io),
        retry(io),
        handler(std::move(given_handler)),
        count(std::move(given_count)),
        limits(given_limits) {}

  void listen(const HttpSettings& settings);
  void accept();
  void accept_later();
  void end();

  tcp::acceptor acceptor;
  asio::steady_timer retry;
  Handler handler;
  Count count;
  HttpLimits limits;
  std::set<std::shared_ptr<Session>> sessions;
  bool has_ended = false;
};

/// One connection.
class HttpServer::Impl::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Impl> server)
      : stream_(std::move(socket)), server_(std::move(server)) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(server_->limits.header_bytes);
    parser_->body_limit(kBodyBytesMax);
    stream_.expires_after(std::chrono::milliseconds(server_->limits.idle_ms));
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const error_code& error, size_t) { self->on_read(error); });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    server_->sessions.erase(shared_from_this());
  }

 private:
  void on_read(const error_code& error) {
    if (server_->has_ended) return;
    if (!error) return answer(parser_->get());
    const auto status = status_of(error);
    if (!status) return close();
    // What else is in the buffer cannot be told from a next request.
    send(make({static_cast<unsigned>(*status), HttpAnswer{}.type, error.message() + "\n"}, 11),
         false);
  }

  void answer(const http::request<http::string_body>& request) {
    const bool is_head = request.method() == http::verb::head;
    HttpAnswer page;
    if (request.method() == http::verb::get || is_head) {
      const std::string_view target(request.target().data(), request.target().size());
      page = server_->handler(target.substr(0, target.find('?')));
    } else {
      page = {405, HttpAnswer{}.type, "only GET and HEAD are answered here\n"};
    }
    Response response = make(std::move(page), request.version());
    if (response.result() == http::status::method_not_allowed) {
      response.set(http::field::allow, "GET, HEAD");
    }
    if (is_head) response.body().clear();  // the length stays that of the whole
    send(std::move(response), request.keep_alive() && ++requests_ < server_->limits.requests);
  }

  static Response make(HttpAnswer page, unsigned version) {
    Response response(static_cast<http::status>(page.status), version);
    response.set(http::field::content_type, page.type);
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    // The page brings its own style and script and may load nothing else.
    response.set("Content-Security-Policy",
                 "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response.content_length(page.body.size());
    response.body() = std::move(page.body);
    return response;
  }

  void send(Response response, bool stays) {
    server_->count(response.result_int());
    response.keep_alive(stays);
    response_.emplace(std::move(response));
    stream_.expires_after(std::chrono::milliseconds(server_->limits.idle_ms));
    http::async_write(stream_, *response_,
                      [self = shared_from_this(), stays](const error_code& error, size_t) {
                        if (self->server_->has_ended) return;
                        if (error) return self->close();
                        if (stays) return self->read();
                        self->finish();
                      });
  }

  /// Closing with bytes unread would take the answer back from the client.
  void finish() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    buffer_.consume(buffer_.size());
    discard();
  }

  void discard() {
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](const error_code& error, size_t bytes) {
                              if (self->server_->has_ended) return;
                              self->discarded_ += bytes;
                              const bool is_over = error || self->discarded_ > kRefusedBytesMax;
                              return is_over ? self->close() : self->discard();
                            });
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Impl> server_;
  beast::flat_buffer buffer_{16384};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<Response> response_;
  unsigned requests_ = 0;
  size_t discarded_ = 0;
};

void HttpServer::Impl::listen(const HttpSettings& settings) {
  const tcp::endpoint endpoint(asio::ip::make_address(settings.address), settings.port);
  try {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("cannot listen on " + settings.address + " port " +
                             std::to_string(settings.port) + ": " + error.code().message());
  }
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    if (self->has_ended || error == asio::error::operation_aborted) return;
    if (error) return self->accept_later();
    if (self->sessions.size() < self->limits.connections) {
      const auto session = std::make_shared<Session>(std::move(socket), self);
      self->sessions.insert(session);
      session->read();
    }
    self->accept();
  });
}

/// No descriptor was free, most likely: asking again at once would be asking all the time.
void HttpServer::Impl::accept_later() {
  retry.expires_after(kRetryPause);
  retry.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->has_ended) self->accept();
  });
}

void HttpServer::Impl::end() {
  has_ended = true;
  error_code ignored;
  acceptor.close(ignored);
  retry.cancel();
  const auto open = std::move(sessions);
  sessions.clear();
  for (const auto& session : open) session->close();
}

HttpServer::HttpServer(asio::io_context& io, const HttpSettings& settings, Handler handler,
                       Count count, HttpLimits limits)
    : impl_(std::make_shared<Impl>(io, std::move(handler), std::move(count), limits)) {
  impl_->listen(settings);
  impl_->accept();
}

HttpServer::~HttpServer() {
  impl_->end();
}

u16 HttpServer::port() const {
  return impl_->acceptor.local_endpoint().port();
}

}  // namespace epochd
