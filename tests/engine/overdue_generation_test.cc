#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>

#include "engine/evolution.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::SizeIs;
using testing::World;

// A worker may hang, or something else keep the machine busy.
TEST(OverdueGeneration, KeepsWhatWasEvaluatedOfTheGenerationThatIsOverdue) {
  World world(FakeRun());
  std::stop_source overdue;
  const int defaults = static_cast<int>(world.seeds.size()), evaluated = defaults + 2;
  world.evaluator.on_evaluated = [&](int count) {
    if (count == evaluated) overdue.request_stop();
  };
  const StopCondition stop(world.run.generations, std::chrono::hours(1), world.interrupt.get_token(), {}, overdue.get_token());
  EXPECT_EQ(world.evolution.Run(stop), RunStatus::kFinished);
  EXPECT_EQ(world.evaluator.evaluated, evaluated);
  ASSERT_THAT(world.store.generations, SizeIs(2));
  const GenerationRecord& last = world.store.generations.back();
  EXPECT_THAT(last.candidates, SizeIs(2));
  ASSERT_THAT(last.evaluations, SizeIs(2));
  for (const Evaluation& evaluation : last.evaluations) EXPECT_NE(evaluation.outcome, Outcome::kCancelled);
  EXPECT_EQ(world.evolution.progress().generation, 1);
  EXPECT_THAT(world.store.champions, SizeIs(1)) << "the champion is still checked";
}

// The rest of a search that lasts as long as its first children.
TEST(OverdueGeneration, AChampionOfAnOverdueGenerationIsChecked) {
  World world(FakeRun());
  std::stop_source overdue;
  CandidateId fastest = 0;
  double best = 0;
  world.evaluator.on_evaluated = [&](int count) {
    if (count == static_cast<int>(world.seeds.size()) + world.run.children - 1) overdue.request_stop();
  };
  const StopCondition stop(world.run.generations, std::chrono::hours(1), world.interrupt.get_token(), {}, overdue.get_token());
  world.evolution.Run(stop);
  for (const GenerationRecord& generation : world.store.generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      const Evaluation& one = generation.evaluations[i];
      if (one.outcome != Outcome::kOk || (fastest != 0 && one.score_ns >= best)) continue;
      fastest = generation.candidates[i].id;
      best = one.score_ns;
    }
  }
  ASSERT_FALSE(world.evaluator.checked.empty());
  EXPECT_EQ(world.evaluator.checked.front().id, fastest);
  EXPECT_GT(fastest, static_cast<CandidateId>(world.seeds.size())) << "a child is the fastest";
}

}  // namespace
}  // namespace evo
