#include "evaluator/session/other_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <variant>

#include "evaluator/device/cuda/cuda_policy.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

// A candidate that takes 1,000 ticks and a baseline that takes 2,000 on the timed generator of kTwiceTask's search case.
class OtherInputsTest : public ::testing::Test {
 protected:
  OtherInputsTest() {
    channel_.begun = [&](Stage stage) { measured_ += stage == Stage::kTime; };
    parts_.device.kernels["candidate"] = [&](const auto& buffers) {
      of_candidate_ = true;
      Multiply<float>(buffers, 2);
    };
    parts_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  }

  // With these ticks on the other generator.
  std::optional<Failure> Compare(const std::function<std::uint64_t()>& candidate, std::uint64_t baseline) {
    measured_ = 0;
    parts_.device.clock = [=, this](std::size_t) {
      const bool other = measured_ == 2, mine = std::exchange(of_candidate_, false);
      const std::uint64_t ticks = mine ? (other ? candidate() : 1000) : (other ? baseline : 2000);
      return SequenceTime{ticks, ticks, 0, false};
    };
    const SessionContext context = parts_.Context();
    context.inputs.Place();
    ProgramChecker checker(context.device, context.inputs);
    Program one = Load(context, "candidate"), two = Load(context, "baseline");
    return OtherInputs(context, channel_, checker).Compare(one, two, check_);
  }

  static Program Load(const SessionContext& context, const std::string& image) {
    const AttachedProgram attached = TwiceProgram(image);
    return std::get<Program>(LoadProgram(context.device, attached.source, attached.program, 1));
  }

  SessionParts parts_{"cuda"};
  RecordingChannel channel_;
  ChampionCheck check_;
  int measured_ = 0;  // stages of timing, one for each generator
  bool of_candidate_ = false;
};

TEST_F(OtherInputsTest, ACandidateThatIsSlowerThanTheBaselineThereIsRefused) {
  const auto failure = Compare([] { return 3000; }, 2000);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kSlower);
  EXPECT_EQ(
      failure->message,
      "case a: faster than the baseline on the timed inputs, but slower on those of generator 1, 96.00 us against 64.00 us");
}

TEST_F(OtherInputsTest, ACandidateThatTakesLongerThereAsTheBaselineDoesIsNotRefused) {
  EXPECT_FALSE(Compare([] { return 3000; }, 6000));
  EXPECT_NEAR(check_.slowest.ratio, 3, 0.01);
  EXPECT_EQ(check_.slowest.inputs, "case a, generator 1");
}

// It is known to be slow, and nobody is misled.
TEST_F(OtherInputsTest, ACandidateThatIsSlowerEverywhereIsNotRefused) {
  std::swap(parts_.device.kernels["candidate"], parts_.device.kernels["baseline"]);
  EXPECT_FALSE(Compare([] { return 1000; }, 3000));
}

// The bits of one kernel's answers are compared with each other, not with the other one's.
TEST_F(OtherInputsTest, AKernelThatRoundsDifferentlyIsNotRefused) {
  parts_.device.kernels["baseline"] = [](const auto& buffers) {
    Multiply<float>(buffers, 2);
    auto* y = reinterpret_cast<float*>(buffers[1]);
    for (int i = 0; i < kTwiceElements; ++i) y[i] = std::nextafter(y[i], 0.0F);
  };
  EXPECT_FALSE(Compare([] { return 3000; }, 6000));
  const auto failure = Compare([] { return 3000; }, 2000);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kSlower) << failure->message;
}

// Not the candidate's fault.
TEST_F(OtherInputsTest, ABaselineThatFailsThereSaysNothing) {
  int launches = 0;
  parts_.device.kernels["baseline"] = [&](const auto& buffers) { Multiply<float>(buffers, measured_ == 2 ? 3 : 2), ++launches; };
  const auto failure = Compare([] { return 3000; }, 2000);
  EXPECT_FALSE(failure) << failure->message;
  EXPECT_GT(launches, 0);
}

TEST_F(OtherInputsTest, AKernelThatTakesLongIsTimedAFewTimes) {
  int launches = 0;
  parts_.device.kernels["baseline"] = [&](const auto& buffers) { Multiply<float>(buffers, 2), ++launches; };
  EXPECT_FALSE(Compare([] { return 3000; }, 6000));
  const int usually = std::exchange(launches, 0);
  check_ = {};
  check_.candidate.emplace_back().median_ns = 3e4;
  check_.baseline.emplace_back().median_ns = 3e8;
  EXPECT_FALSE(Compare([] { return 3000; }, 6000));
  EXPECT_GT(launches, 0);
  EXPECT_LT(launches, usually / 2);
}

TEST_F(OtherInputsTest, ADisturbanceThatEndsBeforeTheyAreInterleavedCondemnsNobody) {
  const auto slow_at_first = [launches = 0]() mutable {
    return ++launches <= kCudaPolicy.other_input_samples + 10 ? 3000 : 1000;
  };
  EXPECT_FALSE(Compare(slow_at_first, 2000));
}

}  // namespace
}  // namespace evo
