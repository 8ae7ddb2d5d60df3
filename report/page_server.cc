#include "report/page_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <cstdint>
#include <exception>
#include <optional>

#include "core/error.h"
#include "core/json_error.h"

namespace evo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint32_t kHeaderLimit = 16 * 1024;

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), [](unsigned char c) { return std::tolower(c); });
  return lowered;
}

Answer Refusal(int status, std::string_view why) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(std::string(why) + "\n"), ""};
}

asio::ip::address ParseAddress(const std::string& text) {
  boost::system::error_code wrong;
  const auto address = asio::ip::make_address(text, wrong);
  if (wrong) throw UsageError(fmt::format("{}: not an address; name a numeric one, such as 127.0.0.1", text));
  return address;
}

}  // namespace

// Not anonymous: a class with linkage has them as its parts.
namespace page_server {

// What all connections share.
struct Shared {
  ServerOptions options;
  PageServer::Answering answer;
  std::vector<std::string> hosts;
  asio::thread_pool workers{2};
  std::atomic<int> connections{0};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) { ++shared_.connections; }
  ~Connection() { --shared_.connections; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Read() {
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(boost::none);  // no body is read
    stream_.expires_after(shared_.options.read_time);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) {
        self->Decide();
      } else if (error == http::error::header_limit) {
        self->Write(Refusal(431, "the request is too long"), false);
      } else if (error != http::error::end_of_stream && error != beast::error::timeout && self->buffer_.size() > 0) {
        self->Write(Refusal(400, "not a request"), false);
      }
    });
  }

 private:
  void Decide() {
    const auto& request = parser_->get();
    // What comes after the header is not read: the connection ends with the answer.
    const bool keep = request.keep_alive() && parser_->is_done();
    if (request.count(http::field::host) != 1) return Write(Refusal(400, "a request names one host"), false);
    if (!NamesHost(std::string_view(request[http::field::host]), shared_.hosts))
      return Write(Refusal(421, "this server has another name; see --host-name of evo serve"), false);
    if (request.method() != http::verb::get) return Write(Refusal(405, "only GET is answered"), false);
    const std::string target(request.target());
    if (!target.starts_with('/')) return Write(Refusal(400, "the target begins with /"), false);
    // A link of another site may lead to the page; its scripts and pictures may not make us work.
    if (request["Sec-Fetch-Site"] == "cross-site" && target != "/") return Write(Refusal(403, "asked by another site"), false);
    std::string known(request[http::field::if_none_match]);
    stream_.expires_never();  // the time of making an answer is ours
    asio::post(shared_.workers, [self = shared_from_this(), target, known = std::move(known), keep] {
      Answer answer;
      try {
        answer = self->shared_.answer(target, known);
      } catch (const std::exception& error) {
        answer = Refusal(500, PlainText(error));
      }
      asio::post(self->stream_.get_executor(),
                 [self, answer = std::move(answer), keep]() mutable { self->Write(std::move(answer), keep); });
    });
  }

  void Write(Answer answer, bool keep) {
    body_ = answer.body ? std::move(answer.body) : std::make_shared<const std::string>();
    reply_.emplace();
    auto& reply = *reply_;
    reply.version(11);
    reply.result(static_cast<unsigned>(answer.status));
    reply.set(http::field::content_type, answer.type);
    reply.set(http::field::cache_control, "no-store");
    reply.set("X-Content-Type-Options", "nosniff");
    reply.set("X-Frame-Options", "DENY");
    reply.set("Content-Security-Policy", "frame-ancestors 'none'");
    reply.set("Referrer-Policy", "no-referrer");
    reply.set("Cross-Origin-Resource-Policy", "same-origin");
    reply.set("Cross-Origin-Opener-Policy", "same-origin");
    if (!answer.etag.empty()) reply.set(http::field::etag, answer.etag);
    if (answer.status == 405) reply.set(http::field::allow, "GET");
    reply.keep_alive(keep);
    reply.body() = {body_->data(), body_->size()};
    reply.prepare_payload();
    stream_.expires_after(shared_.options.write_time);
    http::async_write(stream_, reply, [self = shared_from_this(), keep](beast::error_code error, std::size_t) {
      self->body_.reset();
      if (error) return;
      if (keep) return self->Read();
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{2 * kHeaderLimit};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::response<http::span_body<const char>>> reply_;
  std::shared_ptr<const std::string> body_;
};

}  // namespace page_server

bool NamesHost(std::string_view header, const std::vector<std::string>& hosts) {
  std::string_view name = header;
  const std::size_t end = header.starts_with('[') ? header.find(']') : header.rfind(':');
  if (header.starts_with('[')) {
    if (end == std::string_view::npos) return false;
    name = header.substr(1, end - 1);
    if (end + 1 < header.size() && header[end + 1] != ':') return false;
  } else if (end != std::string_view::npos) {
    name = header.substr(0, end);
  }
  return std::find(hosts.begin(), hosts.end(), Lowered(name)) != hosts.end();
}

bool IsLoopback(const std::string& address) { return ParseAddress(address).is_loopback(); }

class PageServer::State {
 public:
  State(ServerOptions options, Answering answer) : acceptor_(io_) {
    shared_.options = std::move(options);
    shared_.answer = std::move(answer);
    shared_.hosts = {"localhost", "127.0.0.1", "::1", Lowered(shared_.options.address)};
    for (const std::string& name : shared_.options.hosts) shared_.hosts.push_back(Lowered(name));
    const tcp::endpoint endpoint(ParseAddress(shared_.options.address), static_cast<std::uint16_t>(shared_.options.port));
    boost::system::error_code wrong;
    acceptor_.open(endpoint.protocol(), wrong);
    if (!wrong) acceptor_.set_option(asio::socket_base::reuse_address(true), wrong);
    if (!wrong) acceptor_.bind(endpoint, wrong);
    if (!wrong) acceptor_.listen(asio::socket_base::max_listen_connections, wrong);
    if (wrong) {
      throw UsageError(fmt::format("{}:{}: cannot be served ({}); name another port with --port", shared_.options.address,
                                   shared_.options.port, wrong.message()));
    }
  }

  int port() const { return acceptor_.local_endpoint().port(); }

  void Run(const std::stop_token& stop) {
    Accept();
    const std::stop_callback on_stop(stop, [this] { io_.stop(); });
    io_.run();
    shared_.workers.stop();
    shared_.workers.join();
  }

 private:
  void Accept() {
    acceptor_.async_accept(io_, [this](beast::error_code error, tcp::socket socket) {
      // Beyond the limit, and if there are no descriptors left, a connection is closed at once.
      if (!error && shared_.connections < shared_.options.most_connections)
        std::make_shared<page_server::Connection>(std::move(socket), shared_)->Read();
      if (acceptor_.is_open()) Accept();
    });
  }

  page_server::Shared shared_;  // outlives the connections, which io_ owns
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
};

PageServer::PageServer(ServerOptions options, Answering answer)
    : state_(std::make_unique<State>(std::move(options), std::move(answer))) {}
PageServer::~PageServer() = default;
int PageServer::port() const { return state_->port(); }
void PageServer::Run(const std::stop_token& stop) { state_->Run(stop); }

}  // namespace evo
