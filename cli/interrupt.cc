#include "cli/interrupt.h"

#include <sys/time.h>
#include <unistd.h>

#include <ctime>
#include <string_view>

namespace evo {
namespace {

constexpr int kInterrupted = 130;
// After the first signal: the promised two seconds, less what ending takes on a busy machine.
constexpr itimerval kGrace{{0, 0}, {1, 700'000}};

// A blocked signal is delivered to who waits for it even if it is ignored.
sigset_t NotIgnored() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present {};
    if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

void EndNow(int) {
  constexpr std::string_view kMessage = "evo: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(kInterrupted);
}

// A timer, not a thread: it ends the program even if what the stop request calls never returns.
void EndAfterGrace() {
  struct sigaction end {};
  end.sa_handler = EndNow;
  ::sigaction(SIGALRM, &end, nullptr);
  ::setitimer(ITIMER_REAL, &kGrace, nullptr);
}

}  // namespace

Interrupt::Interrupt() : awaited_(NotIgnored()) {
  pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
  // A reader that closes our output (`evo history | head`) must not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  waiter_ = std::jthread([this](const std::stop_token& done) {
    const timespec slice{0, 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&awaited_, nullptr, &slice) < 0) continue;
      if (source_.stop_requested()) ::_exit(kInterrupted);
      EndAfterGrace();
      source_.request_stop();
    }
  });
}

Interrupt::~Interrupt() = default;

}  // namespace evo
