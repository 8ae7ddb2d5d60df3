// Needs a GPU. Elsewhere the program starts and every test fails with what is missing.
#include <gtest/gtest.h>

#include "evaluator/timer/machine_check.h"
#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

TEST_F(CudaDeviceTest, TimesASequenceWithAMemset) {
  TimedRun run;
  run.preparation.restore = {{a_, b_, kCount * sizeof(float)}};
  run.preparation.poison = {{c_, kCount * sizeof(float), {}}};
  run.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  run.sequence = {DeviceFill{c_, kCount * sizeof(float), 0}, Add(), Scale(0.5)};
  const TimedRuns timed = Time(run, 20);
  ASSERT_TRUE(timed.status.ok()) << timed.status.message;
  ASSERT_EQ(timed.times.size(), 20u);
  for (const SequenceTime& time : timed.times) {
    EXPECT_GT(time.busy_ticks, 0u);
    EXPECT_GE(time.span_ticks, time.busy_ticks);
  }
  std::printf("memset + 2 kernels: median span %.0f ns, first busy %.0f ns\n", MedianNs(timed),
              static_cast<double>(timed.times[0].busy_ticks) * device_->info().tick_ns);
  // Behind the hold the host's launches do not show: they take several microseconds each.
  EXPECT_LT(MedianNs(timed), 20000);
  EXPECT_EQ(Read(c_, 8)[7], 7.0f);
}

// As an input gets contents that no launch has seen: two pieces at odd elements.
TEST_F(CudaDeviceTest, ContentsAreWrittenInPlaceInPiecesOfAnyLength) {
  constexpr std::size_t kPiece = 333;
  constexpr auto kAll = static_cast<std::size_t>(kCount);
  TimedRun run;
  run.preparation.restore = {{a_, b_ + 5 * sizeof(float), kPiece * sizeof(float)},
                             {a_ + kPiece * sizeof(float), b_, (kAll - kPiece) * sizeof(float)}};
  run.sequence = {Add()};
  const std::vector<float> b = Read(b_, kAll);
  const TimedRuns timed = Time(run, 20);
  ASSERT_TRUE(timed.status.ok()) << "the copies are ours: " << timed.status.message;
  const std::vector<float> a = Read(a_, kAll);
  EXPECT_EQ(a[0], b[5]);
  EXPECT_EQ(a[kPiece - 1], b[5 + kPiece - 1]);
  EXPECT_EQ(a[kPiece], b[0]);
  EXPECT_EQ(a[kAll - 1], b[kAll - 1 - kPiece]);
  EXPECT_EQ(Read(c_, kAll)[kPiece], a[kPiece] + b[kPiece]);
}

TEST_F(CudaDeviceTest, MoreRunsThanFitBehindOneHold) {
  TimedRun run;
  for (int i = 0; i < 50; ++i) run.sequence.push_back(Work(10));
  const TimedRuns timed = Time(run, 20);
  ASSERT_TRUE(timed.status.ok()) << timed.status.message;
  EXPECT_EQ(timed.times.size(), 20u);
}

TEST_F(CudaDeviceTest, TwiceTheWorkTakesTwiceTheTime) {
  TimedRun once;
  once.sequence = {Work(20000)};
  TimedRun twice;
  twice.sequence = {Work(40000)};
  const TimedRuns first = Time(once, 10);
  const TimedRuns second = Time(twice, 10);
  ASSERT_TRUE(first.status.ok()) << first.status.message;
  ASSERT_TRUE(second.status.ok()) << second.status.message;
  EXPECT_NEAR(MedianNs(second) / MedianNs(first), 2.0, 0.2);
}

TEST_F(CudaDeviceTest, HotIsFasterThanCold) {
  TimedRun hot;
  hot.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  hot.sequence = {Add()};
  TimedRun cold;
  cold.preparation.flush_bytes = 2 * device_->info().l2_bytes;
  cold.sequence = {Add()};
  for (int i = 0; i < 2; ++i) {
    const TimedRuns hot_times = Time(hot, 30);
    const TimedRuns cold_times = Time(cold, 30);
    ASSERT_TRUE(hot_times.status.ok()) << hot_times.status.message;
    ASSERT_TRUE(cold_times.status.ok()) << cold_times.status.message;
    std::printf("add: hot %.0f ns, cold %.0f ns\n", MedianNs(hot_times), MedianNs(cold_times));
    // The first round warms the chip up.
    if (i == 0) continue;
    EXPECT_LT(MedianNs(hot_times), MedianNs(cold_times));
  }
}

TEST_F(CudaDeviceTest, TouchingBringsBackWhatWasFlushed) {
  TimedRun flushed;
  flushed.preparation.flush_bytes = 2 * device_->info().l2_bytes;
  flushed.sequence = {Add()};
  TimedRun touched = flushed;
  touched.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  Time(flushed, 10);
  const TimedRuns touched_times = Time(touched, 30);
  const TimedRuns flushed_times = Time(flushed, 30);
  ASSERT_TRUE(touched_times.status.ok()) << touched_times.status.message;
  ASSERT_TRUE(flushed_times.status.ok()) << flushed_times.status.message;
  std::printf("add: flushed and touched %.0f ns, flushed %.0f ns\n", MedianNs(touched_times), MedianNs(flushed_times));
  EXPECT_LT(MedianNs(touched_times), 0.95 * MedianNs(flushed_times));
}

TEST_F(CudaDeviceTest, AMachineInOrderIsMeasured) {
  const std::string arch = device_->info().arch;
  const CompileResult compiled = compiler_->Compile({MachineCheckSource(arch), MachineCheckKernels(arch), arch});
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
  const LoadResult loaded = device_->Load(compiled.program, 1);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message;
  const auto measured = MeasureMachine(*device_, *loaded.program);
  ASSERT_EQ(measured.index(), 0U) << std::get<Failure>(measured).message;
  const auto& machine = std::get<MachineState>(measured);
  std::printf("empty %.0f ns, ratio %.3f, DRAM %.2f TB/s, L2 %.2f TB/s, fp32 %.1f, tensor %.0f TFLOP/s, SM %d MHz\n",
              machine.launch_ns, machine.control_ratio, machine.dram_bytes_per_s / 1e12, machine.l2_bytes_per_s / 1e12,
              machine.f32_per_s / 1e12, machine.tensor_per_s / 1e12, machine.clocks.sm_mhz);
  EXPECT_GT(machine.l2_bytes_per_s, machine.dram_bytes_per_s / 2);
  // Of a multiprocessor no more than 128 bytes a clock come in.
  EXPECT_LT(machine.l2_bytes_per_s, 128.0 * 3e9 * device_->info().multiprocessors);
  EXPECT_GT(machine.tensor_per_s, machine.f32_per_s);
}

}  // namespace
}  // namespace evo
