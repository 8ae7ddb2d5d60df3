#include "kernel_templates/launch_plan.h"

#include <gmock/gmock.h>

#include <string>

namespace evo {
namespace {

using testing::ElementsAre;

constexpr const char* kTask = R"json({
  "name": "t", "summary": "s", "sizes": ["S", "D"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f16", "shape": ["S", "D"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f16", "shape": ["S"], "check": "exact"},
    {"name": "scale", "role": "scalar", "dtype": "f32", "value": "1 / sqrt(D)"},
    {"name": "count", "role": "scalar", "dtype": "u64", "value": "S * D"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"S": 100, "D": 16}},
    "search": [{"name": "a", "sizes": {"S": 1, "D": 1}}], "search_cpu": [{"name": "b", "sizes": {"S": 1, "D": 1}}],
    "held_out": [{"name": "c", "sizes": {"S": 1, "D": 1}}], "held_out_cpu": [{"name": "d", "sizes": {"S": 1, "D": 1}}]
  },
  "baseline": "naive", "bytes": 1, "operations": 1
})json";

std::variant<LaunchPlan, PlanFailure> Plan(const std::string& directives, const Parameters& parameters = {}) {
  const Task task = ParseTask(kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t");
  return PlanLaunches(ParseTemplate("k", directives), parameters, task, task.small);
}

std::string Failure(const std::string& launch) {
  const auto plan = Plan("// evo:launch k" + launch + "\n");
  return std::holds_alternative<PlanFailure>(plan) ? std::get<PlanFailure>(plan).message : "";
}

constexpr const char* kSteps = R"(// evo:param N 8 32
// evo:workspace w f32 [S, N]
// evo:memset w 7
// evo:launch k<N>(X, w, scale, count, S, N * 2) grid(ceil_div(S, N), D, 2) block(N, 2) shared(N * 4) cluster(2)
// evo:launch never(w, Y) grid(0) block(32) when(N > 8 && S == 1)
// evo:launch last(w, Y) grid(count / 16) block(32) cooperative
#ifndef N
#define N 8
#endif
)";

TEST(LaunchPlan, EvaluatesEveryStep) {
  const auto result = Plan(kSteps, {{"N", 32}});
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result)) << std::get<PlanFailure>(result).message;
  const auto& plan = std::get<LaunchPlan>(result);
  ASSERT_EQ(plan.workspaces.size(), 1u);
  EXPECT_EQ(plan.workspaces[0].elements, 3200);
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(std::get<PlannedMemset>(plan.steps[0]).buffer, "w");
  EXPECT_EQ(std::get<PlannedMemset>(plan.steps[0]).value, 7);
  const auto& launch = std::get<PlannedLaunch>(plan.steps[1]);
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.kernel_expression, "k<N>");
  EXPECT_THAT(launch.grid, ElementsAre(4u, 16u, 2u));
  EXPECT_THAT(launch.block, ElementsAre(32u, 2u, 1u));
  EXPECT_THAT(launch.cluster, ElementsAre(2u, 1u, 1u));
  EXPECT_EQ(launch.shared_bytes, 128u);
  EXPECT_FALSE(launch.cooperative);
  ASSERT_EQ(launch.arguments.size(), 6u);
  EXPECT_EQ(std::get<BufferUse>(launch.arguments[0]).name, "X");
  EXPECT_EQ(std::get<BufferUse>(launch.arguments[1]).name, "w");
  EXPECT_EQ(std::get<ScalarUse>(launch.arguments[2]), (ScalarUse{Dtype::kF32, Number::Real(0.25)}));
  EXPECT_EQ(std::get<ScalarUse>(launch.arguments[3]), (ScalarUse{Dtype::kU64, Number::Integer(1600)}));
  EXPECT_EQ(std::get<ScalarUse>(launch.arguments[4]), (ScalarUse{Dtype::kI32, Number::Integer(100)}));
  EXPECT_EQ(std::get<ScalarUse>(launch.arguments[5]), (ScalarUse{Dtype::kI32, Number::Integer(64)}));
  const auto& last = std::get<PlannedLaunch>(plan.steps[2]);
  EXPECT_EQ(last.grid[0], 100u);
  EXPECT_TRUE(last.cooperative);
  EXPECT_THAT(last.cluster, ElementsAre(0u, 0u, 0u));
}

