#include "evaluator/session/held_out_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HeldOutCheckTest : public ::testing::Test {
 protected:
  HeldOutCheckTest() {
    for (SessionParts* parts : {&gpu_, &emulator_})
      parts->device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  }

  std::optional<Failure> Run(SessionParts& parts, const AttachedProgram& checked = {}) {
    const SessionContext context = parts.Context();
    context.inputs.Place();
    const ChampionRequest request{TwiceProgram("candidate"), checked, TwiceProgram("baseline")};
    return HeldOutCheck(context, request, channel_).Run(check_);
  }

  SessionParts gpu_{"cuda"};
  SessionParts emulator_{"cpu"};
  RecordingChannel channel_;
  ChampionCheck check_;
};

TEST_F(HeldOutCheckTest, AGoodCandidatePassesOnEveryHeldOutCase) {
  EXPECT_FALSE(Run(gpu_));
  EXPECT_THAT(check_.held_out_cases, ElementsAre("c"));
  ASSERT_EQ(check_.candidate.size(), 1U);
  ASSERT_EQ(check_.baseline.size(), 1U);
  EXPECT_EQ(check_.candidate[0].samples.size(), static_cast<std::size_t>(kCudaPolicy.interleaved_rounds));
  EXPECT_TRUE(check_.tools.empty());
}

TEST_F(HeldOutCheckTest, UsesThePolicyOfAnEmulator) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  EXPECT_FALSE(Run(emulator_, TwiceProgram("checked")));
  EXPECT_THAT(check_.held_out_cases, ElementsAre("d"));
  EXPECT_EQ(check_.candidate[0].samples.size(), static_cast<std::size_t>(kCpuPolicy.interleaved_rounds));
  ASSERT_EQ(check_.tools.size(), 1U);
  EXPECT_EQ(check_.tools[0].tool, "checked accesses");
  const auto timing = std::find(channel_.stages.begin(), channel_.stages.end(), Stage::kTime) - channel_.stages.begin();
  EXPECT_TRUE(channel_.waited[static_cast<std::size_t>(timing)]) << "compilers stand still";
}

TEST_F(HeldOutCheckTest, FindsAKernelThatIsWrongOnHeldOutCasesOnly) {
  // Four runs of the search case on its second generator are right.
  int launches = 0;
  channel_.begun = [&](Stage) { launches = 0; };
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) { Multiply<float>(buffers, ++launches > 4 ? 3 : 2); };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(failure->message, HasSubstr("case c: "));
  EXPECT_TRUE(check_.held_out_cases.empty());
  EXPECT_TRUE(gpu_.device.timed.empty());
}

TEST_F(HeldOutCheckTest, FindsARaceThatTwoRunsDoNotShow) {
  int launches = 0;
  channel_.begun = [&](Stage) { launches = 0; };
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) { Multiply<float>(buffers, ++launches == 3 ? 3 : 2); };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kNondeterministic);
}

TEST_F(HeldOutCheckTest, NamesTheInputsOnWhichTheCandidateIsSlowest) {
  int measured = 0;  // stages of timing: the interleaved one, then one for each generator
  channel_.begun = [&](Stage stage) { measured += stage == Stage::kTime; };
  gpu_.device.clock = [&](std::size_t) { return SequenceTime{measured == 3 ? 1500U : 1000U, 1000, 0, false}; };
  EXPECT_FALSE(Run(gpu_));
  EXPECT_NEAR(check_.slowest.ratio, 1.5, 0.01);
  EXPECT_EQ(check_.slowest.inputs, "case a, generator 1");
}

TEST_F(HeldOutCheckTest, ADisturbedMachineSaysNothingOfOtherInputs) {
  int measured = 0;
  channel_.begun = [&](Stage stage) { measured += stage == Stage::kTime; };
  gpu_.device.clock = [&](std::size_t) { return SequenceTime{1000, 1000, 0, measured == 3}; };
  EXPECT_FALSE(Run(gpu_));
  EXPECT_EQ(check_.candidate.size(), 1U);
  EXPECT_TRUE(check_.slowest.inputs.empty());
}

}  // namespace
}  // namespace evo
