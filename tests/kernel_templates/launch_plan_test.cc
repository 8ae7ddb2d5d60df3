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

std::string PlanFailureText(const std::string& launch) {
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
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(1)"), "");
  EXPECT_EQ(PlanFailureText("(X) grid(S - 100) block(1)"), "line 1, k: grid x is 0; it must be 1 to 2147483647");
  EXPECT_EQ(PlanFailureText("(X) grid(1, 65536) block(1)"), "line 1, k: grid y is 65536; it must be 1 to 65535");
  EXPECT_EQ(PlanFailureText("(X) grid(1, 65535, 65535) block(1)"), "");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(1025)"), "line 1, k: block x is 1025; it must be 1 to 1024");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(64, 32)"), "line 1, k: a block has 2048 threads; at most 1024 are possible");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(1, 1, 65)"), "line 1, k: block z is 65; it must be 1 to 64");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(0)"), "line 1, k: block x is 0; it must be 1 to 1024");
  EXPECT_EQ(PlanFailureText("(X) grid(3) block(1) cluster(2)"),
            "line 1, k: grid x is 3; it must be a multiple of the cluster's 2");
  EXPECT_EQ(PlanFailureText("(X) grid(8, 8) block(1) cluster(8, 8)"),
            "line 1, k: a cluster has 64 blocks; at most 16 are possible");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(1) shared(-1)"), "line 1, k: shared is -1 bytes; it must be 0 to 2147483647");
}

TEST(LaunchPlan, WrongExpressionsAndNamesAreFailures) {
  EXPECT_EQ(PlanFailureText("(X) grid(1 / (S - 100)) block(1)"),
            "line 1, k: expression '1 / (S - 100)', column 3: division by zero");
  EXPECT_EQ(PlanFailureText("(X) grid(scale) block(1)"), "line 1, k: expression 'scale': an integer is wanted, and this is 0.25");
  EXPECT_EQ(PlanFailureText("(Z) grid(1) block(1)"),
            "line 1, k: argument 'Z' is neither an argument of the task nor a workspace nor an expression: expression 'Z', "
            "column 1: nothing is named 'Z'");
  EXPECT_EQ(PlanFailureText("(scale * 2) grid(1) block(1)"),
            "line 1, k: argument 'scale * 2' is a real number, and expressions are passed as int; write f32(scale * 2)");
  EXPECT_EQ(PlanFailureText("(1 << 31) grid(1) block(1)"),
            "line 1, k: argument '1 << 31' is 2147483648, which does not fit an int; write i64(1 << 31) if the kernel takes one");
  EXPECT_EQ(PlanFailureText("(X) grid(1) block(1) when(S == 0)"),
            "nothing is launched: when(..) is zero on every launch line, or a loop has no iteration");
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

std::string PlanFailureOf(const std::string& directives) {
  const auto plan = Plan(directives);
  return std::holds_alternative<PlanFailure>(plan) ? std::get<PlanFailure>(plan).message : "";
}

TEST(LaunchPlan, PassesCastsAndStructsByValue) {
  const auto result = Plan("// evo:launch k(i64(S * D), bool(S > 1), f32(1 / 4.0), {X, scale, S, u8(3)}) grid(1) block(32)\n");
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result)) << std::get<PlanFailure>(result).message;
  const auto& arguments = std::get<PlannedLaunch>(std::get<LaunchPlan>(result).steps.at(0)).arguments;
  EXPECT_THAT(arguments, ElementsAre(LaunchArgument(ScalarUse{Dtype::kI64, Number::Integer(1600)}),
                                     LaunchArgument(ScalarUse{Dtype::kU8, Number::Integer(1)}),
                                     LaunchArgument(ScalarUse{Dtype::kF32, Number::Real(0.25)}),
                                     LaunchArgument(StructUse{{BufferUse{"X"}, ScalarUse{Dtype::kF32, Number::Real(0.25)},
                                                               ScalarUse{Dtype::kI32, Number::Integer(100)},
                                                               ScalarUse{Dtype::kU8, Number::Integer(3)}}})));
  EXPECT_EQ(PlanFailureText("({X, {S}}) grid(1) block(1)"),
            "line 1, k: '{X, {S}}': a struct in a struct; write the fields of the inner one in its place");
  EXPECT_EQ(PlanFailureText("({}) grid(1) block(1)"), "line 1, k: '{}': a struct without fields");
}

