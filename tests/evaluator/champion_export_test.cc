#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/evaluator/checked_champion.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

JobResult Exported(Outcome outcome, const std::string& message, const std::string& image = "nvcc's") {
  CompileResult result;
  result.outcome = outcome;
  result.message = message;
  result.program.image = image;
  return FakeJobRunner::Reply(ToMessage(result));
}

ChampionCheck CheckExport(Checked& checked, JobResult nvcc, bool runs_image) {
  checked.compile = ScriptedJobRunner({CompiledImage("candidate's"), CompiledImage("baseline's"), std::move(nvcc),
                                       Exported(Outcome::kOk, "", "nvcc's with lines")});
  const ExportToJudge exported{{"kernel.cu", "kernel", "host", {"-arch=sm_80"}}, runs_image};
  return ChampionChecker(checked.compile, checked.workers, &checked.workers, "sm_80", false)
      .CheckExport({}, {}, {}, {}, kCheckDeadline, exported, {});
}

TEST(ChampionChecker, TheImageThatNvccMakesOfTheExportIsJudged) {
  Checked checked(Passed());
  checked.workers.expected_image = "nvcc's with lines";
  const ChampionCheck check = CheckExport(checked, Exported(Outcome::kOk, ""), true);
  ASSERT_THAT(checked.compile.jobs, SizeIs(4));
  const auto asked = [&](std::size_t job) {
    return std::get<ExportRequest>(ToCompileWorkerRequest(checked.compile.jobs[job].request)).exported;
  };
  EXPECT_EQ(asked(2).kernel, "kernel");
  EXPECT_THAT(asked(2).options, ElementsAre("-arch=sm_80"));
  EXPECT_THAT(asked(3).options, ElementsAre("-arch=sm_80", "-lineinfo"));
  EXPECT_EQ(checked.workers.text_of_lines, "kernel");
  const auto request = std::get<ChampionRequest>(ToRunRequest(checked.workers.jobs.front().request));
  EXPECT_EQ(request.candidate.program.image, "nvcc's");
  EXPECT_EQ(request.baseline.program.image, "baseline's");
  ASSERT_THAT(check.tools, SizeIs(2));
  EXPECT_EQ(check.tools[0].tool, "nvcc");
  EXPECT_EQ(check.tools[0].result, "clean");
  EXPECT_EQ(check.tools[1].tool, "sampled blocks");
}

TEST(ChampionChecker, WhereItsImageCannotRunTheExportOnlyHasToCompile) {
  Checked checked(Passed());
  const ChampionCheck check = CheckExport(checked, Exported(Outcome::kOk, ""), false);
  const auto request = std::get<ChampionRequest>(ToRunRequest(checked.workers.jobs.front().request));
  EXPECT_EQ(request.candidate.program.image, "candidate's");
  EXPECT_EQ(check.tools.at(0).result, "clean");
}

TEST(ChampionChecker, AnExportThatNvccRefusesFails) {
  Checked checked(Passed());
  const ChampionCheck check = CheckExport(checked, Exported(Outcome::kCompileError, "nvcc: line 3: no"), true);
  EXPECT_EQ(check.outcome, Outcome::kCompileError);
  EXPECT_EQ(check.message, "the exported file: nvcc: line 3: no");
  EXPECT_TRUE(checked.workers.jobs.empty());
}

TEST(ChampionChecker, WithoutNvccTheVerdictSaysSo) {
  Checked checked(Passed());
  const ChampionCheck check = CheckExport(checked, Exported(Outcome::kCancelled, "there is no nvcc"), true);
  EXPECT_EQ(check.outcome, Outcome::kOk);
  ASSERT_THAT(check.tools, SizeIs(2));
  EXPECT_EQ(check.tools[0].result, "missing");
  EXPECT_EQ(check.tools[0].message, "not compiled with nvcc: there is no nvcc");
}

}  // namespace
}  // namespace evo
