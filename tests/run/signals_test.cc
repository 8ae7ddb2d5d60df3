// Signals end every command within two seconds, unless they are ignored.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

class Signals : public EvoRun {
 protected:
  void ExpectEndsSoon(pid_t evo, int signal) const {
    ::kill(-evo, signal);
    const auto asked = steady_clock::now();
    EXPECT_EQ(Wait(evo), 130) << Output();
    EXPECT_LT(steady_clock::now() - asked, milliseconds(2000)) << Output();
  }
};

TEST_F(Signals, EndACommandThatWaitsForAReader) {
  std::vector<std::string> arguments = RunArguments(1);
  arguments.push_back("--no-check");
  ASSERT_EQ(Run(arguments), 0) << Output();
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const pid_t exporting = Start({"best", "--export", pipe, "--db", Database()});
  std::this_thread::sleep_for(milliseconds(2500));
  ExpectEndsSoon(exporting, SIGTERM);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
  const pid_t printing = Start({"export", "--json", "--db", Database()}, [&] { ::dup2(ends[1], STDOUT_FILENO); });
  std::this_thread::sleep_for(milliseconds(500));
  ExpectEndsSoon(printing, SIGTERM);
}

TEST_F(Signals, EndARunThatWaitsForALock) {
  const pid_t evo = Start(RunArguments(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  SQLite::Database other(Database(), SQLite::OPEN_READWRITE, 5000);
  other.exec("BEGIN IMMEDIATE");
  ASSERT_TRUE(WaitFor("locked by another program", milliseconds(60'000))) << Output();
  ::kill(-evo, SIGINT);
  const auto asked = steady_clock::now();
  EXPECT_NE(Wait(evo), 0) << Output();
  EXPECT_LT(steady_clock::now() - asked, milliseconds(2000)) << Output();
}

TEST_F(Signals, SayHowAnInterruptedRunGoesOn) {
  const pid_t evo = Start(RunArguments(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  ExpectEndsSoon(evo, SIGTERM);
  EXPECT_THAT(Output(), HasSubstr("`evo run --resume 1 --db " + Database() + "` goes on with it"));
}

// By which a batch system announces the end of a job.
TEST_F(Signals, OfABatchSystemEndARunInOrder) {
  const pid_t evo = Start(RunArguments(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  ExpectEndsSoon(evo, SIGUSR1);
  EXPECT_THAT(Output(), HasSubstr("`evo run --resume 1 --db " + Database() + "` goes on with it"));
}

TEST_F(Signals, StayIgnoredUnderNohup) {
  std::vector<std::string> arguments = RunArguments(3);
  arguments.push_back("--no-check");
  const pid_t evo = Start(arguments, [] { ::signal(SIGHUP, SIG_IGN); });
  ASSERT_TRUE(WaitFor("templates ", milliseconds(60'000))) << Output();
  ::kill(evo, SIGHUP);
  EXPECT_EQ(Wait(evo), 0) << Output();
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFinished);
}

}  // namespace
}  // namespace evo