TEST(LaunchPlan, FillsConstantsFromInputsAndScalars) {
  const auto result = Plan("// evo:constant w = X\n// evo:constant a::s = count\n// evo:launch k(Y) grid(1) block(1)\n");
  const auto& constants = std::get<LaunchPlan>(result).constants;
  ASSERT_EQ(constants.size(), 2U);
  EXPECT_EQ(constants[0].variable, "w");
  EXPECT_EQ(std::get<BufferUse>(constants[0].source).name, "X");
  EXPECT_EQ(constants[0].bytes, 3200U);
  EXPECT_EQ(std::get<ScalarUse>(constants[1].source), (ScalarUse{Dtype::kU64, Number::Integer(1600)}));
  EXPECT_EQ(PlanFailureOf("// evo:constant w = Y\n// evo:launch k(Y) grid(1) block(1)\n"),
            "line 1: evo:constant w: 'Y' is neither an input nor a scalar of the task");
}

TEST(LaunchPlan, MayNotSayThatFewerElementsAreComparedThanAre) {
  const std::string launch = "\n// evo:launch k(Y) grid(1) block(1)\n";
  EXPECT_EQ(PlanFailureOf("// evo:counted Y S" + launch), "");
  EXPECT_EQ(PlanFailureOf("// evo:counted Y 0" + launch),
            "line 1: evo:counted Y: the task compares 100 elements of it, not 0; its \"counted\" must say so, too");
  EXPECT_EQ(PlanFailureOf("// evo:counted X 0" + launch), "line 1: evo:counted X: it is no output of the task");
}

// "X" and "S": the names of buffers and the values of scalars that the launches get, in order.
std::vector<std::string> ArgumentsOf(const std::variant<LaunchPlan, PlanFailure>& plan) {
  std::vector<std::string> all;
  for (const auto& step : std::get<LaunchPlan>(plan).steps) {
    std::string one;
    for (const LaunchArgument& argument : std::get<PlannedLaunch>(step).arguments) {
      const auto* buffer = std::get_if<BufferUse>(&argument);
      one += (buffer != nullptr ? buffer->name : std::to_string(std::get<ScalarUse>(argument).value.integer)) + " ";
    }
    all.push_back(one);
  }
  return all;
}

TEST(LaunchPlan, RepeatsAndSwaps) {
  const std::string head = "// evo:workspace a f32 [S]\n// evo:workspace b f32 [S]\n";
  const std::string loop = "// evo:repeat T < 3\n// evo:launch step(a, b, T) grid(1) block(1)\n// evo:swap a b\n// evo:end\n";
  EXPECT_THAT(ArgumentsOf(Plan(head + loop + "// evo:launch last(a, Y) grid(1) block(1)\n")),
              ElementsAre("a b 0 ", "b a 1 ", "a b 2 ", "b Y "));
  EXPECT_THAT(ArgumentsOf(Plan(head + "// evo:repeat I < 2\n" + loop + "// evo:launch odd(I, a) grid(1) block(1) when(I % 2)\n" +
                               "// evo:end\n")),
              ElementsAre("a b 0 ", "b a 1 ", "a b 2 ", "b a 0 ", "a b 1 ", "b a 2 ", "1 a "));
  EXPECT_EQ(PlanFailureOf(head + "// evo:repeat S < 3\n// evo:launch k(a) grid(1) block(1)\n// evo:end\n"),
            "line 3: the name of a step 'S' has the name of a size, an argument or a parameter");
  EXPECT_EQ(PlanFailureOf(head + "// evo:repeat T < 401\n// evo:launch k(a) grid(1) block(1)\n// evo:end\n"),
            "line 3: evo:repeat: the count is 401; it must be 0 to 400");
  EXPECT_EQ(PlanFailureOf(head + "// evo:repeat T < 400\n// evo:memset a 0\n// evo:launch k(a) grid(1) block(1)\n// evo:end\n"),
            "line 4: more than 400 launches and memsets with those of loops; repeat fewer times");
  EXPECT_EQ(PlanFailureOf(head + "// evo:repeat T < 2\n// evo:swap a X\n// evo:launch k(a) grid(1) block(1)\n// evo:end\n"),
            "line 4: evo:swap: 'X' is neither a workspace nor an output, which kernels may write");
  EXPECT_EQ(PlanFailureOf(head + "// evo:repeat T < 2\n// evo:swap a Y\n// evo:launch k(a) grid(1) block(1)\n// evo:end\n"),
            "line 4: evo:swap: a has 100 elements of f32, Y has 100 of f16; both must be the same");
}

}  // namespace
}  // namespace evo
