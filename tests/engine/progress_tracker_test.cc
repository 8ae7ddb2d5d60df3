#include "engine/progress_tracker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "engine/trial_runner.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using testing::EvaluationAt;
using testing::GenomeAt;

Candidate CandidateAt(CandidateId id, std::int64_t x) { return {.id = id, .genome = GenomeAt(x)}; }

GenerationRecord GenerationOf(int number, const std::vector<std::int64_t>& values) {
  GenerationRecord record;
  record.generation = number;
  for (const std::int64_t x : values) {
    record.candidates.push_back(CandidateAt(100 * number + static_cast<CandidateId>(record.candidates.size()) + 1, x));
    record.evaluations.push_back(EvaluationAt(x));
  }
  return record;
}

TEST(ProgressTracker, CountsCandidatesAndDuplicatesOfGenerations) {
  ProgressTracker tracker(9);
  tracker.Learn(GenerationOf(0, {21, 26}));  // 26 is wrong
  GenerationRecord second = GenerationOf(1, {30, 31, 34});
  second.duplicates = 4;
  tracker.Learn(second);
  const Progress& progress = tracker.progress();
  EXPECT_EQ(progress.generations, 9);
  EXPECT_EQ(progress.generation, 1);
  EXPECT_EQ(progress.evaluated, 5);
  EXPECT_EQ(progress.valid, 3);
  EXPECT_EQ(progress.duplicates, 4);
  EXPECT_EQ(progress.baseline_ns, EvaluationAt(21).score_ns);
  EXPECT_EQ(tracker.evolved(), 5u);
}

TEST(ProgressTracker, CountsTrialsAmongTheEvaluatedAndNotAmongTheEvolved) {
  ProgressTracker tracker(9);
  tracker.Learn(GenerationOf(0, {21}));
  GenerationRecord trials = GenerationOf(7, {30, 26});
  for (Candidate& candidate : trials.candidates) candidate.op = kMinimise;
  tracker.Learn(trials);
  tracker.CountTrial(EvaluationAt(31), StopCondition(9, {}, {}));
  EXPECT_EQ(tracker.progress().evaluated, 4);
  EXPECT_EQ(tracker.progress().valid, 3);
  EXPECT_EQ(tracker.progress().generation, 0);
  EXPECT_EQ(tracker.evolved(), 1u);
}

TEST(ProgressTracker, ReportsTheGenerationUnderWayAndKeepsItApart) {
  ProgressTracker tracker(9);
  const StopCondition stop(9, {}, {});
  tracker.Learn(GenerationOf(0, {21}));
  tracker.BeginGeneration(1);
  EXPECT_EQ(tracker.CountEvaluated(CandidateAt(2, 26), EvaluationAt(26), stop).best, 0) << "26 is wrong";
  EXPECT_EQ(tracker.CountEvaluated(CandidateAt(3, 40), EvaluationAt(40), stop).best, 3);
  const Progress& last = tracker.CountEvaluated(CandidateAt(4, 30), EvaluationAt(30), stop);
  EXPECT_EQ(last.best, 3) << "40 is faster";
  EXPECT_EQ(last.best_ns, EvaluationAt(40).score_ns);
  EXPECT_EQ(last.best_template, "x");
  EXPECT_EQ(last.generation, 1);
  EXPECT_EQ(last.evaluated, 4);
  EXPECT_EQ(last.valid, 3);
  EXPECT_GT(last.candidates_per_second, 0);
  EXPECT_EQ(tracker.progress().evaluated, 1) << "the generation may be interrupted yet";
  EXPECT_EQ(tracker.progress().best, 0);
}

TEST(ProgressTracker, CountsTheChangesOfTheChampion) {
  ProgressTracker tracker(9);
  tracker.ChangeChampion(CandidateAt(3, 40), 900);
  EXPECT_EQ(tracker.progress().champion_changes, 0) << "there was no champion before the first";
  tracker.ChangeChampion(CandidateAt(5, 50), 800);
  EXPECT_EQ(tracker.progress().champion_changes, 1);
  tracker.DecideBest(CandidateAt(3, 40), 900);
  EXPECT_EQ(tracker.progress().champion_changes, 1);
  EXPECT_EQ(tracker.progress().best, 3);
  EXPECT_EQ(tracker.progress().best_ns, 900);
}

TEST(ProgressTracker, EstimatesWhatIsLeftByGenerationsEvaluationsAndTime) {
  const StopCondition open(10, {}, {});
  ProgressTracker tracker(10);
  tracker.Begin(open);
  tracker.Learn(GenerationOf(0, {21}));
  tracker.Learn(GenerationOf(1, {30, 31}));
  tracker.Learn(GenerationOf(2, {40, 41}));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  tracker.UpdateRates(open);
  EXPECT_NEAR(tracker.progress().seconds_left, 4 * tracker.progress().seconds, 1e-9) << "8 generations after 2";

  const StopCondition limited(10, {}, {}, 6);
  tracker.Begin(limited);
  EXPECT_EQ(tracker.progress().evaluations, 6);
  tracker.BeginGeneration(3);
  for (CandidateId id = 0; id < 4; ++id) tracker.CountEvaluated(CandidateAt(id, 50), EvaluationAt(50), limited);
  tracker.UpdateRates(limited);
  EXPECT_NEAR(tracker.progress().seconds_left, tracker.progress().seconds / 4, 1e-9) << "one evaluation after 4";

  const StopCondition over(10, std::chrono::seconds(0), {});
  tracker.UpdateRates(over);
  EXPECT_EQ(tracker.progress().seconds_left, 0);
}

// A line that is live shows it all the time.
TEST(ProgressTracker, WhatIsLeftGoesDownWithinAGeneration) {
  const StopCondition limited(10, std::chrono::seconds(100), {});
  ProgressTracker tracker(10);
  tracker.BeginGeneration(0);
  const double at_first = tracker.CountEvaluated(CandidateAt(1, 50), EvaluationAt(50), limited).seconds_left;
  EXPECT_NEAR(at_first, 100, 1) << "known before the first generation is complete";
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_LT(tracker.CountEvaluated(CandidateAt(2, 50), EvaluationAt(50), limited).seconds_left, at_first);

  ProgressTracker open(10);
  const StopCondition unlimited(10, {}, {});
  open.BeginGeneration(0);
  EXPECT_TRUE(std::isnan(open.CountEvaluated(CandidateAt(1, 50), EvaluationAt(50), unlimited).seconds_left));
}

}  // namespace
}  // namespace evo
