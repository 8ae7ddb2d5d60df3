#include "mutators/analysis/grid_runs/grid_memory.h"

#include <gmock/gmock.h>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

class GridMemoriesTest : public testing::Test {
 protected:
  GridMemoriesTest() : memories(refusal) {}
  void Start() {
    memories.StartLaunch();
    memories.StartBlock(2);
  }
  Refusal refusal;
  GridMemories memories;
  const LaneMask both{1, 1};
};

TEST_F(GridMemoriesTest, ArgumentsHaveRandomElements) {
  const int x = memories.Buffer("x", "float", 8);
  Start();
  const LaneValues values = memories.Load(x, {3, 4}, both);
  EXPECT_THAT(values.known, Each(Knowledge::kElements));
  EXPECT_EQ(values.numbers[1] - values.numbers[0],
            static_cast<std::int64_t>(FingerprintOf(4)) - static_cast<std::int64_t>(FingerprintOf(3)));
  EXPECT_EQ(memories.Buffer("x", "float", 8), x);
  EXPECT_EQ(refusal.why(), "");
  memories.Buffer("x", "int", 8);
  EXPECT_EQ(refusal.why(), "x is used as float and as int");
}

TEST_F(GridMemoriesTest, WorkspacesHaveWhatTheyAreFilledWith) {
  memories.AddWorkspace("sums", 2);
  const int sums = memories.Buffer("sums", "float", 8);
  Start();
  EXPECT_THAT(memories.Load(sums, {0, 1}, both).known, Each(Knowledge::kUnknown));
  memories.Fill("sums", 0, 8);
  EXPECT_THAT(memories.Load(sums, {0, 1}, both).known, Each(Knowledge::kKnown));
  memories.Fill("output", 0, 8);
  EXPECT_THAT(memories.Load(memories.Buffer("output", "float", 8), {0, 7}, both).known, Each(Knowledge::kKnown));
  EXPECT_EQ(refusal.why(), "");
  memories.Fill("output", 255, 8);
  EXPECT_EQ(refusal.why(), "evo:memset fills output with 255");
}

TEST_F(GridMemoriesTest, EachThreadHasItsOwnLocalArray) {
  memories.AddWorkspace("sums", 2);
  Start();
  const int own = memories.AddArray({"own", "int", true, true, 4, -1, {}});
  LaneValues values(2, 5);
  values.numbers[1] = 6;
  memories.Store(own, {1, 1}, values, both);
  EXPECT_THAT(memories.Load(own, {1, 1}, both).numbers, ElementsAre(5, 6));
  EXPECT_EQ(refusal.why(), "");
  memories.EndBlock();
  EXPECT_THAT(memories.TakeBuffers(), SizeIs(1));
}

TEST_F(GridMemoriesTest, RefusesRacesAndAccessesOutside) {
  Start();
  const int shared = memories.AddArray({"tile", "int", true, false, 4, -1, {}});
  memories.Store(shared, {0, 1}, LaneValues(2, 5), both);
  memories.PassBarrier();
  EXPECT_THAT(memories.Load(shared, {1, 0}, both).numbers, ElementsAre(5, 5));
  EXPECT_EQ(refusal.why(), "");
  memories.Store(shared, {0, 1}, LaneValues(2, 6), both);
  EXPECT_EQ(refusal.why(), "threads race for `tile`");
  refusal = {};
  memories.Load(shared, {0, 4}, both);
  EXPECT_EQ(refusal.why(), "it reads or writes outside of tile");
}

}  // namespace
}  // namespace evo
