#include "cli/standard_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/print.h"
#include "tests/cli/captured_output.h"

namespace evo {
namespace {

TEST(FinishOutput, KeepsTheStatusIfEverythingWasWritten) {
  for (const int status : {0, 1, 3}) {
    testing::CapturedOutput messages;
    std::FILE* out = std::fopen("/dev/null", "w");
    fmt::print(out, "result\n");
    EXPECT_EQ(FinishOutput(out, messages.stream(), status, 0), status);
    EXPECT_EQ(messages.Text(), "");
  }
}

TEST(FinishOutput, NoticesWhatStayedInTheBuffer) {
  testing::CapturedOutput messages;
  std::FILE* out = std::fopen("/dev/full", "w");
  fmt::print(out, "result\n");
  EXPECT_EQ(FinishOutput(out, messages.stream(), 0, 0), 1);
  EXPECT_EQ(messages.Text(), "evo: the output could not be written (No space left on device)\n");
}

TEST(FinishOutput, KeepsTheStatusOfACommandThatFailed) {
  testing::CapturedOutput messages;
  std::FILE* out = std::fopen("/dev/full", "w");
  fmt::print(out, "result\n");
  EXPECT_EQ(FinishOutput(out, messages.stream(), 3, 0), 3);
  EXPECT_NE(messages.Text(), "");
}

TEST(FinishOutput, KnowsAnErrorOfLongAgo) {
  testing::CapturedOutput messages;
  std::FILE* out = std::fopen("/dev/full", "w");
  EXPECT_THROW(fmt::print(out, "{}", std::string(100'000, 'x')), std::system_error);
  std::setvbuf(out, nullptr, _IONBF, 0);
  EXPECT_EQ(FinishOutput(out, messages.stream(), 0, ENOSPC), 1);
  EXPECT_EQ(messages.Text(), "evo: the output could not be written (No space left on device)\n");
}

TEST(FinishOutput, SaysNothingIfTheReaderHasGone) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  testing::CapturedOutput messages;
  std::FILE* out = ::fdopen(ends[1], "w");
  fmt::print(out, "result\n");
  EXPECT_EQ(FinishOutput(out, messages.stream(), 0, 0), kReaderGone);
  EXPECT_EQ(messages.Text(), "");
}

TEST(PrintToAFullDisk, LosesMessagesAndEndsResults) {
  const int kept = ::dup(STDERR_FILENO);
  const int full = ::open("/dev/full", O_WRONLY);
  ::dup2(full, STDERR_FILENO);
  EXPECT_NO_THROW(Print(stderr, "generation {}\n", 3));
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  std::FILE* results = ::fdopen(full, "w");
  std::setvbuf(results, nullptr, _IONBF, 0);
  EXPECT_THROW(Print(results, "generation {}\n", 3), std::system_error);
  std::fclose(results);
}

}  // namespace
}  // namespace evo
