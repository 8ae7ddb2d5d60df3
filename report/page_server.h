#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// What a path of the server is answered with.
struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // null: empty
  std::string etag;                         // with quotation marks; empty: none
};

struct ServerOptions {
  std::string address = "127.0.0.1";              // numeric
  int port = 0;                                   // 0: any that is free
  std::vector<std::string> hosts;                 // names of this server beside its address, localhost and the loopback addresses
  std::chrono::milliseconds read_time{10'000};    // for a whole request, however slowly it comes
  std::chrono::milliseconds write_time{120'000};  // for a whole answer
  int most_connections = 64;
};

// A small HTTP server for one page. It answers GET alone, and only a request that names this server in its Host header, so that
// no page of the network can ask it through a visitor's browser. A request that is too long or too slow is cut off. There is no
// path that leads to a file.
class PageServer {
 public:
  // `answer` gets the target ("/data?run=1") and the value of If-None-Match, and is called on a thread of the server, two at a
  // time. What it throws becomes status 500 with the message. Throws UsageError if the address cannot be bound.
  using Answering = std::function<Answer(std::string_view target, std::string_view if_none_match)>;
  PageServer(ServerOptions options, Answering answer);
  ~PageServer();

  int port() const;
  // Serves until `stop` is requested.
  void Run(const std::stop_token& stop);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Whether a Host header ("localhost:8017", "[::1]") names one of `hosts`, whatever its port.
bool NamesHost(std::string_view header, const std::vector<std::string>& hosts);

// Whether a numeric address is of the machine itself, 127.0.0.0/8 or ::1. Throws UsageError if it is no address.
bool IsLoopback(const std::string& address);

}  // namespace evo
