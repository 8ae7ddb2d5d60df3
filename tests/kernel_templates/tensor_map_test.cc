#include "kernel_templates/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/launch_plan.h"

namespace evo {
namespace {

using testing::ElementsAre;

std::string ParseFailure(const std::string& text) {
  try {
    ParseTensorMap(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorMap, IsParsed) {
  const TensorMapDirective map = ParseTensorMap("K_map = K dims(D, S, H * B) box(64, BLOCK_N, 1) swizzle(128)");
  EXPECT_EQ(map.name, "K_map");
  EXPECT_EQ(map.buffer, "K");
  ASSERT_EQ(map.dims.size(), 3u);
  EXPECT_EQ(map.dims[2].text(), "H * B");
  EXPECT_EQ(map.box[1].text(), "BLOCK_N");
  EXPECT_EQ(map.swizzle.text(), "128");
  EXPECT_EQ(ParseTensorMap("m=X dims(8) box(8)").swizzle.text(), "0");
  EXPECT_EQ(ParseTensorMap("m=X dims(8) box(8)").dtype, std::nullopt);
  EXPECT_EQ(ParseTensorMap("m=X type(u32) dims(8) box(8)").dtype, Dtype::kU32);
}

TEST(TensorMap, MalformedLinesSayWhy) {
  const std::string form = "'NAME = BUFFER dims(..) box(..)' expected";
  EXPECT_EQ(ParseFailure(""), form);
  EXPECT_EQ(ParseFailure("K_map K dims(8) box(8)"), form);
  EXPECT_EQ(ParseFailure("= K dims(8) box(8)"), form);
  EXPECT_EQ(ParseFailure("m = K box(8)"), "dims(..) and box(..) need equally many values, and they have 0 and 1");
  EXPECT_EQ(ParseFailure("m = K dims(8, 8) box(8)"), "dims(..) and box(..) need equally many values, and they have 2 and 1");
  EXPECT_EQ(ParseFailure("m = K dims() box(8)"), "dims(..) takes 1 to 5 values, not 0");
  EXPECT_EQ(ParseFailure("m = K dims(1, 2, 3, 4, 5, 6) box(8)"), "dims(..) takes 1 to 5 values, not 6");
  EXPECT_EQ(ParseFailure("m = K dims(8) box(8) swizzle(32, 64)"), "swizzle(..) takes one value, not 2");
  EXPECT_EQ(ParseFailure("m = K dims(8) box(8) strides(2)"),
            "no clause 'strides'; there are dims(..), box(..), swizzle(..), type(..)");
  EXPECT_EQ(ParseFailure("m = K type(word) dims(8) box(8)"), "no dtype 'word'");
  EXPECT_EQ(ParseFailure("m = K dims(8) dims(8) box(8)"), "'dims' is given twice");
  EXPECT_EQ(ParseFailure("m = K dims(8 box(8)"), "'(8 box(8)' is never closed by ')'");
}

// The failure of planning a map of a buffer with 64 x 100 elements.
std::string PlanFailureOf(const std::string& clauses, Dtype dtype = Dtype::kF16) {
  try {
    PlanTensorMap(ParseTensorMap("m = K " + clauses), dtype, 6400, {{"D", Number::Integer(64)}});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorMap, IsPlanned) {
  const TensorMapUse use = PlanTensorMap(ParseTensorMap("m = K dims(D, 100, 1) box(D, 32, 1) swizzle(128)"), Dtype::kBF16, 6400,
                                         {{"D", Number::Integer(64)}});
  EXPECT_EQ(use.name, "m");
  EXPECT_EQ(use.buffer, "K");
  EXPECT_EQ(use.dtype, Dtype::kBF16);
  EXPECT_THAT(use.dims, ElementsAre(64u, 100u, 1u));
  EXPECT_THAT(use.box, ElementsAre(64u, 32u, 1u));
  EXPECT_EQ(use.swizzle, 128u);
}

TEST(TensorMap, MapsThatTheDriverRejectsAreFailures) {
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(64, 256)"), "");
  EXPECT_EQ(PlanFailureOf("dims(D, 101) box(64, 8)"), "dims go past the 6400 elements of 'K'");
  EXPECT_EQ(PlanFailureOf("dims(D, 1 << 32, 1 << 32) box(64, 8, 1)"), "dims go past the 6400 elements of 'K'");
  EXPECT_EQ(PlanFailureOf("dims(D, 0) box(64, 8)"), "dims '0' is 0; it must be 1 to 4294967296");
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(64, 257)"), "box '257' is 257; it must be 1 to 256");
  EXPECT_EQ(PlanFailureOf("dims(63, 100) box(8, 8)"), "a row has 126 bytes; it must be a multiple of 16");
  EXPECT_EQ(PlanFailureOf("dims(63) box(8)"), "");
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(4, 8)"), "a row of the box has 8 bytes; it must be a multiple of 16");
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(64, 8) swizzle(64)"), "a row of the box has 128 bytes, more than the swizzle's 64");
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(64, 8) swizzle(16)"), "swizzle is 16 bytes; it must be 0, 32, 64 or 128");
  EXPECT_EQ(PlanFailureOf("dims(D, 100) box(64, 8)", Dtype::kI8), "") << "mapped as u8";
  EXPECT_EQ(PlanFailureOf("type(u32) dims(D, 50) box(32, 8) swizzle(128)"), "");
  EXPECT_EQ(PlanFailureOf("type(u32) dims(D, 51) box(32, 8)"), "dims go past the 6400 elements of 'K'");
  EXPECT_EQ(PlanFailureOf("dims(N, 100) box(64, 8)"), "expression 'N', column 1: nothing is named 'N'");
}

constexpr const char* kTask = R"json({
  "name": "t", "summary": "s", "sizes": ["S"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f16", "shape": ["S", 64], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f16", "shape": ["S"], "check": "exact"},
    {"name": "scale", "role": "scalar", "dtype": "f32", "value": "1"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"S": 100}}, "search": [{"name": "a", "sizes": {"S": 1}}],
    "search_cpu": [{"name": "b", "sizes": {"S": 1}}], "held_out": [{"name": "c", "sizes": {"S": 1}}],
    "held_out_cpu": [{"name": "d", "sizes": {"S": 1}}]
  },
  "baseline": "naive", "bytes": 1, "operations": 1
})json";

std::variant<LaunchPlan, PlanFailure> Plan(const std::string& map) {
  const Task task = ParseTask(kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t");
  const std::string text = "// evo:workspace w f32 [S, 8]\n" + map + "\n// evo:launch k(m, X, S) grid(8) block(128) cluster(2)\n";
  return PlanLaunches(ParseTemplate("k", text), {}, task, task.small);
}

TEST(TensorMap, IsAnArgumentOfALaunch) {
  const auto plan = Plan("// evo:tensormap m = X dims(64, S) box(64, 32) swizzle(128)");
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(plan)) << std::get<PlanFailure>(plan).message;
  const auto& launch = std::get<PlannedLaunch>(std::get<LaunchPlan>(plan).steps.at(0));
  EXPECT_EQ(std::get<TensorMapUse>(launch.arguments.at(0)), (TensorMapUse{"m", "X", Dtype::kF16, {64, 100}, {64, 32}, 128}));
  EXPECT_EQ(std::get<BufferUse>(launch.arguments.at(1)).name, "X");
  EXPECT_THAT(launch.cluster, ElementsAre(2u, 1u, 1u));
  const auto of_workspace = Plan("// evo:tensormap m = w dims(8, S) box(8, 32)");
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(of_workspace));
  const auto& second = std::get<PlannedLaunch>(std::get<LaunchPlan>(of_workspace).steps.at(0));
  EXPECT_EQ(std::get<TensorMapUse>(second.arguments.at(0)).dtype, Dtype::kF32);
}

