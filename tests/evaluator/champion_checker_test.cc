#include "evaluator/scheduling/champion_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {
namespace {

using ::testing::SizeIs;
using Kind = WorkerDeath::Kind;

constexpr std::chrono::milliseconds kDeadline{1234};

JobResult Compiled(const std::string& image) {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.program.image = image;
  return FakeJobRunner::Reply(ToMessage(result));
}

JobResult Passed() {
  ChampionCheck check;
  check.outcome = Outcome::kOk;
  check.speedup = 1.5;
  return FakeJobRunner::Reply(ToReply(check));
}

// Hands out one runner with the given answer and keeps what it was asked.
class FakeFreshWorkers : public FreshWorkers {
 public:
  explicit FakeFreshWorkers(JobResult answer) : answer_(std::move(answer)) {}

  std::unique_ptr<JobRunner> StartRunner(const Seeds& given) override {
    class Recorder : public ScriptedJobRunner {
     public:
      Recorder(JobResult answer, std::vector<Job>& seen) : ScriptedJobRunner({std::move(answer)}), seen_(seen) {}
      void Submit(Job job, Done done) override {
        seen_.push_back(job);
        ScriptedJobRunner::Submit(std::move(job), std::move(done));
      }

     private:
      std::vector<Job>& seen_;
    };
    seeds.push_back(given);
    return std::make_unique<Recorder>(answer_, jobs);
  }

  std::vector<ToolResult> RunSanitizer(const AttachedProgram& program, const Seeds& given, const std::stop_token&) override {
    ++sanitizer_runs;
    EXPECT_EQ(program.program.image, expected_image);
    EXPECT_EQ(given, seeds.back());
    return tools;
  }

  std::string expected_image = "candidate's";
  std::vector<ToolResult> tools;
  std::vector<Seeds> seeds;
  std::vector<Job> jobs;
  int sanitizer_runs = 0;

 private:
  JobResult answer_;
};

struct Checked {
  explicit Checked(JobResult answer, std::vector<ToolResult> tools = {}, bool pauses_compilers = false)
      : compile({Compiled("candidate's"), Compiled("baseline's")}), workers(std::move(answer)), pauses(pauses_compilers) {
    workers.tools = std::move(tools);
  }
  ChampionCheck Check() {
    Candidate candidate;
    candidate.source = "candidate";
    candidate.unproven_edits = unproven_edits;
    Candidate baseline;
    baseline.source = "baseline";
    return ChampionChecker(compile, workers, "sm_90a", pauses).Check(candidate, baseline, {}, kDeadline, {});
  }
  int unproven_edits = 0;
  ScriptedJobRunner compile;
  FakeFreshWorkers workers;
  bool pauses;
};

TEST(ChampionChecker, RunsBothProgramsInAFreshProcess) {
  Checked checked(Passed());
  EXPECT_EQ(checked.Check().speedup, 1.5);
  ASSERT_THAT(checked.compile.jobs, SizeIs(2));
  ASSERT_THAT(checked.workers.jobs, SizeIs(1));
  const Job& job = checked.workers.jobs.front();
  EXPECT_EQ(job.deadline, kDeadline);
  EXPECT_GT(job.stage_deadlines.at(Stage::kHeldOut), kDeadline) << "it runs all held-out cases";
  EXPECT_FALSE(job.on_enter);
  const auto request = std::get<ChampionRequest>(ToRunRequest(job.request));
  EXPECT_EQ(request.candidate.program.image, "candidate's");
  EXPECT_EQ(request.baseline.program.image, "baseline's");
  EXPECT_EQ(request.baseline.source, "baseline");
}

TEST(ChampionChecker, AReplyThatCannotBeReadFailsTheCheck) {
  Message odd;
  odd.header["result"] = {{"outcome", 5}};
  for (const Message& reply : {odd, Message{}}) {
    const ChampionCheck check = Checked(FakeJobRunner::Reply(reply)).Check();
    EXPECT_EQ(check.outcome, Outcome::kCrash);
    EXPECT_THAT(check.message, testing::HasSubstr("malformed reply"));
  }
}

TEST(ChampionChecker, UnprovenEditsFaceTenTimesTheAdversary) {
  for (const int edits : {0, 1, 3}) {
    Checked checked(Passed());
    checked.unproven_edits = edits;
    checked.Check();
    const auto request = std::get<ChampionRequest>(ToRunRequest(checked.workers.jobs.at(0).request));
    EXPECT_EQ(request.adversary_factor, edits > 0 ? 10 : 1);
  }
}

TEST(ChampionChecker, DrawsNewSeedsForEveryCheck) {
  Checked checked(Passed());
  checked.Check();
  checked.compile = ScriptedJobRunner({Compiled("candidate's"), Compiled("baseline's")});
  checked.Check();
  ASSERT_THAT(checked.workers.seeds, SizeIs(2));
  EXPECT_THAT(checked.workers.seeds[0], SizeIs(kPoolSeeds));
  EXPECT_NE(checked.workers.seeds[0], checked.workers.seeds[1]);
}

TEST(ChampionChecker, PausesCompilersWhereThePolicySaysSo) {
  Checked checked(Passed(), {}, true);
  checked.Check();
  const Job& job = checked.workers.jobs.front();
  job.on_enter(Stage::kTime);
  EXPECT_EQ(checked.compile.suspended, 1);
  job.on_leave(Stage::kTime);
  EXPECT_EQ(checked.compile.suspended, 0);
}

TEST(ChampionChecker, WhatDoesNotCompileIsNotRun) {
  CompileResult failed;
  failed.message = "no such variable";
  Checked checked(Passed());
  checked.compile = ScriptedJobRunner({Compiled("candidate's"), FakeJobRunner::Reply(ToMessage(failed))});
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kCompileError);
  EXPECT_EQ(check.message, "no such variable");
  EXPECT_TRUE(checked.workers.jobs.empty());
}

