#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <ctime>

namespace evo {
namespace {

sigset_t Awaited() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = Awaited();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader that closes our output (`evo history | head`) must not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  waiter_ = std::jthread([this](const std::stop_token& done) {
    const sigset_t awaited = Awaited();
    const timespec slice{0, 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&awaited, nullptr, &slice) < 0) continue;
      if (source_.stop_requested()) ::_exit(130);
      source_.request_stop();
    }
  });
}

Interrupt::~Interrupt() = default;

}  // namespace evo
