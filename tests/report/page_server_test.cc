#include "report/page_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.h"

namespace evo {
namespace {

using boost::asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Client {
 public:
  explicit Client(int port) : socket_(io_) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)});
  }
  void Send(const std::string& text) { boost::asio::write(socket_, boost::asio::buffer(text)); }
  // The same to a server that may end the connection before it has read everything.
  void TrySend(const std::string& text) {
    boost::system::error_code ended;
    boost::asio::write(socket_, boost::asio::buffer(text), ended);
  }
  // Everything until the server ends the connection.
  std::string Rest() {
    std::string text;
    boost::system::error_code ended;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text), ended);
    return text;
  }

 private:
  boost::asio::io_context io_;
  tcp::socket socket_;
};

class PageServerTest : public ::testing::Test {
 protected:
  PageServerTest()
      : server_({.read_time = std::chrono::milliseconds(300), .most_connections = 4},
                [](std::string_view target, std::string_view known) -> Answer {
                  if (target == "/throws") throw Error("a reason");
                  if (known == "\"1\"") return {304, "text/plain", nullptr, "\"1\""};
                  return {200, "text/plain", std::make_shared<const std::string>("target " + std::string(target)), "\"1\""};
                }),
        thread_([this](const std::stop_token& stop) { server_.Run(stop); }) {}

  std::string Ask(const std::string& request) {
    Client client(server_.port());
    client.TrySend(request);
    return client.Rest();
  }
  std::string Get(const std::string& target, const std::string& host = "localhost", const std::string& more = "") {
    return Ask(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\n\r\n", target, host, more));
  }

  PageServer server_;
  std::jthread thread_;
};

TEST_F(PageServerTest, AnswersGet) {
  const std::string reply = Get("/data?run=1");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\n\r\ntarget /data?run=1"));
  for (const char* header : {"X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
                             "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store", "ETag: \"1\""})
    EXPECT_THAT(reply, HasSubstr(header));
  EXPECT_THAT(Get("/", "localhost", "If-None-Match: \"1\"\r\n"), StartsWith("HTTP/1.1 304"));
  EXPECT_THAT(Get("/throws"), HasSubstr("a reason"));
}

TEST_F(PageServerTest, KeepsAConnection) {
  Client client(server_.port());
  client.Send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string replies = client.Rest();
  EXPECT_THAT(replies, HasSubstr("target /a"));
  EXPECT_THAT(replies, HasSubstr("target /b"));
}

TEST_F(PageServerTest, RefusesOtherHosts) {
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::1].evil.example", "[::1"})
    EXPECT_THAT(Get("/", host), StartsWith("HTTP/1.1 421")) << host;
  for (const char* host : {"localhost", "LOCALHOST:9000", "127.0.0.1:1", "[::1]:80", "[::1]"})
    EXPECT_THAT(Get("/", host), StartsWith("HTTP/1.1 200")) << host;
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(PageServerTest, RefusesWhatAnotherSiteAsks) {
  EXPECT_THAT(Get("/data", "localhost", "Sec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/data", "localhost", "Sec-Fetch-Site: same-origin\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get("/", "localhost", "Sec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 200")) << "a link";
}

TEST_F(PageServerTest, RefusesWritesAndWhatIsNoRequest) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "HEAD", "CONNECT"})
    EXPECT_THAT(Ask(fmt::format("{} /data HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx", method)),
                StartsWith("HTTP/1.1 405"))
        << method;
  EXPECT_THAT(Ask("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("\x16\x03\x01 nothing\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(PageServerTest, CutsOffSlowClients) {
  Client slow(server_.port());
  slow.Send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(slow.Rest(), "") << "the connection ends without an answer";
  Client slower(server_.port());
  const auto began = std::chrono::steady_clock::now();
  try {
    for (int i = 0; i < 40; ++i) {  // a byte now and then does not keep it open
      slower.Send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << "the connection is open after two seconds";
  } catch (const boost::system::system_error&) {
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(1900));
  }
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 200"));
}

TEST_F(PageServerTest, ManyConnectionsDoNotStopIt) {
  {
    std::vector<std::unique_ptr<Client>> idle;
    for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<Client>(server_.port()));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // longer than a request may take
  }
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 200"));
}

TEST(PageServer, SaysWhyItCannotListen) {
  const PageServer first({}, {});
  EXPECT_THROW(PageServer({.port = first.port()}, {}), UsageError);
  EXPECT_THROW(PageServer({.address = "localhost"}, {}), UsageError) << "not numeric";
}

TEST(IsLoopback, KnowsBothFamilies) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("0.0.0.0"));
  EXPECT_FALSE(IsLoopback("192.168.1.1"));
}

}  // namespace
}  // namespace evo
