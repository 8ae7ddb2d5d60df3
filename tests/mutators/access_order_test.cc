#include "mutators/analysis/numbers/access_order.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

class AccessOrderTest : public testing::Test {
 protected:
  AccessOrderTest() {
    order.StartLaunch();
    order.StartBlock(64);
  }
  AccessOrder order;
  ElementAccesses element;
};

TEST_F(AccessOrderTest, ABarrierOrdersTheThreadsOfABlock) {
  EXPECT_TRUE(order.Write(element, 3));
  EXPECT_TRUE(order.Read(element, 3));
  EXPECT_FALSE(order.Read(element, 4));
  EXPECT_FALSE(order.Write(element, 4));
  order.PassBarrier();
  EXPECT_TRUE(order.Read(element, 4));
  EXPECT_FALSE(order.Write(element, 5));
  order.PassBarrier();
  EXPECT_TRUE(order.Write(element, 5));
}

TEST_F(AccessOrderTest, AWarpBarrierOrdersTheLanesOfItsWarpOnly) {
  EXPECT_TRUE(order.Write(element, 3));
  order.PassWarpBarrier(1);
  EXPECT_FALSE(order.Read(element, 4));
  order.PassWarpBarrier(0);
  EXPECT_TRUE(order.Read(element, 4));
  EXPECT_FALSE(order.Read(element, 40));
}

TEST_F(AccessOrderTest, BlocksOfALaunchMayRunInAnyOrder) {
  EXPECT_TRUE(order.Write(element, 3));
  order.PassBarrier();
  order.StartBlock(64);
  EXPECT_FALSE(order.Read(element, 3));
  EXPECT_FALSE(order.Write(element, 3));
  order.StartLaunch();
  order.StartBlock(64);
  EXPECT_TRUE(order.Read(element, 3));
}

TEST_F(AccessOrderTest, AWarpBarrierOrdersWhatSeveralLanesHaveRead) {
  EXPECT_TRUE(order.Read(element, 40));
  EXPECT_TRUE(order.Read(element, 41));
  EXPECT_FALSE(order.Write(element, 40));
  order.PassWarpBarrier(0);
  EXPECT_FALSE(order.Write(element, 40));
  order.PassWarpBarrier(1);
  EXPECT_FALSE(order.Write(element, 3)) << "of another warp";
  EXPECT_TRUE(order.Write(element, 40));
  order.PassBarrier();
  EXPECT_TRUE(order.Read(element, 3));
  EXPECT_TRUE(order.Read(element, 40));
  order.PassWarpBarrier(0);
  order.PassWarpBarrier(1);
  EXPECT_FALSE(order.Write(element, 3)) << "lanes of two warps have read it";
}

TEST_F(AccessOrderTest, RemembersThatSeveralHaveRead) {
  EXPECT_TRUE(order.Read(element, 3));
  EXPECT_TRUE(order.Read(element, 4));
  EXPECT_TRUE(order.Read(element, 3));
  EXPECT_FALSE(order.Write(element, 3));
  order.StartBlock(64);
  EXPECT_TRUE(order.Read(element, 3));
  order.StartBlock(64);
  EXPECT_TRUE(order.Read(element, 3));
  order.PassBarrier();
  EXPECT_FALSE(order.Write(element, 3));
}

TEST_F(AccessOrderTest, NothingButOtherAtomicsMayComeBetweenAtomics) {
  EXPECT_TRUE(order.WriteAtomically(element, 3));
  EXPECT_TRUE(order.WriteAtomically(element, 4));
  EXPECT_TRUE(order.WriteAtomically(element, 3));
  EXPECT_FALSE(order.Read(element, 3));
  EXPECT_FALSE(order.Write(element, 3));
  order.PassBarrier();
  EXPECT_TRUE(order.Read(element, 3));
  EXPECT_FALSE(order.WriteAtomically(element, 4));
}

TEST_F(AccessOrderTest, AtomicsOfOthersAreNotOrderedWithWhatWasWrittenBefore) {
  EXPECT_TRUE(order.Write(element, 0));
  EXPECT_TRUE(order.WriteAtomically(element, 0));
  EXPECT_FALSE(order.WriteAtomically(element, 1));
  order.PassBarrier();
  EXPECT_TRUE(order.WriteAtomically(element, 1));
  EXPECT_TRUE(order.WriteAtomically(element, 0));
}

}  // namespace
}  // namespace evo
