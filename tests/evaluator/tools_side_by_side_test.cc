#include "evaluator/workers/tools_side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace evo {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr std::size_t kMuch = 1000;

// The small case and one that is timed, each of which takes `bytes`.
std::vector<ToolCase> TwoCases(std::size_t bytes = 0) {
  std::vector<ToolCase> cases{{{}, "", bytes}, {{}, "timed", bytes}};
  cases[0].job.deadline = seconds(60);
  cases[1].job.deadline = seconds(30);
  return cases;
}

std::string Name(const std::string& tool, const Job& job) { return tool + (job.deadline == seconds(30) ? " at timed" : ""); }

std::vector<std::string> Texts(const std::vector<ToolRun>& runs) {
  std::vector<std::string> texts;
  for (const ToolRun& run : runs) texts.push_back(run.result.tool + " " + run.result.result);
  return texts;
}

std::vector<std::string> RunTools(const ToolsSideBySide::RunTool& run, const std::vector<ToolCase>& cases,
                                  std::size_t memory = kMuch, const std::stop_token& stop = {}) {
  return Texts(ToolsSideBySide(run, {"memcheck", "racecheck"}, cases, memory).Run(stop));
}

void AwaitStop(const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::yield();
}

// How many run at the same time, at most.
class Crowd {
 public:
  // How many there are then.
  int Enter() {
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, ++now_);
    return now_;
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    --now_;
  }
  int most() const { return most_; }

 private:
  std::mutex mutex_;
  int now_ = 0;
  int most_ = 0;
};

TEST(ToolsSideBySide, AllToolsOnAllCasesRunAtOnceAndEachHasTheWholeTime) {
  std::latch all(4);
  std::atomic<int> whole_times = 0;
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    whole_times += static_cast<int>(job.deadline / seconds(1));
    all.arrive_and_wait();  // never returns if one waits for another's end
    return {tool, "clean", ""};
  };
  EXPECT_THAT(RunTools(run, TwoCases()),
              ElementsAre("memcheck clean", "racecheck clean", "memcheck at timed clean", "racecheck at timed clean"));
  EXPECT_EQ(whole_times, 60 + 60 + 30 + 30);
}

TEST(ToolsSideBySide, AsManyRunAtOnceAsFitIntoTheMemory) {
  for (const std::size_t memory : {0, 199, 250, 399}) {
    const int fit = std::max(1, static_cast<int>(memory / 100));
    Crowd crowd;
    std::latch together(fit);
    std::atomic<int> first = 0;
    const auto run = [&](const std::string& tool, const Job&, const std::stop_token&) -> ToolResult {
      crowd.Enter();
      if (first++ < fit) together.arrive_and_wait();  // that many do run at once
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      crowd.Leave();
      return {tool, "clean", ""};
    };
    EXPECT_THAT(RunTools(run, TwoCases(100), memory),
                ElementsAre("memcheck clean", "racecheck clean", "memcheck at timed clean", "racecheck at timed clean"));
    EXPECT_EQ(crowd.most(), fit) << memory;
  }
}

// Otherwise the verdict of a kernel with two faults would depend on which tool was faster.
TEST(ToolsSideBySide, ResultsEndWithTheFirstErrorInTheirOrderWhicheverCameFirst) {
  std::latch raced(1);
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token& stop) -> ToolResult {
    const std::string name = Name(tool, job);
    if (name == "racecheck at timed") {
      raced.count_down();
      return {tool, "error", "a race"};
    }
    if (name == "racecheck") {
      raced.wait();
      EXPECT_FALSE(stop.stop_requested()) << "an error after it leaves it alone";
      return {tool, "error", "another race"};
    }
    if (name == "memcheck at timed") AwaitStop(stop);  // for ever, if the error before it does not stop it
    return {tool, stop.stop_requested() ? "unsupported" : "clean", ""};
  };
  EXPECT_THAT(RunTools(run, TwoCases()), ElementsAre("memcheck clean", "racecheck error"));
}

TEST(ToolsSideBySide, AnErrorStopsThoseThatWaitForRoom) {
  std::atomic<int> ran = 0;
  const auto run = [&](const std::string& tool, const Job&, const std::stop_token&) -> ToolResult {
    ++ran;
    return {tool, "error", "a write"};
  };
  EXPECT_THAT(RunTools(run, TwoCases(100), 100), ElementsAre("memcheck error"));
  EXPECT_EQ(ran, 1);
}

// It shared the device with the others.
TEST(ToolsSideBySide, OneWhoseTimeIsOverRunsAgainAlone) {
  Crowd crowd;
  std::atomic<int> ran = 0;
  std::latch all(4);
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    const bool is_slow = tool == "racecheck";
    const bool again = ++ran > 4;
    const int inside = crowd.Enter();
    if (again) {
      EXPECT_TRUE(is_slow);
      EXPECT_EQ(inside, 1);
      EXPECT_EQ(job.deadline, ran == 5 ? seconds(60) : seconds(30)) << "again the whole time";
    } else {
      all.arrive_and_wait();
    }
    // Long enough for a next one that does not wait.
    if (again || !is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    crowd.Leave();
    return {tool, is_slow && !again ? "timeout" : "clean", ""};
  };
  EXPECT_THAT(RunTools(run, TwoCases()),
              ElementsAre("memcheck clean", "racecheck clean", "memcheck at timed clean", "racecheck at timed clean"));
  EXPECT_EQ(ran, 6);
  EXPECT_EQ(crowd.most(), 4);
}

