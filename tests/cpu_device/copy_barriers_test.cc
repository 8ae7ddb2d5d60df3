#include "evaluator/device/cpu/copy_barriers.h"

#include <gmock/gmock.h>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uintptr_t kAt = 64;

class CopyBarriersTest : public testing::Test {
 protected:
  bool IsComplete(unsigned parity, int thread) {
    CopyBarriers::Result result;
    return barriers_.IsComplete(kAt, parity, thread, result);
  }
  CopyBarriers barriers_;
};

TEST_F(CopyBarriersTest, APhaseEndsWithItsArrivals) {
  EXPECT_EQ(barriers_.Make(kAt, 2).fault, "");
  EXPECT_TRUE(IsComplete(1, 5)) << "the phase before the first";
  EXPECT_FALSE(IsComplete(0, 5));
  EXPECT_FALSE(IsComplete(0, 3));
  EXPECT_THAT(barriers_.Arrive(kAt, 0).released, IsEmpty());
  EXPECT_THAT(barriers_.Arrive(kAt, 0).released, ElementsAre(5, 3));
  EXPECT_TRUE(IsComplete(0, 5));
  EXPECT_FALSE(IsComplete(1, 5));
}

TEST_F(CopyBarriersTest, APhaseWaitsForItsBytes) {
  barriers_.Make(kAt, 1);
  EXPECT_FALSE(IsComplete(0, 1));
  EXPECT_THAT(barriers_.Arrive(kAt, 96).released, IsEmpty());
  EXPECT_THAT(barriers_.Complete(kAt, 64).released, IsEmpty());
  EXPECT_THAT(barriers_.Complete(kAt, 32).released, ElementsAre(1));
  EXPECT_THAT(barriers_.Complete(kAt, 16).released, IsEmpty()) << "of the next phase, before it is said";
  EXPECT_FALSE(IsComplete(1, 1));
  EXPECT_THAT(barriers_.Arrive(kAt, 16).released, ElementsAre(1));
}

TEST_F(CopyBarriersTest, FaultsAreNamed) {
  EXPECT_EQ(barriers_.Make(kAt + 4, 1).fault, "mbarrier: an address is no multiple of 8");
  EXPECT_EQ(barriers_.Make(kAt, 0).fault, "mbarrier: a barrier for no arrivals");
  EXPECT_EQ(barriers_.Arrive(kAt, 0).fault, "mbarrier: the barrier was not initialised");
  barriers_.Make(kAt, 1);
  barriers_.Arrive(kAt, 8);
  EXPECT_EQ(barriers_.Arrive(kAt, 0).fault, "mbarrier: more arrivals than the barrier was initialised for");
  barriers_.Clear();
  EXPECT_EQ(barriers_.Complete(kAt, 8).fault, "mbarrier: the barrier was not initialised");
}

}  // namespace
}  // namespace evo
