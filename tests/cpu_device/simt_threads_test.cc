#include "evaluator/device/cpu/simt_threads.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(SimtThreads, NumbersThreadsAlongXFirst) {
  evo_cpu_block block{};
  SimtThreads threads;
  threads.BeginLaunch({20, 2, 1}, &block, 4096);
  ASSERT_EQ(threads.size(), 40u);
  const evo_cpu_thread& thread = threads.At(33).context;
  EXPECT_EQ(thread.thread_index.x, 13u);
  EXPECT_EQ(thread.thread_index.y, 1u);
  EXPECT_EQ(thread.lane, 1u);
  EXPECT_EQ(&threads.WarpOf(33), &threads.Warp(1));
}

TEST(SimtThreads, BeginsABlockWithAllLanesOfItsThreads) {
  evo_cpu_block block{};
  SimtThreads threads;
  threads.BeginLaunch({40, 1, 1}, &block, 4096);
  threads.BeginBlock();
  EXPECT_EQ(threads.Warp(0).live(), ~0u);
  EXPECT_EQ(threads.Warp(1).live(), 0xffu);
  EXPECT_EQ(threads.Count(SimtThreads::State::kUnstarted), 40u);
  threads.SetRunning(3);
  threads.Running().state = SimtThreads::State::kAtBlockBarrier;
  EXPECT_EQ(threads.Count(SimtThreads::State::kAtBlockBarrier), 1u);
  threads.BeginBlock();
  EXPECT_EQ(threads.Count(SimtThreads::State::kUnstarted), 40u);
}

}  // namespace
}  // namespace evo
