// What others do to the files of a run: databases that are no files, that are locked, deleted or replaced; templates that change.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DatabaseFaults : public EvoRun {
 protected:
  std::vector<std::string> Unchecked(int generations) const {
    std::vector<std::string> arguments = RunArguments(generations);
    arguments.push_back("--no-check");
    return arguments;
  }
};

TEST_F(DatabaseFaults, WhatIsNoFileIsRefusedBeforeAnythingStarts) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string(":memory:"), pipe, folder_.string(), std::string("/dev/null"), std::string()}) {
    const std::vector<std::string> run = {"run", "--task", TaskFolder(), "--device", "cpu", "--db", path};
    for (const std::vector<std::string>& command : {run, {"best", "--db", path}, {"verify", "--db", path}}) {
      EXPECT_EQ(Run(command), 2) << path << ": " << Output();
      const std::string output = Output();
      EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
      EXPECT_THAT(output, HasSubstr("--db"));
    }
  }
}

TEST_F(DatabaseFaults, ALimitOfFileSizesIsSaid) {
  const auto limit = [] {
    const rlimit small{16 * 1024, 16 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &small);
  };
  EXPECT_EQ(Run(Unchecked(1), limit), 1) << Output();
  EXPECT_THAT(Output(), HasSubstr("evo: " + Database()));
}

TEST_F(DatabaseFaults, ALongLockDelaysARunAndLosesNothing) {
  const pid_t evo = Start(Unchecked(3));
  ASSERT_TRUE(WaitFor("generation 1/3", milliseconds(60'000))) << Output();
  {
    SQLite::Database other(Database(), SQLite::OPEN_READWRITE, 5000);
    other.exec("BEGIN IMMEDIATE");
    EXPECT_TRUE(WaitFor("locked by another program; what this run has evaluated is kept", milliseconds(60'000))) << Output();
  }
  EXPECT_EQ(Wait(evo), 0) << Output();
  EXPECT_EQ(History(Database()).FindRun(1).generations_done, 4);
}

// A run whose database is on a small disk of its own.
class FullDisk : public DatabaseFaults {
 protected:
  void SetUp() override {
    DatabaseFaults::SetUp();
    fs::create_directory(disk_ = folder_ / "disk");
    if (::mount("none", disk_.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "mounting a small disk needs root";
  }
  void TearDown() override {
    ::umount2(disk_.c_str(), MNT_DETACH);
    DatabaseFaults::TearDown();
  }
  std::string OnDisk() const { return (disk_ / "evo.db").string(); }
  std::vector<std::string> ToDisk(std::vector<std::string> arguments) const {
    std::replace(arguments.begin(), arguments.end(), Database(), OnDisk());
    return arguments;
  }
  void Fill() const { std::ofstream(disk_ / "filler") << std::string(8 << 20, 'x'); }
  void Empty() const { fs::remove(disk_ / "filler"); }

  fs::path disk_;
};

TEST_F(FullDisk, DelaysARunAndLosesNothing) {
  const pid_t evo = Start(ToDisk(Unchecked(4)));
  ASSERT_TRUE(WaitFor("generation 1/4", milliseconds(60'000))) << Output();
  Fill();
  ASSERT_TRUE(WaitFor("the disk is full; what this run has evaluated is kept", milliseconds(60'000))) << Output();
  std::this_thread::sleep_for(milliseconds(2'500));
  Empty();
  EXPECT_EQ(Wait(evo), 0) << Output();
  EXPECT_EQ(History(OnDisk()).FindRun(1).generations_done, 5);
  const std::string output = Output();
  EXPECT_EQ(output.find("the disk is full"), output.rfind("the disk is full")) << output;
}

TEST_F(FullDisk, ThatStaysSoEndsARunAfterItsTimeLimit) {
  std::vector<std::string> arguments = ToDisk(Unchecked(1000));
  arguments.insert(arguments.end(), {"--time-limit", "4s"});
  const pid_t evo = Start(arguments);
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  Fill();
  EXPECT_EQ(Wait(evo), 1) << Output();
  EXPECT_THAT(Output(), HasSubstr("evo: " + OnDisk() + ": the disk is still full after"));
  EXPECT_THAT(Output(), HasSubstr("--resume"));
  Empty();
  const int stored = History(OnDisk()).FindRun(1).generations_done;
  EXPECT_GE(stored, 2);
  const std::string more = std::to_string(stored + 1);
  EXPECT_EQ(Run({"run", "--resume", "--generations", more, "--no-check", "--db", OnDisk()}), 0) << Output();
  EXPECT_EQ(History(OnDisk()).FindRun(1).generations_done, stored + 2);
}

TEST_F(DatabaseFaults, ADatabaseThatIsDeletedEndsTheRunAndIsRescued) {
  const pid_t evo = Start(Unchecked(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  fs::remove(Database());
  EXPECT_EQ(Wait(evo), 1) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("deleted or replaced while evo wrote to it"), Not(HasSubstr("finished after"))));
  EXPECT_FALSE(fs::exists(Database()));
  const std::string rescued = Database() + ".rescued-1";
  EXPECT_GE(History(rescued).FindRun(1).generations_done, 2);
  EXPECT_EQ(Run({"run", "--resume", "--generations", "1", "--no-check", "--db", rescued}), 0) << Output();
}

TEST_F(DatabaseFaults, ATemplateThatHasChangedIsNamedAndTheStoredOneUsed) {
  const fs::path task = folder_ / "task";
  fs::copy(TaskFolder(), task, fs::copy_options::recursive);
  std::vector<std::string> arguments = Unchecked(1);
  arguments[2] = task.string();
  ASSERT_EQ(Run(arguments), 0) << Output();
  EXPECT_THAT(Output(), Not(HasSubstr("changed since")));
  std::ofstream(task / "honest.cu") << "not a kernel any longer";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"run", "--resume", "--generations", "2", "--no-check", "--db", Database()}, {"verify", "--db", Database()}}) {
    EXPECT_EQ(Run(command), 0) << Output();
    EXPECT_THAT(Output(), HasSubstr("the template honest has changed since; the text that the run stored is used"));
  }
}

}  // namespace
}  // namespace evo
