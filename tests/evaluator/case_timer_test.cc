#include "evaluator/session/case_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluator/device/cuda/cuda_policy.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

// The image "candidate" on the first search case.
class CaseTimerTest : public ::testing::Test {
 protected:
  std::variant<CaseMeasurement, Failure> Measure(const std::optional<CaseBounds>& bounds = {}, double checked_ns = 0) {
    const SessionContext context = parts_.Context();
    const AttachedProgram attached = TwiceProgram("candidate");
    program_ = std::move(std::get<Program>(LoadProgram(parts_.device, attached.source, attached.program)));
    const Case& sizes = context.inputs.search_cases().front();
    prepared_ = std::move(
        std::get<0>(ProgramChecker(parts_.device, context.inputs).Prepare(program_, sizes, context.inputs.TimedSets(sizes))));
    Gate gate(parts_.device, Determinism::kBitwise);
    return context.timer.Measure(*prepared_, gate, bounds, checked_ns);
  }

  SessionParts parts_{"cuda"};
  Program program_;
  std::unique_ptr<CaseOfProgram> prepared_;
};

TEST_F(CaseTimerTest, SaysWhatWasMeasured) {
  const auto measured = Measure();
  ASSERT_EQ(measured.index(), 0U) << std::get<Failure>(measured).message;
  const auto& m = std::get<CaseMeasurement>(measured);
  EXPECT_EQ(m.name, "a");
  EXPECT_EQ(m.weight, 1);
  EXPECT_EQ(m.median_ns, 32'000);
  EXPECT_EQ(m.bytes, 8 * kTwiceElements);
  EXPECT_EQ(m.operations, kTwiceElements);
  EXPECT_THAT(m.launches, HasSubstr("k grid 1x1x1"));
  EXPECT_FALSE(m.pruned);
}

TEST_F(CaseTimerTest, WhatIsFasterThanTheDeviceCanBeIsCheating) {
  parts_.machine.launch_ns = 1000;
  parts_.machine.l2_bytes_per_s = 1e6;  // 800 bytes take 0.8 ms
  const auto measured = Measure();
  ASSERT_EQ(measured.index(), 1U);
  EXPECT_EQ(std::get<Failure>(measured).outcome, Outcome::kCheating);
  EXPECT_THAT(std::get<Failure>(measured).message, HasSubstr("case a: 32.000 us, where this GPU needs"));
}

TEST_F(CaseTimerTest, PrunesWhatIsBeyondItsBound) {
  const auto usual = Measure(CaseBounds{40'000, 41'000});
  EXPECT_FALSE(std::get<CaseMeasurement>(usual).pruned);
  const auto pruned = Measure(CaseBounds{20'000, 21'000});
  EXPECT_TRUE(std::get<CaseMeasurement>(pruned).pruned);
  const auto hopeless = Measure(CaseBounds{2'000, 2'100}, 1e9);
  EXPECT_TRUE(std::get<CaseMeasurement>(hopeless).pruned);
  EXPECT_LT(std::get<CaseMeasurement>(hopeless).samples.size(), std::get<CaseMeasurement>(pruned).samples.size());
}

TEST_F(CaseTimerTest, TakesOneSampleOfWhatIsFarBeyondItsBound) {
  const auto pruned = Measure(CaseBounds{1'000, 1'100}, 1e9);
  EXPECT_TRUE(std::get<CaseMeasurement>(pruned).pruned);
  EXPECT_EQ(std::get<CaseMeasurement>(pruned).samples.size(), 1U);
  EXPECT_EQ(parts_.device.timed.size(), 1U) << "without a launch that warms up";
}

TEST_F(CaseTimerTest, TakesThreeSamplesOfAKernelThatIsLong) {
  parts_.device.clock = [](std::size_t) { return SequenceTime{9'500'000, 9'500'000, 0, false}; };  // 0.3 s
  const auto measured = Measure({}, 0.3e9);
  const std::size_t samples = std::get<CaseMeasurement>(measured).samples.size();
  EXPECT_GE(samples, 3U);
  EXPECT_LE(samples, 4U);
}

TEST_F(CaseTimerTest, TakesMoreSamplesWhileNoJobWaits) {
  const auto hurried = Measure();
  parts_.jobs_wait = false;
  const auto idle = Measure();
  EXPECT_LT(std::get<CaseMeasurement>(hurried).samples.size(), 100U);
  EXPECT_GE(std::get<CaseMeasurement>(idle).samples.size(), static_cast<std::size_t>(kCudaPolicy.idle_sampling->usual_samples));
}

}  // namespace
}  // namespace evo