// On the other case it would fare no better. Another tool may: they differ in what they cost.
TEST(ToolsSideBySide, AKernelThatIsTooSlowForAToolCostsOneMoreDeadline) {
  std::map<std::string, int> ran;
  std::mutex mutex;
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    const std::lock_guard lock(mutex);
    ++ran[Name(tool, job)];
    return {tool, "timeout", "the tool did not end in time"};
  };
  EXPECT_THAT(RunTools(run, TwoCases()),
              ElementsAre("memcheck timeout", "racecheck timeout", "memcheck at timed timeout", "racecheck at timed timeout"));
  for (const char* tool : {"memcheck", "racecheck"}) {
    EXPECT_EQ(ran[tool], 2);
    EXPECT_EQ(ran[std::string(tool) + " at timed"], 1);
  }
}

// A fault that only the second would find must not be missed because the first is slow.
TEST(ToolsSideBySide, OneThatIsTooSlowAloneKeepsNoOtherFromItsTimeAlone) {
  std::map<std::string, int> ran;
  std::mutex mutex;
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    const std::lock_guard lock(mutex);
    const std::string name = Name(tool, job);
    const bool finds = name == "racecheck at timed" && ran[name]++ > 0;
    return {tool, finds ? "error" : name == "racecheck" ? "clean" : "timeout", ""};
  };
  EXPECT_THAT(RunTools(run, TwoCases()),
              ElementsAre("memcheck timeout", "racecheck clean", "memcheck at timed timeout", "racecheck at timed error"));
}

// The eight need memory and ports of the same machine.
TEST(ToolsSideBySide, OneThatCouldNotRunBesideTheOthersRunsAgainAlone) {
  std::map<std::string, int> ran;
  std::mutex mutex;
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    const std::lock_guard lock(mutex);
    const int times = ++ran[Name(tool, job)];
    if (tool == "memcheck") return {tool, "unsupported", "does not know this kernel"};
    return {tool, times == 1 ? "timeout" : "clean", ""};
  };
  EXPECT_THAT(RunTools(run, TwoCases()), ElementsAre("memcheck unsupported", "racecheck clean", "memcheck at timed unsupported",
                                                     "racecheck at timed clean"));
  EXPECT_EQ(ran["memcheck"], 2);
  EXPECT_EQ(ran["memcheck at timed"], 1) << "the other case has shown that it is not for sharing";
  EXPECT_EQ(ran["racecheck at timed"], 2);
}

TEST(ToolsSideBySide, WhatOneFindsAloneCountsAsIfItHadBeenInTime) {
  std::atomic<int> ran = 0;
  const auto run = [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    if (Name(tool, job) != "racecheck") return {tool, "clean", ""};
    return ++ran == 1 ? ToolResult{tool, "timeout", ""} : ToolResult{tool, "error", "a race"};
  };
  EXPECT_THAT(RunTools(run, TwoCases()), ElementsAre("memcheck clean", "racecheck error"));
}

TEST(ToolsSideBySide, NothingRunsAgainBesideAnErrorOrWhereItWasAlone) {
  std::atomic<int> ran = 0;
  const auto run = [&](const std::string& tool, const Job&, const std::stop_token&) -> ToolResult {
    ++ran;
    return {tool, tool == "memcheck" ? "timeout" : "error", ""};
  };
  EXPECT_THAT(RunTools(run, {TwoCases().front()}), ElementsAre("memcheck timeout", "racecheck error"));
  EXPECT_EQ(ran, 2);
  const std::vector<ToolCase> cases{TwoCases().front()};
  EXPECT_THAT(Texts(ToolsSideBySide(run, {"memcheck"}, cases, kMuch).Run({})), ElementsAre("memcheck timeout"));
  EXPECT_EQ(ran, 3);
}

TEST(ToolsSideBySide, AStopRequestEndsThoseThatRunAndThoseThatWait) {
  std::stop_source stop;
  std::atomic<int> ran = 0;
  const auto run = [&](const std::string& tool, const Job&, const std::stop_token& own) -> ToolResult {
    if (++ran == 2) stop.request_stop();
    AwaitStop(own);
    return {tool, "unsupported", "stopped"};
  };
  EXPECT_THAT(RunTools(run, TwoCases(100), 200, stop.get_token()), ElementsAre());
  EXPECT_EQ(ran, 2);
}

TEST(ToolsSideBySide, OneThatThrowsStopsTheOthersAndIsHeard) {
  const auto run = [&](const std::string& tool, const Job&, const std::stop_token& stop) -> ToolResult {
    if (tool == "memcheck") throw std::runtime_error("no more processes");
    AwaitStop(stop);
    return {tool, "unsupported", "stopped"};
  };
  EXPECT_THROW(RunTools(run, TwoCases()), std::runtime_error);
}

TEST(ToolsSideBySide, SaysHowLongEachTook) {
  const auto run = [](const std::string& tool, const Job&, const std::stop_token&) -> ToolResult {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return {tool, "clean", ""};
  };
  for (const ToolRun& one : ToolsSideBySide(run, {"memcheck"}, TwoCases(), kMuch).Run({})) EXPECT_GE(one.seconds, 0.01);
}

}  // namespace
}  // namespace evo
