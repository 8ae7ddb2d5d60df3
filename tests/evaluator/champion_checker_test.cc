#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/evaluator/checked_champion.h"

namespace evo {
namespace {

using ::testing::SizeIs;
using Kind = WorkerDeath::Kind;

TEST(ChampionChecker, RunsBothProgramsInAFreshProcess) {
  Checked checked(Passed());
  EXPECT_EQ(checked.Check().speedup, 1.5);
  ASSERT_THAT(checked.compile.jobs, SizeIs(3)) << "the candidate once more, for the tools";
  ASSERT_THAT(checked.workers.jobs, SizeIs(1));
  const Job& job = checked.workers.jobs.front();
  EXPECT_EQ(job.deadline, kCheckDeadline);
  EXPECT_GT(job.stage_deadlines.at(Stage::kHeldOut), kCheckDeadline) << "it runs all held-out cases";
  EXPECT_FALSE(job.on_enter);
  const auto request = std::get<ChampionRequest>(ToRunRequest(job.request));
  EXPECT_EQ(request.candidate.program.image, "candidate's");
  EXPECT_EQ(request.baseline.program.image, "baseline's");
  EXPECT_EQ(request.baseline.source, "baseline");
  EXPECT_EQ(request.effort.search_s + request.effort.sizes_s, 6.5);
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
    const auto request = ToRunRequest(checked.workers.jobs.at(0).request);
    EXPECT_EQ(std::get<ChampionRequest>(request).adversary_factor, edits > 0 ? 10 : 1);
  }
}

TEST(ChampionChecker, CountersBelongToTheCheckAndRefuseNothing) {
  Checked checked(Passed());
  checked.workers.counted.counters.resize(2);
  checked.workers.counted.counters[1].dram = 0.5;
  const ChampionCheck check = checked.Check();
  ASSERT_THAT(check.counters, SizeIs(2));
  EXPECT_EQ(check.counters[1].dram, 0.5);
  Checked refused(Passed());
  refused.workers.counted.not_counted = "users may not count";
  EXPECT_EQ(refused.Check().outcome, Outcome::kOk);
  EXPECT_EQ(refused.Check().not_counted, "users may not count");
}

TEST(ChampionChecker, DrawsNewSeedsForEveryCheck) {
  Checked checked(Passed());
  checked.Check();
  checked.compile = ScriptedJobRunner({CompiledImage("candidate's"), CompiledImage("baseline's"), CompiledImage("candidate's")});
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
  checked.compile = ScriptedJobRunner({CompiledImage("candidate's"), FakeJobRunner::Reply(ToMessage(failed))});
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kCompileError);
  EXPECT_EQ(check.message, "no such variable");
  EXPECT_TRUE(checked.workers.jobs.empty());
}

TEST(ChampionChecker, ADeathIsTheCandidatesFailure) {
  Checked checked(FakeJobRunner::Death(Kind::kDeadline, "deadline passed", Stage::kHeldOut));
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kTimeout);
  EXPECT_EQ(check.message, "held_out: deadline passed");
  JobResult named = FakeJobRunner::Death(Kind::kDeadline, "deadline passed", Stage::kHeldOut);
  named.run.part = "the search for hard inputs";
  EXPECT_EQ(Checked(named).Check().message, "held_out: deadline passed, in the search for hard inputs");
  EXPECT_EQ(checked.workers.sanitizer_runs, 0);
}

const Counterexample kOddSize{"N=1283", 0, 7, ""};

// A worker that died there while the baseline ran, or the candidate.
JobResult DeathOn(const Counterexample& on, bool of_baseline, Kind kind = Kind::kSignalled, Stage stage = Stage::kHeldOut) {
  JobResult result = FakeJobRunner::Death(kind, "killed by signal 11", stage);
  result.run = {on, of_baseline, 0, true};
  return result;
}

JobResult BaselineAlone(const std::string& reason) { return FakeJobRunner::Reply(ToReply(BaselineResult{reason})); }

