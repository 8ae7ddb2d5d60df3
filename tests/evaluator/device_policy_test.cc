#include "evaluator/device/device_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DevicePolicy, IsFoundByItsKind) {
  std::set<std::string_view> kinds;
  for (const DevicePolicy& policy : DevicePolicies()) {
    EXPECT_EQ(&PolicyOf(policy.kind), &policy);
    EXPECT_TRUE(kinds.insert(policy.kind).second) << policy.kind;
  }
  EXPECT_EQ(PolicyOf("cpu").input_sets, kCpuPolicy.input_sets);
  EXPECT_EQ(PolicyOf("cuda").input_sets, kCudaPolicy.input_sets);
}

TEST(DevicePolicy, AnUnknownKindIsRefusedAndTheKnownKindsAreNamed) {
  EXPECT_THAT([] { PolicyOf("tpu"); }, ThrowsMessage<Error>(AllOf(HasSubstr("'tpu'"), HasSubstr("cpu, cuda"))));
  EXPECT_THAT([] { PolicyOf(""); }, ThrowsMessage<Error>(HasSubstr("unknown device ''")));
}

TEST(DevicePolicy, EverySamplingPlanCanEnd) {
  for (const DevicePolicy& policy : DevicePolicies()) {
    EXPECT_LE(policy.sampling.min_samples, policy.sampling.max_samples) << policy.kind;
    EXPECT_GE(policy.input_sets, 2U) << policy.kind << ": no launch may see the data of the launch before it";
    EXPECT_GE(policy.code_placements, 1U) << policy.kind;
    EXPECT_GT(policy.timed_check_repeats, 0) << policy.kind;
  }
}

// ChampionChecker compiles for the tools while it times.
TEST(DevicePolicy, WhereTheToolsRunCompilersDoNotDisturbTheTiming) {
  for (const DevicePolicy& policy : DevicePolicies())
    EXPECT_FALSE(policy.runs_sanitizers && policy.pauses_compilers) << policy.kind;
}

}  // namespace
}  // namespace evo
