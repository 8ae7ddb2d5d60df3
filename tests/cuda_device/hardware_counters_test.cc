// Needs a GPU. Elsewhere the program starts and every test fails with what is missing. Where users may not count, tests are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_fields.h"
#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

class HardwareCountersTest : public CudaDeviceTest {
 protected:
  static void SetUpTestSuite() { Open(CudaUse::kCounting); }
  void SetUp() override {
    if (missing_.find("NVreg_RestrictProfilingToAdminUsers") != std::string::npos) GTEST_SKIP() << missing_;
    CudaDeviceTest::SetUp();
  }
  CountedRun Count(const Sequence& sequence) const {
    TimedRun run;
    run.preparation.flush_bytes = 2 * device_->info().l2_bytes;
    run.sequence = sequence;
    return device_->Count(*program_, run);
  }
};

TEST_F(HardwareCountersTest, EveryCounterIsAShare) {
  const CountedRun counted = Count({Add(), Scale(0.5)});
  ASSERT_TRUE(counted.status.ok()) << counted.status.message;
  EXPECT_GT(counted.counters.counted_ns, 0);
  ForEachField(counted.counters, [](const std::string& name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, double>) {
      std::printf("%s %g\n", name.c_str(), value);
      if (name == "counted_ns") return;
      EXPECT_GE(value, 0) << name;
      EXPECT_LE(value, 1.1) << name;
    }
  });
}

TEST_F(HardwareCountersTest, ASumOfVectorsMovesMemoryAndALoopOfOneWarpDoesNot) {
  const CountedRun add = Count({Add()});
  const CountedRun work = Count({Work(20000)});
  ASSERT_TRUE(add.status.ok()) << add.status.message;
  ASSERT_TRUE(work.status.ok()) << work.status.message;
  EXPECT_GT(add.counters.dram, 0.05);
  EXPECT_LT(work.counters.dram, 0.05);
  EXPECT_GT(work.counters.counted_ns, add.counters.counted_ns);
  EXPECT_LT(work.counters.active_warps, 0.1);
}

TEST_F(HardwareCountersTest, WhatIsCountedComputesAsEver) {
  ASSERT_TRUE(Count({Add()}).status.ok());
  EXPECT_EQ(Read(c_, 8)[7], 14.0f);
}

TEST_F(HardwareCountersTest, SamplesAreOfTheLinesOfTheKernel) {
  CompilerInput input{kKernels, kNames, device_->info().arch};
  input.line_info = true;
  const CompileResult compiled = compiler_->Compile(input);
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
  LoadResult loaded = device_->Load(compiled.program, 1);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message;
  TimedRun run;
  run.sequence = {Work(20000)};
  const SampledStalls sampled = device_->SampleStalls(*loaded.program, run, 4);
  ASSERT_TRUE(sampled.status.ok()) << sampled.status.message;
  const std::vector<StallLine> lines = StallLines(sampled.samples, kKernels);
  for (const StallLine& line : lines)
    std::printf("%d %.2f %s | %s\n", line.line, line.share, line.waits_for.c_str(), line.code.c_str());
  ASSERT_FALSE(lines.empty());
  EXPECT_GT(lines.front().share, 0.2);
  // Counting goes on afterwards.
  EXPECT_TRUE(Count({Add()}).status.ok());
}

}  // namespace
}  // namespace evo
