#include "core/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

KernelFacts Facts(int registers, int shared_bytes) {
  KernelFacts facts;
  facts.registers = registers;
  facts.dynamic_shared_bytes = shared_bytes;
  return facts;
}

// Blocks as CUDA's occupancy calculator gives them for sm_90 and sm_89.
TEST(OccupancyLimit, IsWhatRunsOutFirst) {
  const MultiprocessorLimits h100 = LimitsOf("sm_90a");
  const auto check = [&](const KernelFacts& facts, int threads, int blocks, const char* by, const MultiprocessorLimits& limits) {
    const OccupancyLimit limit = LimitOf(facts, threads, limits);
    EXPECT_EQ(limit.blocks, blocks) << threads << " " << facts.registers;
    EXPECT_EQ(limit.by, by);
  };
  check(Facts(32, 0), 256, 8, "block size", h100);
  check(Facts(32, 0), 32, 32, "number of blocks", h100);
  check(Facts(64, 0), 256, 4, "registers", h100);
  check(Facts(168, 0), 384, 1, "registers", h100);
  check(Facts(168, 0), 128, 3, "registers", h100);
  check(Facts(255, 0), 256, 1, "registers", h100);
  check(Facts(32, 48 * 1024), 128, 4, "shared memory", h100);
  check(Facts(32, 100 * 1024), 128, 2, "shared memory", h100);
  check(Facts(32, 227 * 1024), 128, 1, "shared memory", h100);
  check(Facts(32, 0), 768, 2, "block size", LimitsOf("sm_89"));
  check(Facts(-1, -1), 1024, 2, "block size", h100);
  EXPECT_TRUE(LimitOf(Facts(32, 0), 256, h100).full);
  EXPECT_FALSE(LimitOf(Facts(64, 0), 256, h100).full);
}

TEST(OccupancyLimit, IsNotKnownWithoutABlockOrAnArchitecture) {
  EXPECT_EQ(LimitOf(Facts(32, 0), 0, LimitsOf("sm_90a")).blocks, 0);
  for (const char* arch : {"sm_12", "sm_", "compute_90", "", "cpu"}) {
    EXPECT_EQ(LimitsOf(arch).warps, 0) << arch;
    EXPECT_THAT(LimitOf(Facts(32, 0), 256, LimitsOf(arch)).by, IsEmpty());
  }
  EXPECT_EQ(LimitsOf("sm_80").shared_bytes, 164 * 1024);
}

TEST(LaunchesOf, ReadsGridsAndBlocks) {
  const auto launches = LaunchesOf(
      "scale<64, 2> grid 8x2x3 block 128x2x1 shared 1024 cluster 2x1x1; memset O; k grid 1x1x1 block 32x1x1 shared 0 "
      "cooperative; 7 launches and memsets with those of loops");
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_EQ(launches[0].blocks, 48);
  EXPECT_EQ(launches[0].threads, 256);
  EXPECT_EQ(launches[1].blocks, 1);
  EXPECT_EQ(launches[1].threads, 32);
  for (const char* none : {"", "memset O", "k grid block", "k grid 1x1x1", "; ; "})
    EXPECT_THAT(LaunchesOf(none), IsEmpty()) << none;
}

}  // namespace
}  // namespace evo