TEST(LaunchPlan, ExceedingTheLimitsOfAllDevicesIsAFailure) {
  EXPECT_EQ(Failure("(X) grid(1) block(1)"), "");
  EXPECT_EQ(Failure("(X) grid(S - 100) block(1)"), "line 1, k: grid x is 0; it must be 1 to 2147483647");
  EXPECT_EQ(Failure("(X) grid(1, 65536) block(1)"), "line 1, k: grid y is 65536; it must be 1 to 65535");
  EXPECT_EQ(Failure("(X) grid(1, 65535, 65535) block(1)"), "");
  EXPECT_EQ(Failure("(X) grid(1) block(1025)"), "line 1, k: block x is 1025; it must be 1 to 1024");
  EXPECT_EQ(Failure("(X) grid(1) block(64, 32)"), "line 1, k: a block has 2048 threads; at most 1024 are possible");
  EXPECT_EQ(Failure("(X) grid(1) block(1, 1, 65)"), "line 1, k: block z is 65; it must be 1 to 64");
  EXPECT_EQ(Failure("(X) grid(1) block(0)"), "line 1, k: block x is 0; it must be 1 to 1024");
  EXPECT_EQ(Failure("(X) grid(3) block(1) cluster(2)"), "line 1, k: grid x is 3; it must be a multiple of the cluster's 2");
  EXPECT_EQ(Failure("(X) grid(8, 8) block(1) cluster(8, 8)"), "line 1, k: a cluster has 64 blocks; at most 16 are possible");
  EXPECT_EQ(Failure("(X) grid(1) block(1) shared(-1)"), "line 1, k: shared is -1 bytes; it must be 0 to 2147483647");
}

TEST(LaunchPlan, WrongExpressionsAndNamesAreFailures) {
  EXPECT_EQ(Failure("(X) grid(1 / (S - 100)) block(1)"), "line 1, k: expression '1 / (S - 100)', column 3: division by zero");
  EXPECT_EQ(Failure("(X) grid(scale) block(1)"), "line 1, k: expression 'scale': an integer is wanted, and this is 0.25");
  EXPECT_EQ(Failure("(Z) grid(1) block(1)"),
            "line 1, k: argument 'Z' is neither an argument of the task nor a workspace nor an expression: expression 'Z', "
            "column 1: nothing is named 'Z'");
  EXPECT_EQ(Failure("(scale * 2) grid(1) block(1)"),
            "line 1, k: argument 'scale * 2' is a real number; only a scalar of the task can pass one");
  EXPECT_EQ(Failure("(1 << 31) grid(1) block(1)"), "line 1, k: argument '1 << 31' is 2147483648, which does not fit an int");
  EXPECT_EQ(Failure("(X) grid(1) block(1) when(S == 0)"), "nothing is launched: when(..) is zero on every launch line");
}

TEST(LaunchPlan, BuffersAreCheckedByRoleAndName) {
  const auto failure = [](const std::string& line) {
    return std::get<PlanFailure>(Plan(line + "\n// evo:launch k(X) grid(1) block(1)\n")).message;
  };
  EXPECT_EQ(failure("// evo:memset X 0"), "line 1: evo:memset: 'X' is neither a workspace nor an output");
  EXPECT_EQ(failure("// evo:workspace Y f32 [S]"), "the workspace 'Y' has the name of a size, an argument or a parameter");
  EXPECT_EQ(failure("// evo:workspace w f32 [S - 100]"), "argument 'w': its dimension 'S - 100' is 0");
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(Plan("// evo:memset Y 0\n// evo:launch k(Y) grid(1) block(1)\n")));
  const auto shadowing = Plan("// evo:launch k(X) grid(1) block(1)\n", {{"S", 1}});
  EXPECT_EQ(std::get<PlanFailure>(shadowing).message, "the parameter 'S' has the name of a size, an argument or a parameter");
}

}  // namespace
}  // namespace evo
