#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace evo {
namespace {

// A command is over when its work is: it does not wait for its own waiting for signals, which took up to a tenth of a second.
TEST(InterruptTest, EndsAtOnce) {
  sigset_t present;
  pthread_sigmask(SIG_BLOCK, nullptr, &present);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) {
    const Interrupt interrupt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it waits
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
}

}  // namespace
}  // namespace evo