std::vector<AvoidedInputs> Avoided(const Job& job) { return std::get<ChampionRequest>(ToRunRequest(job.request)).avoided; }

TEST(ChampionChecker, WhereTheBaselineCrashesTheCheckIsRepeatedWithoutThoseSizes) {
  Checked checked(std::vector<JobResult>{DeathOn(kOddSize, true), DeathOn(kOddSize, true), Passed()});
  EXPECT_EQ(checked.Check().outcome, Outcome::kOk);
  ASSERT_THAT(checked.workers.jobs, SizeIs(3));
  EXPECT_THAT(Avoided(checked.workers.jobs[0]), SizeIs(0));
  const auto alone = std::get<BaselineRequest>(ToRunRequest(checked.workers.jobs[1].request));
  EXPECT_EQ(alone.on.case_name, "N=1283");
  EXPECT_EQ(alone.on.seed, 7U);
  const auto avoided = Avoided(checked.workers.jobs[2]);
  ASSERT_THAT(avoided, SizeIs(1));
  EXPECT_EQ(avoided[0].on.case_name, "N=1283");
  EXPECT_EQ(avoided[0].reason, "the baseline crashes: killed by signal 11");
  EXPECT_EQ(checked.workers.seeds[0], checked.workers.seeds[2]) << "the same inputs";
}

// Seven such sizes cost two processes each: not again for the next kernel of the run.
TEST(ChampionChecker, TheNextCheckKnowsTheSizesAtWhichTheBaselineCrashes) {
  const Counterexample inputs{"small", 0, 7, "x: normal"};
  Checked checked(std::vector<JobResult>{DeathOn(kOddSize, true), DeathOn(kOddSize, true), DeathOn(inputs, true),
                                         DeathOn(inputs, true), Passed()});
  const ChampionChecker checker(checked.compile, checked.workers, nullptr, "sm_90a", false);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(checker.CheckAnswers({.source = "candidate"}, {.source = "baseline"}, {}, {}, kCheckDeadline, {}).outcome,
              Outcome::kOk);
  ASSERT_THAT(checked.workers.jobs, SizeIs(6));
  EXPECT_THAT(Avoided(checked.workers.jobs[4]), SizeIs(2));
  const auto known = Avoided(checked.workers.jobs[5]);
  ASSERT_THAT(known, SizeIs(1)) << "inputs are drawn from other seeds";
  EXPECT_EQ(known[0].on.case_name, "N=1283");
}

TEST(ChampionChecker, WhereTheBaselineFailsBeforeAnyCandidateWasLoadedOnceIsEnough) {
  Checked checked(
      std::vector<JobResult>{DeathOn({"small", 0, 7, "x: normal"}, true, Kind::kDeadline, Stage::kPrepare), Passed()});
  EXPECT_EQ(checked.Check().outcome, Outcome::kOk);
  ASSERT_THAT(checked.workers.jobs, SizeIs(2));
  EXPECT_EQ(Avoided(checked.workers.jobs[1]).at(0).reason, "the baseline takes too long");
}

TEST(ChampionChecker, ADeviceThatTheBaselineBreaksCountsLikeADeath) {
  JobResult broken = FakeJobRunner::Reply(ToReply(InfrastructureReport{"illegal address"}));
  broken.run = {kOddSize, true};
  Checked checked(std::vector<JobResult>{broken, broken, Passed()});
  EXPECT_EQ(checked.Check().outcome, Outcome::kOk);
  EXPECT_EQ(Avoided(checked.workers.jobs.at(2)).at(0).reason, "illegal address");
}

// It may have damaged the process in which the baseline then died.
TEST(ChampionChecker, ACandidateAfterWhichTheBaselineDiesIsCharged) {
  Checked checked(std::vector<JobResult>{DeathOn(kOddSize, true), BaselineAlone(""), Passed()});
  const ChampionCheck check = checked.Check();
  EXPECT_EQ(check.outcome, Outcome::kCrash);
  EXPECT_THAT(check.message, testing::HasSubstr("alone the baseline can be run on N=1283"));
  EXPECT_THAT(checked.workers.jobs, SizeIs(2));
}

