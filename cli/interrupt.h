#pragma once

#include <stop_token>
#include <thread>

namespace evo {

// Turns Ctrl-C and SIGTERM into a stop request. The first asks, the second leaves at once with status 130: what was recorded is
// safe either way. Make it before any other thread, so that all of them inherit the blocked signals.
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
