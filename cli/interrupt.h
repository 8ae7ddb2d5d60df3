#pragma once

#include <stop_token>
#include <thread>

namespace evo {

// Turns the first SIGINT (Ctrl-C), SIGTERM or SIGHUP into a stop request; the second ends the process at once with status 130.
// What was recorded is safe in both cases. Construct it before any thread starts, so that all threads inherit the blocked
// signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace evo