TEST(TensorMap, AMapThatIsWrongFailsThePlan) {
  const auto failure = [](const std::string& map) { return std::get<PlanFailure>(Plan(map)).message; };
  EXPECT_EQ(failure("// evo:tensormap m = Z dims(8) box(8)"),
            "line 3, k: tensor map m: 'Z' is neither an argument nor a workspace");
  EXPECT_EQ(failure("// evo:tensormap m = scale dims(8) box(8)"),
            "line 3, k: tensor map m: 'scale' is neither an argument nor a workspace");
  EXPECT_EQ(failure("// evo:tensormap m = X dims(64, S + 1) box(64, 32)"),
            "line 3, k: tensor map m: dims go past the 6400 elements of 'X'");
}

TEST(CompilesFor, LaterArchitecturesUnlessTheSuffixForbidsIt) {
  EXPECT_TRUE(CompilesFor("", "sm_75"));
  EXPECT_TRUE(CompilesFor("sm_80", "sm_80"));
  EXPECT_TRUE(CompilesFor("sm_80", "sm_90a"));
  EXPECT_TRUE(CompilesFor("sm_90", "sm_103a"));
  EXPECT_FALSE(CompilesFor("sm_80", "sm_75"));
  EXPECT_FALSE(CompilesFor("sm_100", "sm_90a"));
  EXPECT_TRUE(CompilesFor("sm_90a", "sm_90a"));
  EXPECT_FALSE(CompilesFor("sm_90a", "sm_90"));
  EXPECT_FALSE(CompilesFor("sm_90a", "sm_100a"));
  EXPECT_TRUE(CompilesFor("sm_100f", "sm_103a"));
  EXPECT_FALSE(CompilesFor("sm_100f", "sm_103"));
  EXPECT_FALSE(CompilesFor("sm_100f", "sm_120a"));
  EXPECT_FALSE(CompilesFor("sm_103f", "sm_100a"));
}

}  // namespace
}  // namespace evo
