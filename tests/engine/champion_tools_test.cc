// Which kernels of a run the sanitizer tools see: what minimisation leaves of a champion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/minimisation.h"
#include "tests/engine/edited_world.h"

namespace evo {
namespace {

using testing::EditedWorld;
using ::testing::ElementsAre;
using testing::ExpectMinimised;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ChampionTools, RunsOnlyWhatIsLeftUnderTheTools) {
  EditedWorld world;
  world.evaluator.tool = [](const Candidate&) { return ToolResult{"memcheck", "clean", ""}; };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ExpectMinimised(world);
  EXPECT_THAT(world.evaluator.seen_by_tools, ElementsAre(world.store.minimised[0].candidate));
  EXPECT_THAT(world.store.champions.back().second.tools, SizeIs(1));
}

TEST(ChampionTools, AChampionWhoseVariantsFailUnderTheToolsIsRunUnderThem) {
  EditedWorld world;
  world.evaluator.tool = [](const Candidate& candidate) {
    return ToolResult{"racecheck", candidate.op == kMinimise ? "error" : "clean", "a race"};
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_THAT(world.store.minimised, IsEmpty());
  EXPECT_THAT(world.evaluator.seen_by_tools, SizeIs(kMinimisedVariants + 1));
  EXPECT_EQ(world.evaluator.seen_by_tools.back(), 2);
  EXPECT_EQ(world.store.champions.back().first, 2);
  EXPECT_THAT(world.store.champions.back().second.tools, SizeIs(1));
  EXPECT_EQ(world.store.champions.back().second.outcome, Outcome::kOk);
  EXPECT_EQ(world.evolution.progress().best, 2);
}

TEST(ChampionTools, AChampionThatFailsUnderTheToolsGivesWay) {
  EditedWorld world;
  world.evaluator.tool = [](const Candidate& candidate) {
    return ToolResult{"racecheck", candidate.id == 2 || candidate.op == kMinimise ? "error" : "clean", "a race"};
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_NE(world.evolution.progress().best, 2);
  EXPECT_EQ(world.store.champions.back().second.outcome, Outcome::kOk);
}

}  // namespace
}  // namespace evo