TEST(ChampionChecker, ACandidateThatDiesWhereTheBaselineIsRightIsCharged) {
  for (const Kind kind : {Kind::kSignalled, Kind::kDeadline}) {
    Checked checked(std::vector<JobResult>{DeathOn(kOddSize, false, kind), Passed()});
    const ChampionCheck check = checked.Check();
    EXPECT_EQ(check.outcome, kind == Kind::kDeadline ? Outcome::kTimeout : Outcome::kCrash);
    EXPECT_THAT(check.message, testing::EndsWith(", on N=1283")) << "a user wants to know where";
    EXPECT_THAT(checked.workers.jobs, SizeIs(1));
  }
}

TEST(ChampionChecker, ALargeSizeThatTakesTheBaselineLongIsLeftOutWhenTheCandidateTakesTooLong) {
  JobResult slow = DeathOn(kOddSize, false, Kind::kDeadline);
  slow.run.baseline_ms = 20'000;
  Checked checked(std::vector<JobResult>{slow, Passed()});
  EXPECT_EQ(checked.Check().outcome, Outcome::kOk);
  EXPECT_EQ(Avoided(checked.workers.jobs.at(1)).at(0).reason, "the baseline takes 20 s, and the kernel more than 60 s");
  slow.run.baseline_ms = 2'000;
  EXPECT_EQ(Checked(std::vector<JobResult>{slow, Passed()}).Check().outcome, Outcome::kTimeout) << "it hangs";
  slow.run.baseline_ms = 20'000;
  slow.run.large = false;
  EXPECT_EQ(Checked(std::vector<JobResult>{slow, Passed()}).Check().outcome, Outcome::kTimeout) << "not a size of its own";
}

TEST(ChampionChecker, ABaselineThatFailsEverywhereEndsTheRun) {
  Checked checked(std::vector<JobResult>{DeathOn(kOddSize, true)});
  try {
    checked.Check();
    FAIL() << "it must not go on for ever";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("domain"));
  }
  EXPECT_LT(checked.workers.jobs.size(), 40U);
}

TEST(ChampionChecker, ADiskWithoutRoomForTheCompilerEndsTheRunAndChargesNobody) {
  CompileResult full;
  full.outcome = Outcome::kCancelled;
  full.machine_failed = true;
  ScriptedJobRunner compile({FakeJobRunner::Reply(ToMessage(full))});
  FakeFreshWorkers workers({Passed()});
  EXPECT_THROW(ChampionChecker(compile, workers, nullptr, "sm_90a", false).CheckAnswers({}, {}, {}, {}, kCheckDeadline, {}),
               Error);
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
  EXPECT_THAT(raced.tools, SizeIs(3)) << "the sample of blocks is the first";
  Checked racing_when_timed(Passed(), {{"memcheck at r4096", "timeout", ""}, {"racecheck at r4096", "error", "Race reported"}});
  EXPECT_EQ(racing_when_timed.Check().outcome, Outcome::kNondeterministic);
  Checked slow_tools(Passed(), {{"memcheck at r4096", "timeout", ""}});
  EXPECT_EQ(slow_tools.Check().outcome, Outcome::kOk) << "that a tool did not end says nothing";
  Checked writing(Passed(), {{"memcheck", "error", "Invalid write"}});
  EXPECT_EQ(writing.Check().outcome, Outcome::kCheating);
  Checked trapping(Passed(), {{"sampled blocks", "crash", "case r4096: k: __trap() in block (3, 0, 0)"}});
  const ChampionCheck trapped = trapping.Check();
  EXPECT_EQ(trapped.outcome, Outcome::kCrash);
  EXPECT_EQ(trapped.message, "sampled blocks: case r4096: k: __trap() in block (3, 0, 0)");
}

}  // namespace
}  // namespace evo
