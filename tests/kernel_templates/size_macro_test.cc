#include "kernel_templates/size_macro.h"

#include <gmock/gmock.h>

#include <string>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/launch_plan.h"
#include "kernel_templates/task.h"
#include "tests/kernel_templates/failure.h"
#include "tests/kernel_templates/template_folder.h"

namespace evo {
namespace {

using testing::HasSubstr;

constexpr const char* kSizedTask = R"json({
  "name": "t", "summary": "s", "sizes": ["W", "H"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["H", "W"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["H", "W"], "check": "exact"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"W": 100, "H": 16}},
    "search": [{"name": "a", "sizes": {"W": 1, "H": 1}}], "search_cpu": [{"name": "b", "sizes": {"W": 1, "H": 1}}],
    "held_out": [{"name": "c", "sizes": {"W": 1, "H": 1}}], "held_out_cpu": [{"name": "d", "sizes": {"W": 1, "H": 1}}]
  },
  "baseline": "k", "bytes": 1, "operations": 1
})json";

constexpr const char* kTemplate = R"(// evo:size WIDTH = W
// evo:size TILES = ceil_div(H, 8)
// evo:launch k(X, Y) grid(ceil_div(WIDTH, 16), TILES) block(16, 8)
#ifndef WIDTH
#define WIDTH 1024  // columns
#endif
#ifndef TILES
#define TILES 1
#endif
)";

std::variant<LaunchPlan, PlanFailure> PlanOf(const std::string& text) {
  const Task task = ParseTask(kSizedTask, "// evo:launch reference(X, Y) grid(1) block(32)\n", "t");
  return PlanLaunches(ParseTemplate("k", text), {}, task, task.small);
}

std::string SizeFailure(const std::string& text) {
  return UsageFailure([&] { ParseTemplate("t", text + "\n// evo:launch k(X) grid(1) block(1)\n"); });
}

std::string Block(const std::string& name) { return "\n#ifndef " + name + "\n#define " + name + " 8\n#endif\n"; }

std::string PlanFailureOf(const std::string& directives, const std::string& name) {
  const auto plan = PlanOf(directives + Block(name) + "// evo:launch k(X, Y) grid(1) block(32)\n");
  return std::holds_alternative<PlanFailure>(plan) ? std::get<PlanFailure>(plan).message : "";
}

TEST(SizeMacro, HasAValueForEachCase) {
  const KernelTemplate parsed = ParseTemplate("k", kTemplate);
  ASSERT_EQ(parsed.size_macros.size(), 2U);
  EXPECT_EQ(parsed.size_macros[1].value.text(), "ceil_div(H, 8)");
  EXPECT_TRUE(parsed.space.parameters.empty()) << "it is not tuned";
  const SizeValues values = ValuesFor(parsed.size_macros, {{"W", 100}, {"H", 17}});
  EXPECT_EQ(values, (SizeValues{{"WIDTH", 100}, {"TILES", 3}}));
  EXPECT_EQ(ToText(values), "TILES = 3, WIDTH = 100");
  const std::string rendered = RenderSizes(kTemplate, values);
  EXPECT_THAT(rendered, HasSubstr("#define WIDTH 100  // columns\n"));
  EXPECT_THAT(rendered, HasSubstr("#define TILES 3\n"));
}

TEST(SizeMacro, LaunchLinesKnowIt) {
  const auto plan = PlanOf(kTemplate);
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(plan)) << std::get<PlanFailure>(plan).message;
  EXPECT_THAT(std::get<PlannedLaunch>(std::get<LaunchPlan>(plan).steps[0]).grid, testing::ElementsAre(7, 2, 1));
}

