#pragma once

#include <signal.h>

#include <stop_token>
#include <thread>

namespace evo {

// Turns the first SIGINT (Ctrl-C), SIGTERM, SIGHUP, SIGUSR1 or SIGUSR2 (by which batch systems announce the end of a job) into a
// stop request. If the program has not ended less than two seconds later, or at the second signal, it ends at once with status
// 130: also a command that waits for a file and asks no token. What was recorded is safe in all cases. A signal that was ignored
// when the program began (nohup) stays so. Construct it before any thread starts, so that all threads inherit the blocked
// signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  std::stop_token token() const { return source_.get_token(); }

 private:
  void Wait(const std::stop_token& done);

  sigset_t awaited_;
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace evo
