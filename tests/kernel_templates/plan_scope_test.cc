#include "kernel_templates/plan_scope.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace evo {
namespace {

constexpr const char* kScopeTask = R"json({
  "name": "t", "summary": "s", "sizes": ["N"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f16", "shape": ["N"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["N", "N"], "check": "exact"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 10}},
    "search": [{"name": "a", "sizes": {"N": 1}}], "search_cpu": [{"name": "b", "sizes": {"N": 1}}],
    "held_out": [{"name": "c", "sizes": {"N": 1}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 1}}]
  },
  "baseline": "naive", "bytes": 1, "operations": 1
})json";

class PlanScopeTest : public testing::Test {
 protected:
  const Task task_ = ParseTask(kScopeTask, "// evo:launch reference(X, Y) grid(N) block(32)\n", "t");
  const KernelTemplate rendered_ =
      ParseTemplate("k", "// evo:workspace w f32 [N, 2]\n// evo:launch k(X, Y, w) grid(1) block(32)\n");
};

TEST_F(PlanScopeTest, KnowsArgumentsAndWorkspaces) {
  const PlanScope scope(rendered_, {}, task_, task_.small);
  ASSERT_NE(scope.FindArgument("Y"), nullptr);
  EXPECT_EQ(scope.ShapeOf(*scope.FindArgument("Y")), (BufferShape{Dtype::kF32, 100}));
  ASSERT_NE(scope.FindWorkspace("w"), nullptr);
  EXPECT_EQ(scope.ShapeOf(*scope.FindWorkspace("w")), (BufferShape{Dtype::kF32, 20}));
  EXPECT_EQ(scope.FindArgument("w"), nullptr);
  EXPECT_EQ(scope.FindWorkspace("Y"), nullptr);
}

TEST_F(PlanScopeTest, RefusesANameThatIsTaken) {
  PlanScope scope(rendered_, {{"B", 8}}, task_, task_.small);
  EXPECT_NO_THROW(scope.CheckNew("i", "step"));
  scope.Set("i", 3);
  for (const char* name : {"i", "B", "N", "X"}) EXPECT_THROW(scope.CheckNew(name, "step"), Error) << name;
  scope.Remove("i");
  EXPECT_NO_THROW(scope.CheckNew("i", "step"));
  EXPECT_THROW(PlanScope(rendered_, {{"N", 8}}, task_, task_.small), Error);
}

TEST_F(PlanScopeTest, RemembersSwaps) {
  PlanScope scope(rendered_, {}, task_, task_.small);
  EXPECT_EQ(scope.Current("w"), "w");
  scope.Swap("Y", "w");
  EXPECT_EQ(scope.Current("w"), "Y");
  EXPECT_EQ(scope.Current("Y"), "w");
  scope.Swap("w", "Z");
  EXPECT_EQ(scope.Current("Z"), "Y");
  EXPECT_EQ(scope.Current("w"), "Z");
}

}  // namespace
}  // namespace evo
