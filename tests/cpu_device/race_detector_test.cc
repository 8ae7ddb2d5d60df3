#include "evaluator/device/cpu/race_detector.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

class RaceDetectorTest : public testing::Test {
 protected:
  RaceDetectorTest() {
    races_.BeginLaunch(64);
    races_.BeginBlock();
  }
  // Whether the access of 4 bytes at `offset` is reported as a race at once.
  bool Touch(unsigned thread, std::uintptr_t offset, evo_cpu_access kind, std::size_t bytes = 4,
             MemorySpace space = MemorySpace::kShared) {
    return races_.Access(shadow_, space, thread, kBegin + offset, bytes, kind).race.has_value();
  }

  static constexpr std::uintptr_t kBegin = 4096;
  Shadow shadow_{kBegin, 256};
  RaceDetector races_;
};

TEST_F(RaceDetectorTest, ReadersDoNotRace) {
  for (unsigned thread = 0; thread < 64; ++thread) EXPECT_FALSE(Touch(thread, 0, evo_cpu_read));
  EXPECT_TRUE(Touch(3, 0, evo_cpu_write));
}

// An arrival at a barrier in shared memory, and a wait for one, order two warps; what comes after the arrival they do not.
TEST_F(RaceDetectorTest, ArrivalsAndWaitsOrderWarps) {
  EXPECT_FALSE(Touch(32, 0, evo_cpu_write));
  EXPECT_FALSE(Touch(33, 4, evo_cpu_write));
  EXPECT_FALSE(Touch(34, 8, evo_cpu_write));
  races_.WarpBarrier(1, 0b011);
  races_.Release(32);
  EXPECT_FALSE(Touch(32, 12, evo_cpu_write));
  EXPECT_TRUE(Touch(0, 0, evo_cpu_read)) << "not waited for";
  races_.Acquire(0);
  EXPECT_FALSE(Touch(0, 0, evo_cpu_read));
  EXPECT_FALSE(Touch(0, 4, evo_cpu_write)) << "what the arriving thread knew of its warp";
  EXPECT_TRUE(Touch(0, 8, evo_cpu_read)) << "what it did not know";
  EXPECT_TRUE(Touch(0, 12, evo_cpu_read)) << "after the arrival";
}

TEST_F(RaceDetectorTest, RemembersAReaderOfAnotherWarp) {
  EXPECT_FALSE(Touch(1, 0, evo_cpu_read));
  EXPECT_FALSE(Touch(40, 0, evo_cpu_read));
  EXPECT_FALSE(Touch(2, 0, evo_cpu_read));
  races_.WarpBarrier(0, ~0u);
  EXPECT_TRUE(Touch(1, 0, evo_cpu_write));
}

TEST_F(RaceDetectorTest, WarpBarriersOrderTransitively) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write));
  races_.WarpBarrier(0, 0b011);
  races_.WarpBarrier(0, 0b110);
  EXPECT_FALSE(Touch(2, 0, evo_cpu_read));
  EXPECT_TRUE(Touch(3, 0, evo_cpu_read));
}

TEST_F(RaceDetectorTest, WhatCameAfterTheWarpBarrierIsNotOrdered) {
  races_.WarpBarrier(0, ~0u);
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write));
  EXPECT_TRUE(Touch(1, 0, evo_cpu_read));
}

TEST_F(RaceDetectorTest, BlockBarriersOrderAllThreads) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write));
  races_.BlockBarrier();
  EXPECT_FALSE(Touch(63, 0, evo_cpu_write));
}

TEST_F(RaceDetectorTest, SharedMemoryIsEachBlocksOwnAndGlobalIsNot) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write));
  EXPECT_FALSE(Touch(0, 64, evo_cpu_write, 4, MemorySpace::kGlobal));
  races_.BeginBlock();
  EXPECT_FALSE(Touch(1, 0, evo_cpu_read));
  EXPECT_TRUE(Touch(1, 64, evo_cpu_read, 4, MemorySpace::kGlobal));
  races_.BeginLaunch(64);
  races_.BeginBlock();
  EXPECT_FALSE(Touch(1, 64, evo_cpu_write, 4, MemorySpace::kGlobal));
}

TEST_F(RaceDetectorTest, TellsBytesOfAWordApart) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write, 1));
  EXPECT_FALSE(Touch(1, 1, evo_cpu_write, 1));
  EXPECT_FALSE(Touch(2, 2, evo_cpu_write, 2));
  EXPECT_TRUE(Touch(2, 0, evo_cpu_read, 4));
}

TEST_F(RaceDetectorTest, DefersWritesThatMayBeTheSame) {
  EXPECT_FALSE(Touch(0, 8, evo_cpu_write, 8));
  const auto finding = races_.Access(shadow_, MemorySpace::kShared, 1, kBegin + 4, 8, evo_cpu_write);
  EXPECT_FALSE(finding.race);
  ASSERT_TRUE(finding.rewrite);
  EXPECT_EQ(finding.rewrite->address, kBegin + 8);
  EXPECT_EQ(finding.rewrite_end, kBegin + 12);
  EXPECT_EQ(finding.rewrite->earlier, 0u);
}

TEST_F(RaceDetectorTest, AtomicsRaceWithPlainWritesOnly) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_atomic));
  EXPECT_FALSE(Touch(1, 0, evo_cpu_atomic));
  EXPECT_TRUE(Touch(1, 0, evo_cpu_write)) << "thread 0's is remembered behind its own";
  EXPECT_FALSE(Touch(2, 0, evo_cpu_read));
  EXPECT_TRUE(races_.Undecided());
  EXPECT_FALSE(Touch(2, 0, evo_cpu_atomic)) << "a compare-and-swap loop after all";
  EXPECT_FALSE(races_.Undecided());
}

TEST_F(RaceDetectorTest, AFenceAndAtomicsOrder) {
  EXPECT_FALSE(Touch(0, 0, evo_cpu_write));
  races_.Fence(0);
  EXPECT_FALSE(Touch(0, 32, evo_cpu_atomic));
  EXPECT_FALSE(Touch(0, 4, evo_cpu_write));
  EXPECT_TRUE(Touch(40, 0, evo_cpu_read));
  EXPECT_FALSE(Touch(50, 32, evo_cpu_atomic));
  EXPECT_FALSE(Touch(50, 0, evo_cpu_read));
  EXPECT_TRUE(Touch(50, 4, evo_cpu_read)) << "written after the fence";
}

}  // namespace
}  // namespace evo
