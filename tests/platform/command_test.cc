#include "platform/command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The output of a shell that runs a command.
std::string Says(const std::string& script, const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  return RunCommand("sh", {"-c", script + " >&2"}, "install a shell", environment).output;
}

TEST(Command, ReturnsStatusAndOutput) {
  const CommandResult result = RunCommand("sh", {"-c", "echo wrong >&2; exit 3"}, "install a shell");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "wrong\n");
}

// Nobody who asked for it is to blame: the kernel does this where memory runs out.
TEST(Command, ThatSomethingElseKillsIsNotAResult) {
  for (const char* signal : {"KILL", "TERM"})
    EXPECT_THROW(RunCommand("sh", {"-c", fmt::format("kill -s {} $$", signal)}, "install a shell"), CommandKilled) << signal;
  const CommandResult crashed = RunCommand("sh", {"-c", "kill -s SEGV $$"}, "install a shell");
  EXPECT_NE(crashed.status, 0) << "a crash is its own";
}

TEST(Command, ThatSaysThatItsPartWasKilledIsNotAResult) {
  const auto says = [](const std::string& text) {
    return RunCommand("sh", {"-c", fmt::format("echo '{}' >&2; exit 1", text)}, "install a shell").status;
  };
  EXPECT_THROW(says("g++: fatal error: Killed signal terminated program cc1plus"), CommandKilled);
  EXPECT_THROW(says("candidate.cu:3: warning: odd\ncollect2: fatal error: ld terminated with signal 9 [Killed]"), CommandKilled);
  EXPECT_EQ(says("collect2: fatal error: ld terminated with signal 11 [Segmentation fault]"), 1);
  EXPECT_EQ(says("g++: internal compiler error: Segmentation fault signal terminated program cc1plus"), 1);
  EXPECT_EQ(says("candidate.cu:1:2: error: #error fatal error: Killed signal terminated program x"), 1);
}

// What g++ 12, as, ld and nvcc 13 say there.
TEST(Command, ThatFindsNoRoomOnTheDiskIsNotAResult) {
  const auto says = [](const std::string& text, int status = 1) {
    return RunCommand("sh", {"-c", fmt::format("cat >&2 << 'END'\n{}\nEND\nexit {}", text, status)}, "install a shell").status;
  };
  for (const char* text : {
           "candidate.cu:4:57: fatal error: error writing to /tmp/ccWA8AcO.s: No space left on device\ncompilation terminated.",
           "/tmp/ccoV.s: Fatal error: can't fill 256 bytes in section .data of /tmp/ccvC.o: 'No space left on device'",
           "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status",
           "<built-in>: fatal error: when writing output to : Disk quota exceeded",
       })
    EXPECT_THROW(says(text), DiskFull) << text;
  for (const char* text : {
           "candidate.cu:1:2: error: #error No space left on device",
           "candidate.cu:1:2: error: static assertion failed: No space left on device",
           "    4 | // No space left on device",
       })
    EXPECT_EQ(says(text), 1) << text;
  EXPECT_EQ(says("note: No space left on device", 0), 0);
}

TEST(WriteFile, SaysThatTheDiskIsFull) {
  try {
    WriteFile("/dev/full", "text");
    FAIL() << "written";
  } catch (const DiskFull& full) {
    EXPECT_STREQ(full.what(),
                 "/dev: no space is left there for temporary files; free some there, or set TMPDIR to a folder with room");
  }
  EXPECT_THROW(WriteFile("/no-such-folder/file", "text"), Error);
}

TEST(Command, KeepsTheBeginningOfAFlood) {
  const CommandResult result = RunCommand("sh", {"-c", "yes | head -c 3000000 >&2; exit 4"}, "install a shell");
  EXPECT_EQ(result.status, 4);
  EXPECT_EQ(result.output.size(), 1U << 20);
}

TEST(Command, GetsNothingThatIsOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(Says(fmt::format("for i in 2 {} {}; do [ -e /proc/$$/fd/$i ] && echo $i; done", ends[0], ends[1])), "2\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Command, AMissingProgramIsAnErrorWithARemedy) {
  try {
    RunCommand("no-such-tool-of-ours", {}, "install it");
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-tool-of-ours is not installed; install it"));
  }
}

TEST(Command, AddsOnlyVariablesThatAreNotSet) {
  ::setenv("EVO_COMMAND_TEST_OURS", "ours", 1);
  ::unsetenv("EVO_COMMAND_TEST");
  EXPECT_EQ(Says("echo $EVO_COMMAND_TEST_OURS $EVO_COMMAND_TEST"), "ours\n");
  EXPECT_EQ(Says("echo $EVO_COMMAND_TEST_OURS $EVO_COMMAND_TEST", {{"EVO_COMMAND_TEST", "more"}}), "ours more\n");
  ::setenv("EVO_COMMAND_TEST", "user's", 1);
  EXPECT_EQ(Says("echo $EVO_COMMAND_TEST", {{"EVO_COMMAND_TEST", "more"}}), "user's\n");
}

// A compiler shows the line of a candidate that it refuses, as long as it may be.
TEST(Command, WithstandsALongLineOfAProgramThatFails) {
  const CommandResult result = RunCommand("sh", {"-c", "head -c 900000 /dev/zero | tr '\\0' x >&2; exit 1"}, "install a shell");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output.size(), 900000U);
}

TEST(FindInLines, FindsTheFirstLineThatMatches) {
  EXPECT_THAT(FindInLines("nothing\nat 12: wrong\nat 13: too\n", R"(at (\d+): (.*))"),
              ElementsAre("at 12: wrong", "12", "wrong"));
  EXPECT_THAT(FindInLines("nothing\n", "at"), ElementsAre());
}

// With the standard library's depth of one call for each character, this was a segmentation fault.
TEST(FindInLines, WithstandsALongLine) {
  const std::string log = "error: " + std::string(1 << 20, 'x') + "\nerror: short\n";
  EXPECT_EQ(FindInLines(log, "error: (.*)").at(1).size(), 2000 - std::string("error: ").size());
}

}  // namespace
}  // namespace evo
