#include "kernel_templates/kernel_template.h"

#include <gmock/gmock.h>

#include <string>

#include "core/digest.h"
#include "tests/kernel_templates/failure.h"

namespace evo {
namespace {

using testing::ElementsAre;

constexpr const char* kSplit = R"(// evo:param BLOCK_M 16 32 64
// evo:param SPLITS 1 2 4
// evo:constraint BLOCK_M * SPLITS <= 128
// evo:workspace partial f32 [B, SPLITS, S]
// evo:requires sm_90a
// evo:memset partial 0
// evo:launch split<BLOCK_M, (SPLITS > 1)>(Q, partial, S) grid(ceil_div(S, BLOCK_M), H * SPLITS, B) \
//   block(32, 4) shared(2 * BLOCK_M) cluster(1, 2)
// evo:launch combine(partial, O, min(S, 4)) grid(S) block(64) cooperative when(SPLITS > 1)
#include <cuda_fp16.h>
#ifndef BLOCK_M
#define BLOCK_M 32   // rows
#endif
#ifndef SPLITS
#define SPLITS 2
#endif
)";

TEST(Template, ParsesEveryDirective) {
  const KernelTemplate parsed = ParseTemplate("split", kSplit);
  EXPECT_EQ(parsed.name, "split");
  EXPECT_EQ(parsed.text, kSplit);
  EXPECT_EQ(parsed.digest, Digest(kSplit));
  ASSERT_EQ(parsed.space.parameters.size(), 2u);
  EXPECT_THAT(parsed.space.parameters[0].values, ElementsAre(16, 32, 64));
  EXPECT_EQ(parsed.space.Defaults(), (Parameters{{"BLOCK_M", 32}, {"SPLITS", 2}}));
  EXPECT_EQ(parsed.space.constraints.at(0).text(), "BLOCK_M * SPLITS <= 128");
  ASSERT_EQ(parsed.workspaces.size(), 1u);
  EXPECT_EQ(parsed.workspaces[0].name, "partial");
  EXPECT_EQ(parsed.workspaces[0].dtype, Dtype::kF32);
  EXPECT_EQ(parsed.workspaces[0].shape.size(), 3u);
  EXPECT_EQ(parsed.required_arch, "sm_90a");
  ASSERT_EQ(parsed.steps.size(), 3u);
  EXPECT_EQ(parsed.steps[0].memset->buffer, "partial");
  EXPECT_EQ(parsed.steps[0].memset->line, 6);
}

TEST(Template, ParsesConstantsAndLoops) {
  const KernelTemplate parsed = ParseTemplate("t",
                                              "// evo:constant filters::w = F\n"
                                              "// evo:repeat T < STEPS / 2\n"
                                              "// evo:launch jacobi::step<float>(a, b, T) grid(1) block(32)\n"
                                              "// evo:swap a b\n"
                                              "// evo:end\n");
  ASSERT_EQ(parsed.constants.size(), 1U);
  EXPECT_EQ(parsed.constants[0].variable, "filters::w");
  EXPECT_EQ(parsed.constants[0].argument, "F");
  EXPECT_EQ(parsed.constants[0].line, 1);
  ASSERT_EQ(parsed.steps.size(), 3U);
  EXPECT_EQ(parsed.steps[0].repeat->step, "T");
  EXPECT_EQ(parsed.steps[0].repeat->count.text(), "STEPS / 2");
  ASSERT_EQ(parsed.steps[0].repeat->swaps.size(), 1U);
  EXPECT_EQ(parsed.steps[0].repeat->swaps[0].second, "b");
  EXPECT_EQ(parsed.steps[1].launch->kernel, "jacobi::step");
  EXPECT_EQ(parsed.steps[1].launch->kernel_expression, "jacobi::step<float>");
  EXPECT_TRUE(parsed.steps[2].end);
}

TEST(Template, ParsesLaunchLines) {
  const KernelTemplate parsed = ParseTemplate("split", kSplit);
  const LaunchDirective& first = *parsed.steps.at(1).launch;
  EXPECT_EQ(first.kernel, "split");
  EXPECT_EQ(first.kernel_expression, "split<BLOCK_M, (SPLITS > 1)>");
  EXPECT_THAT(first.arguments, ElementsAre("Q", "partial", "S"));
  EXPECT_EQ(first.grid.size(), 3u);
  EXPECT_EQ(first.grid[0].text(), "ceil_div(S, BLOCK_M)");
  EXPECT_EQ(first.block.size(), 2u);
  EXPECT_EQ(first.shared.text(), "2 * BLOCK_M");
  EXPECT_EQ(first.cluster.size(), 3u);
  EXPECT_FALSE(first.cooperative);
  EXPECT_FALSE(first.when.has_value());
  EXPECT_EQ(first.line, 7);
  const LaunchDirective& second = *parsed.steps.at(2).launch;
  EXPECT_THAT(second.arguments, ElementsAre("partial", "O", "min(S, 4)"));
  EXPECT_EQ(second.shared.text(), "0");
  EXPECT_TRUE(second.cooperative);
  EXPECT_EQ(second.when->text(), "SPLITS > 1");
}

// The failure of a template in which only the given line can be wrong.
std::string FailureWith(const std::string& line) {
  const std::string text = line + "\n// evo:launch k(X) grid(1) block(32)\n";
  return UsageFailure([&] { ParseTemplate("t", text); });
}

TEST(Template, MalformedDirectivesSayLineAndReason) {
  EXPECT_EQ(FailureWith(""), "");
  EXPECT_EQ(FailureWith("// evo:parm N 1"),
            "t.cu:1: no directive 'evo:parm'; there are param, size, constraint, workspace, counted, tensormap, constant, "
            "launch, memset, repeat, swap, end, requires");
  EXPECT_EQ(FailureWith("// evo:counted Y"),
            "t.cu:1: evo:counted: 'NAME EXPR' expected, NAME an output of the task and EXPR how many of its elements are "
            "compared");
  EXPECT_EQ(FailureWith("// evo:counted Y 0\n// evo:counted Y 1"), "t.cu:2: evo:counted Y: declared twice");
  EXPECT_EQ(FailureWith("// evo:constant SYM X"),
            "t.cu:1: evo:constant: 'VARIABLE = ARGUMENT' expected, ARGUMENT an input or a scalar of the task");
  EXPECT_EQ(FailureWith("// evo:constant S = X\n// evo:constant S = Y"), "t.cu:2: evo:constant S: filled twice");
  EXPECT_EQ(FailureWith("// evo:repeat T < 4"), "t.cu:1: evo:repeat: no evo:end line follows");
  EXPECT_EQ(FailureWith("// evo:repeat 4"),
            "t.cu:1: evo:repeat: 'STEP < COUNT' expected, STEP a new name and COUNT an expression");
  EXPECT_EQ(FailureWith("// evo:repeat T < 4\n// evo:repeat T < 2\n// evo:end\n// evo:end"),
            "t.cu:2: evo:repeat: 'T' is the name of the loop around it");
  EXPECT_EQ(FailureWith("// evo:swap a b"), "t.cu:1: evo:swap: outside of a loop; it belongs between evo:repeat and evo:end");
  EXPECT_EQ(FailureWith("// evo:repeat T < 4\n// evo:swap a\n// evo:end"),
            "t.cu:2: evo:swap: 'A B' expected, two buffers of equal dtype and shape");
  EXPECT_EQ(FailureWith("// evo:end"), "t.cu:1: evo:end: no evo:repeat before it");
  EXPECT_EQ(FailureWith("\n// evo:tensormap tm = X box(1)"),
            "t.cu:2: evo:tensormap: dims(..) and box(..) need equally many values, and they have 0 and 1");
  EXPECT_EQ(FailureWith("// evo:tensormap tm = X dims(8) box(8)\n// evo:tensormap tm = X dims(8) box(8)"),
            "t.cu:2: evo:tensormap tm: declared twice");
  EXPECT_EQ(FailureWith("int x;  // evo:param N 1"),
            "t.cu:1: a directive needs a line of its own; move it there, or break up 'evo:'");
  EXPECT_EQ(FailureWith("// evo:param N"), "t.cu:1: evo:param: 'NAME value value ...' expected");
  EXPECT_EQ(FailureWith("// evo:param N 1 x"), "t.cu:1: evo:param N: 'x' is not an integer");
  EXPECT_EQ(FailureWith("// evo:param N 2 1"), "t.cu:1: evo:param N: 1 follows 2; values must ascend");
  EXPECT_EQ(FailureWith("// evo:param N 1\n// evo:param N 1"), "t.cu:2: evo:param N: declared twice");
  EXPECT_EQ(FailureWith("// evo:constraint N > 1"), "t.cu:1: evo:constraint: 'N' is not a parameter of this template");
  EXPECT_EQ(FailureWith("// evo:constraint 1 >"), "t.cu:1: expression '1 >', column 4: a value expected, found the end");
  EXPECT_EQ(FailureWith("// evo:constraint 1 > 2"), "t.cu:1: evo:constraint: the default values do not meet '1 > 2'");
  EXPECT_EQ(FailureWith("// evo:workspace w f32"), "t.cu:1: evo:workspace: 'NAME dtype [size, ...]' expected");
  EXPECT_EQ(FailureWith("// evo:workspace w float [S]"), "t.cu:1: evo:workspace w: no dtype 'float'");
  EXPECT_EQ(FailureWith("// evo:workspace w f32 []"), "t.cu:1: evo:workspace w: at least one size expected");
  EXPECT_EQ(FailureWith("// evo:memset w 256"), "t.cu:1: evo:memset: 'NAME value' expected, value a byte from 0 to 255");
  EXPECT_EQ(FailureWith("// evo:requires sm_80\n// evo:requires sm_90a"),
            "t.cu:2: evo:requires: sm_80 and sm_90a; one architecture expected");
  EXPECT_EQ(FailureWith("// evo:requires 80"), "t.cu:1: evo:requires: an architecture such as sm_80 expected, not '80'");
  EXPECT_EQ(FailureWith("// evo:requires sm_80 \\"),
            "t.cu:2: the line before ends in a backslash, so this one must continue with '// ...'");
}

TEST(Template, MalformedLaunchLinesSayLineAndReason) {
  EXPECT_EQ(FailureWith("// evo:launch k"), "t.cu:1: '(' with the arguments expected after 'k'");
  EXPECT_EQ(FailureWith("// evo:launch (X)"), "t.cu:1: the kernel's name expected at '(X)'");
  EXPECT_EQ(FailureWith("// evo:launch k(X grid(1)"), "t.cu:1: '(X grid(1)' is never closed by ')'");
  EXPECT_EQ(FailureWith("// evo:launch k(X) grid(1)"), "t.cu:1: evo:launch k: no block(..)");
  EXPECT_EQ(FailureWith("// evo:launch k(X,) grid(1) block(1)"), "t.cu:1: evo:launch k: an argument is empty");
  EXPECT_EQ(FailureWith("// evo:launch k(X) grid(1) grid(1)"), "t.cu:1: 'grid' is given twice");
  EXPECT_EQ(FailureWith("// evo:launch k(X) grid(1, 2, 3, 4)"), "t.cu:1: evo:launch k: grid(..) takes 1 to 3 values, not 4");
  EXPECT_EQ(FailureWith("// evo:launch k(X) grid(1) block(1) shared()"),
            "t.cu:1: evo:launch k: shared(..) takes 1 values, not 0");
  EXPECT_EQ(
      FailureWith("// evo:launch k(X) grid(1) block(1) stream(2)"),
      "t.cu:1: evo:launch k: no clause 'stream'; there are grid(..), block(..), shared(..), cluster(..), when(..), cooperative");
  EXPECT_EQ(FailureWith("// evo:launch k(X) grid(1) block(1,)"),
            "t.cu:1: expression '', column 1: a value expected, found the end");
}

TEST(Template, EveryParameterNeedsItsLines) {
  EXPECT_EQ(FailureWith("// evo:param N 1 2"),
            "t.cu:1: evo:param N: its lines '#ifndef N', '#define N value', '#endif' are missing");
  EXPECT_EQ(FailureWith("// evo:param N 1 2\n#ifndef N\n#define N 2\n#endif"), "");
  EXPECT_EQ(FailureWith("// evo:param N 1 2\n#ifndef N\n#define N 3\n#endif"),
            "t.cu:3: parameter N: 3 is not among its values 1, 2");
  EXPECT_EQ(FailureWith("// evo:param N 1 2\n#ifndef N\n#define N 1 + 1\n#endif"),
            "t.cu:1: evo:param N: its lines '#ifndef N', '#define N value', '#endif' are missing");
  EXPECT_EQ(FailureWith("// evo:param N 1 2\n#ifndef N\n#define N 2\n#endif\n#ifndef N\n#define N 2\n#endif"),
            "t.cu:3: parameter N: defined twice");
  EXPECT_EQ(FailureWith("// evo:param N 1 2\n#ifndef N\n#define N 2\n#endif\n#include <mma.h>"),
            "t.cu:3: parameter N: defined before the #include on line 5; includes come first");
  EXPECT_EQ(FailureWith("#ifndef GUARD\n#define GUARD 1\n#endif"), "");
}

TEST(Template, NeedsALaunch) {
  EXPECT_EQ(UsageFailure([] { ParseTemplate("t", "// evo:memset w 0\n"); }),
            "t.cu: no evo:launch line; say how the kernel is launched");
}

TEST(Template, MissingFilesAreErrors) {
  EXPECT_EQ(UsageFailure([] { LoadTemplate("/nowhere/t.cu"); }), "/nowhere/t.cu: cannot be read");
  EXPECT_EQ(UsageFailure([] { LoadTemplates("/nowhere"); }), "/nowhere: No such file or directory");
}

}  // namespace
}  // namespace evo