TEST(SizeMacro, MayHaveTheNameOfItsSize) {
  EXPECT_EQ(PlanFailureOf("// evo:size W = W", "W"), "");
  EXPECT_EQ(PlanFailureOf("// evo:size W", "W"), "") << "short for the same";
  EXPECT_EQ(PlanFailureOf("// evo:size N", "N"), "line 1: evo:size N: 'N' is not a size of the task");
  EXPECT_EQ(PlanFailureOf("// evo:size W = H", "W"),
            "line 1: evo:size W: the task has a size of this name, which is 100, not 16");
  EXPECT_EQ(PlanFailureOf("// evo:size X = W", "X"), "the size macro 'X' has the name of a size, an argument or a parameter");
}

TEST(SizeMacro, BadLinesSayLineAndReason) {
  constexpr const char* kExpected =
      "t.cu:1: evo:size: 'NAME = EXPR' expected, EXPR of the task's sizes, or the NAME of a size alone";
  EXPECT_EQ(SizeFailure("// evo:size"), kExpected);
  EXPECT_EQ(SizeFailure("// evo:size N W"), kExpected);
  EXPECT_EQ(SizeFailure("// evo:size N ="), kExpected);
  EXPECT_EQ(SizeFailure("// evo:size 2N = W"), kExpected);
  EXPECT_EQ(SizeFailure("// evo:size N = W +"), "t.cu:1: expression 'W +', column 4: a value expected, found the end");
  EXPECT_EQ(SizeFailure("// evo:size N = W\n// evo:size N = H" + Block("N")), "t.cu:2: evo:size N: declared twice");
  EXPECT_EQ(SizeFailure("// evo:param N 8\n// evo:size N = H" + Block("N")), "t.cu:2: evo:size N: declared twice");
  EXPECT_EQ(SizeFailure("// evo:size N = H\n// evo:param N 8" + Block("N")), "t.cu:2: evo:param N: declared twice");
  EXPECT_EQ(SizeFailure("// evo:size N = W"),
            "t.cu:1: evo:size N: its lines '#ifndef N', '#define N value', '#endif' are missing");
  EXPECT_EQ(SizeFailure("// evo:size N = W" + Block("N") + Block("N")), "t.cu:3: size macro N: defined twice");
  EXPECT_EQ(SizeFailure("// evo:size N = W" + Block("N") + "#include <mma.h>"),
            "t.cu:3: size macro N: defined before the #include on line 5; includes come first");
  EXPECT_EQ(PlanFailureOf("// evo:size N = D", "N"), "line 1: evo:size N: 'D' is not a size of the task");
  EXPECT_EQ(PlanFailureOf("// evo:size N = W / (H - 16)", "N"),
            "line 1: evo:size N: expression 'W / (H - 16)', column 3: division by zero");
  EXPECT_EQ(SizeFailure("// evo:constraint N > 1\n// evo:size N = W" + Block("N")),
            "t.cu:1: evo:constraint: 'N' is not a parameter of this template");
}

TEST(SizeMacro, IsFoundByItsNameAlone) {
  EXPECT_TRUE(IsSizeMacro(kTemplate, "WIDTH"));
  EXPECT_FALSE(IsSizeMacro(kTemplate, "WID"));
  EXPECT_FALSE(IsSizeMacro(kTemplate, "W"));
  EXPECT_FALSE(IsSizeMacro(kTemplate, "X"));
  EXPECT_TRUE(IsSizeMacro("// evo:size  W \n", "W"));
  EXPECT_FALSE(IsSizeMacro("// evo:size  WIDTH\n", "W"));
}

TEST(SizeMacro, RenderingNeedsItsLines) { EXPECT_THROW(RenderSizes("int x;\n", {{"WIDTH", 1}}), Error); }

class SizeMacroVariant : public TemplateFolder {};

TEST_F(SizeMacroVariant, AVariantCannotFixIt) {
  Write("base/k.cu", kTemplate);
  EXPECT_THAT(Failure("bad/k.cu", "#define WIDTH 7\n#include \"../base/k.cu\"\n"),
              HasSubstr("k.cu:1: WIDTH: an evo:size of the included file, which has a value in each case; leave this line out"));
}

}  // namespace
}  // namespace evo
