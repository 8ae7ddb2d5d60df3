#include "platform/kept_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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

TEST(KeptProcess, WorkThatSomethingElseHasStoppedIsEnded) {
  EXPECT_EQ(RunKept([] { return ::raise(SIGSTOP); }, kGrace), 128 + SIGKILL);
}

// As a batch system continues all of a job, in any order.
TEST(KeptProcess, WorkThatWasStoppedWithItsKeeperGoesOn) {
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::setpgid(0, 0);
    ::_exit(RunKept(
        [] {
          for (int i = 0; i < 30; ++i) ::usleep(100'000);
          return 7;
        },
        kGrace));
  }
  ::usleep(300'000);
  pid_t work = 0;
  std::ifstream(fmt::format("/proc/{0}/task/{0}/children", keeper)) >> work;
  ASSERT_GT(work, 0);
  for (const pid_t one : {work, keeper}) ::kill(one, SIGSTOP);
  ::usleep(2'500'000);
  ::kill(keeper, SIGCONT);
  ::usleep(300'000);
  ::kill(work, SIGCONT);
  int status = 0;
  ASSERT_EQ(::waitpid(keeper, &status, 0), keeper);
  EXPECT_EQ(WEXITSTATUS(status), 7);
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
