// What of a champion's check is done side by side, with fakes that wait for each other.
#include "evaluator/scheduling/champion_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "tests/evaluator/checked_champion.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kWithLines = 4;  // the number of that compile job of an export

const ToolRun kCleanBlocks{{"sampled blocks", "clean", ""}, 1.25};

ChampionCheck CheckExported(Checked& checked, const std::stop_token& stop = {}) {
  checked.compile = ScriptedJobRunner(
      {CompiledImage("candidate's"), CompiledImage("baseline's"), CompiledImage("nvcc's"), CompiledImage("nvcc's with lines")});
  checked.compile.on_submit = checked.on_compile;
  checked.workers.expected_image = "nvcc's with lines";
  const ExportToJudge exported{{"kernel.cu", "kernel", "host", {}}, true};
  return ChampionChecker(checked.compile, checked.workers, &checked.workers, "sm_80", false)
      .CheckExport({.source = "candidate"}, {}, {}, {}, kCheckDeadline, exported, stop);
}

std::vector<std::string> Tools(const ChampionCheck& check) {
  std::vector<std::string> tools;
  for (const ToolResult& tool : check.tools) tools.push_back(tool.tool + " " + tool.result);
  return tools;
}

ToolRun AwaitStop(const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::yield();
  return {{"sampled blocks", "missing", "stopped"}};
}

TEST(ChampionToolRuns, BlocksAreSampledWhileTheHardwareCounts) {
  Checked checked(Passed(), {{"memcheck", "clean", ""}});
  std::latch both(2);  // neither goes on without the other
  checked.workers.sample_blocks = [&](const std::stop_token&) {
    both.arrive_and_wait();
    return kCleanBlocks;
  };
  checked.workers.while_counting = [&] { both.arrive_and_wait(); };
  EXPECT_THAT(Tools(checked.Check()), ElementsAre("sampled blocks clean", "memcheck clean"));
}

TEST(ChampionToolRuns, LinesAreCompiledAndBlocksSampledWhileAnExportIsMeasured) {
  Checked checked(Passed(), {{"memcheck", "clean", ""}});
  std::latch all(3);
  checked.workers.while_measuring = [&] { all.arrive_and_wait(); };
  checked.workers.sample_blocks = [&](const std::stop_token&) {
    all.arrive_and_wait();
    return kCleanBlocks;
  };
  checked.on_compile = [&](std::size_t job) {
    if (job == kWithLines) all.arrive_and_wait();
  };
  EXPECT_THAT(Tools(CheckExported(checked)), ElementsAre("nvcc clean", "sampled blocks clean", "memcheck clean"));
}

TEST(ChampionToolRuns, AnExportThatFailsStopsWhatIsDoneForTheTools) {
  Checked checked(FakeJobRunner::Death(WorkerDeath::Kind::kDeadline, "deadline passed", Stage::kHeldOut));
  std::latch begun(2);
  checked.workers.sample_blocks = [&](const std::stop_token& stop) {
    begun.arrive_and_wait();
    return AwaitStop(stop);  // the check would not return
  };
  checked.workers.while_measuring = [&] { begun.arrive_and_wait(); };
  const ChampionCheck check = CheckExported(checked);
  EXPECT_EQ(check.outcome, Outcome::kTimeout);
  EXPECT_THAT(Tools(check), ElementsAre("nvcc clean"));
  EXPECT_EQ(checked.workers.sanitizer_runs, 0);
}

TEST(ChampionToolRuns, AStopRequestEndsAllAndAddsNothing) {
  Checked checked(Passed(), {{"memcheck", "clean", ""}});
  std::stop_source stop;
  checked.workers.sample_blocks = AwaitStop;
  checked.workers.while_counting = [&] { stop.request_stop(); };
  EXPECT_THAT(Tools(CheckExported(checked, stop.get_token())), ElementsAre("nvcc clean"));
}

// The first in this order, whichever came first.
TEST(ChampionToolRuns, AFaultInTheSampledBlocksGoesBeforeThoseOfTheTools) {
  Checked checked(Passed(), {{"memcheck", "error", "a write"}});
  checked.workers.sample_blocks = [](const std::stop_token&) -> ToolRun {
    return {{"sampled blocks", "error", "race in global memory"}};
  };
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kNondeterministic);
  EXPECT_EQ(check.message, "sampled blocks: race in global memory");
}

TEST(ChampionToolRuns, WithoutToolsNothingIsCompiledForThem) {
  Checked checked(Passed());
  checked.has_tools = false;
  EXPECT_THAT(Tools(checked.Check()), IsEmpty());
  EXPECT_THAT(checked.compile.jobs, SizeIs(2));
}

TEST(ChampionToolRuns, TheToolsMeetTheNeededSizesOnly) {
  ScriptedJobRunner compile({CompiledImage("candidate's")});
  FakeFreshWorkers workers({Passed()});
  const ImageSizes sizes{{{{"N", 7}}}, {{{"N", 8}}}, {}};
  ChampionCheck check;
  ChampionChecker(compile, workers, &workers, "sm_90a", false, sizes).RunTools({.source = "candidate"}, check, {});
  const auto asked = std::get<CompileRequest>(ToCompileWorkerRequest(compile.jobs.at(0).request));
  EXPECT_TRUE(asked.line_info);
  EXPECT_EQ(asked.sizes.needed, sizes.needed);
  EXPECT_THAT(asked.sizes.wanted, IsEmpty());
}

TEST(ChampionToolRuns, TheLongestAreNamed) {
  Checked checked(Passed(), {{"memcheck", "clean", ""}});
  checked.workers.sample_blocks = [](const std::stop_token&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return kCleanBlocks;
  };
  EXPECT_THAT(checked.Check().took, testing::EndsWith(" s (longest: sampled blocks 1.2 s)"));
}

}  // namespace
}  // namespace evo
