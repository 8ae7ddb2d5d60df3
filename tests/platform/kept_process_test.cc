#include "platform/kept_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace evo {
namespace {

constexpr std::chrono::milliseconds kGrace{1000};

TEST(KeptProcess, ItsStatusIsThatOfTheWork) {
  EXPECT_EQ(RunKept([] { return 7; }, kGrace), 7);
  EXPECT_EQ(RunKept([] { return ::raise(SIGKILL); }, kGrace), 128 + SIGKILL);
}

TEST(KeptProcess, ASignalToTheKeeperEndsTheWork) {
  const pid_t keeper = ::getpid();
  const auto work = [&] {
    ::kill(keeper, SIGTERM);
    for (;;) ::pause();
    return 0;
  };
  EXPECT_EQ(RunKept(work, kGrace), 128 + SIGKILL);
}

// As a compiler that the work has started.
TEST(KeptProcess, WhatTheWorkHasStartedEndsWithIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto work = [&] {
    if (::fork() == 0) {
      for (;;) ::pause();
    }
    return 0;
  };
  EXPECT_EQ(RunKept(work, kGrace), 0);
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "it has the pipe open for ever";
  ::close(ends[0]);
}

}  // namespace
}  // namespace evo