JobResult Exported(Outcome outcome, const std::string& message) {
  CompileResult result;
  result.outcome = outcome;
  result.message = message;
  result.program.image = "nvcc's";
  return FakeJobRunner::Reply(ToMessage(result));
}

ChampionCheck CheckExport(Checked& checked, JobResult nvcc, bool runs_image) {
  checked.compile = ScriptedJobRunner({Compiled("candidate's"), Compiled("baseline's"), std::move(nvcc)});
  const ExportToJudge exported{{"kernel.cu", "kernel", "host", {"-arch=sm_80"}}, runs_image};
  return ChampionChecker(checked.compile, checked.workers, "sm_80", false).Check({}, {}, {}, kDeadline, {}, exported);
}

TEST(ChampionChecker, TheImageThatNvccMakesOfTheExportIsJudged) {
  Checked checked(Passed());
  checked.workers.expected_image = "nvcc's";
  const ChampionCheck check = CheckExport(checked, Exported(Outcome::kOk, ""), true);
  ASSERT_THAT(checked.compile.jobs, SizeIs(3));
  const auto asked = std::get<ExportRequest>(ToCompileWorkerRequest(checked.compile.jobs.back().request));
  EXPECT_EQ(asked.exported.kernel, "kernel");
  EXPECT_EQ(asked.exported.options, std::vector<std::string>{"-arch=sm_80"});
  const auto request = std::get<ChampionRequest>(ToRunRequest(checked.workers.jobs.front().request));
  EXPECT_EQ(request.candidate.program.image, "nvcc's");
  EXPECT_EQ(request.baseline.program.image, "baseline's");
  ASSERT_THAT(check.tools, SizeIs(1));
  EXPECT_EQ(check.tools[0].tool, "nvcc");
  EXPECT_EQ(check.tools[0].result, "clean");
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
  ASSERT_THAT(check.tools, SizeIs(1));
  EXPECT_EQ(check.tools[0].result, "missing");
  EXPECT_EQ(check.tools[0].message, "not compiled with nvcc: there is no nvcc");
}

TEST(ChampionChecker, ADeathIsTheCandidatesFailure) {
  Checked checked(FakeJobRunner::Death(Kind::kDeadline, "deadline passed", Stage::kHeldOut));
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kTimeout);
  EXPECT_EQ(check.message, "held_out: deadline passed");
  EXPECT_EQ(checked.workers.sanitizer_runs, 0);
}

TEST(ChampionChecker, AFailureOfTheMachineEndsTheRun) {
  Checked checked(FakeJobRunner::Reply(ToReply(InfrastructureReport{"the device is gone"})));
  EXPECT_THROW(checked.Check(), Error);
}

TEST(ChampionChecker, AToolThatFindsAnErrorFailsTheCandidate) {
  Checked clean(Passed(), {{"memcheck", "clean", ""}, {"racecheck", "unsupported", "not here"}});
  EXPECT_EQ(clean.Check().outcome, Outcome::kOk);
  Checked racing(Passed(), {{"memcheck", "clean", ""}, {"racecheck", "error", "Race reported"}});
  const ChampionCheck raced = racing.Check();
  EXPECT_EQ(raced.outcome, Outcome::kNondeterministic);
  EXPECT_EQ(raced.message, "racecheck: Race reported");
  EXPECT_THAT(raced.tools, SizeIs(2));
  Checked racing_when_timed(Passed(), {{"memcheck at r4096", "timeout", ""}, {"racecheck at r4096", "error", "Race reported"}});
  EXPECT_EQ(racing_when_timed.Check().outcome, Outcome::kNondeterministic);
  Checked slow_tools(Passed(), {{"memcheck at r4096", "timeout", ""}});
  EXPECT_EQ(slow_tools.Check().outcome, Outcome::kOk) << "that a tool did not end says nothing";
  Checked writing(Passed(), {{"memcheck", "error", "Invalid write"}});
  EXPECT_EQ(writing.Check().outcome, Outcome::kCheating);
}

}  // namespace
}  // namespace evo
