#include "cli/interrupt.h"

#include <sys/time.h>
#include <unistd.h>

#include <string_view>

namespace evo {
namespace {

constexpr int kInterrupted = 130;
// Ends the waiting for a signal. Nobody else is disturbed by it: it is ignored unless a thread waits for it.
constexpr int kWake = SIGURG;
// After the first signal: the promised two seconds, less what ending takes on a busy machine.
constexpr itimerval kGrace{{0, 0}, {1, 700'000}};

// A blocked signal is delivered to who waits for it even if it is ignored.
sigset_t NotIgnored() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
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
  // Blocked before the thread begins, which inherits that: it must not be lost if it comes early.
  sigset_t wake;
  sigset_t present;
  sigemptyset(&wake);
  sigaddset(&wake, kWake);
  pthread_sigmask(SIG_BLOCK, &wake, &present);
  waiter_ = std::jthread([this](const std::stop_token& done) { Wait(done); });
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
}

Interrupt::~Interrupt() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), kWake);
}

void Interrupt::Wait(const std::stop_token& done) {
  sigset_t awaited = awaited_;
  sigaddset(&awaited, kWake);
  while (!done.stop_requested()) {
    const int signal = sigwaitinfo(&awaited, nullptr);
    if (signal < 0 || signal == kWake) continue;
    if (source_.stop_requested()) ::_exit(kInterrupted);
    EndAfterGrace();
    source_.request_stop();
  }
}

}  // namespace evo
