#include "kernel_templates/renderer.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace evo {
namespace {

constexpr const char* kText = R"(// evo:param N 1 2 16
// evo:param M 4 8
// evo:launch k<N>(X, S) grid(ceil_div(S, N)) \
//   block(32 * M)
// evo:launch k(Y) grid(1) block(1) shared(N)
// evo:launch other(X) grid(1) block(1)
#include <cuda_fp16.h>
#include <mma.h>
#ifndef N
#define N 2  // rows
#endif
#ifndef M
#  define M 4
#endif
int n = N;
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(RenderParameters, ReplacesValuesAndMarksTheEndOfTheHeaders) {
  std::string expected = Replaced(kText, "#define N 2 ", "#define N 16 ");
  expected = Replaced(expected, "define M 4", "define M 8");
  expected = Replaced(expected, "#include <mma.h>\n", "#include <mma.h>\n#pragma nv_hdrstop\n");
  EXPECT_EQ(RenderParameters(kText, {{"N", 16}, {"M", 8}}), expected);
}

TEST(RenderParameters, RenderingAgainChangesNothing) {
  const std::string once = RenderParameters(kText, {{"N", 16}, {"M", 8}});
  EXPECT_EQ(RenderParameters(once, {{"N", 16}, {"M", 8}}), once);
  EXPECT_EQ(RenderParameters(once, {{"N", 2}, {"M", 4}}), RenderParameters(kText, {}));
}

TEST(RenderParameters, AddsNoMarkWithoutIncludes) {
  EXPECT_EQ(RenderParameters("int x;\n", {}), "int x;\n");
  EXPECT_EQ(RenderParameters("#include <mma.h>", {}), "#include <mma.h>\n#pragma nv_hdrstop\n");
}

TEST(RenderParameters, TheMarkFollowsAConditionAroundAnInclude) {
  EXPECT_EQ(RenderParameters("#if A\n#include <mma.h>\n#endif\nint x;\n", {}),
            "#if A\n#include <mma.h>\n#endif\n#pragma nv_hdrstop\nint x;\n");
}

TEST(RenderParameters, RejectsUndeclaredParametersAndValues) {
  EXPECT_THROW(RenderParameters(kText, {{"N", 3}}), Error);
  EXPECT_THROW(RenderParameters(kText, {{"Z", 1}}), Error);
  try {
    RenderParameters(kText, {{"N", 3}});
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "parameter N: 3 is not among its values 1, 2, 16");
  }
  EXPECT_THROW(RenderParameters("// evo:param N 1\nint x;\n", {{"N", 1}}), Error);
}

TEST(RenderLaunchChange, ReplacesAFieldInEveryLaunchLineOfTheKernel) {
  const auto changed = RenderLaunchChange(kText, {"k", "block", "64, M"});
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(*changed, Replaced(Replaced(kText, "block(32 * M)", "block(64, M)"), "block(1) shared", "block(64, M) shared"));
}

TEST(RenderLaunchChange, AddsAndRemovesFields) {
  EXPECT_EQ(*RenderLaunchChange(kText, {"other", "cluster", "2"}),
            Replaced(kText, "other(X) grid(1) block(1)", "other(X) grid(1) block(1) cluster(2)"));
  EXPECT_EQ(*RenderLaunchChange(kText, {"other", "template", "N, 3"}), Replaced(kText, "other(X)", "other<N, 3>(X)"));
  EXPECT_EQ(*RenderLaunchChange(kText, {"other", "arguments", "X, N"}), Replaced(kText, "other(X)", "other(X, N)"));
  const std::string without = *RenderLaunchChange(kText, {"k", "template", ""});
  EXPECT_EQ(without, Replaced(kText, "k<N>(X", "k(X"));
  EXPECT_EQ(*RenderLaunchChange(kText, {"other", "shared", ""}), kText);
  EXPECT_EQ(*RenderLaunchChange(kText, {"k<N>", "kernel", "k_of_n"}), Replaced(kText, "k<N>(X", "k_of_n(X"));
  EXPECT_EQ(RenderLaunchChange(kText, {"k<M>", "kernel", "k_of_n"}), std::nullopt) << "it has other template arguments";
}

TEST(RenderLaunchChange, ChangesTheConditionOfEveryLaunch) {
  const std::string text = "// evo:launch a(X) grid(1) block(1)\n// evo:launch a(Y) grid(1) when(N) block(1)\nint x;\n";
  EXPECT_EQ(*RenderLaunchChange(text, {"a", "when", "N % 8"}),
            "// evo:launch a(X) grid(1) block(1) when(N % 8)\n// evo:launch a(Y) grid(1) when(N % 8) block(1)\nint x;\n");
}

TEST(RenderLaunchChange, WritesLinesBeforeALaunch) {
  const std::string text = "// evo:launch a(X) grid(1) block(1)\n// evo:launch b(X) grid(1) \\\n//   block(1)\nint x;\n";
  const std::string once = *RenderLaunchChange(text, {"b", "before", "memset counts 0"});
  EXPECT_EQ(once, Replaced(text, "// evo:launch b", "// evo:memset counts 0\n// evo:launch b"));
  EXPECT_EQ(*RenderLaunchChange(once, {"b", "before", "memset X 0"}),
            Replaced(once, "// evo:launch b", "// evo:memset X 0\n// evo:launch b"))
      << "in the order of the changes";
  EXPECT_EQ(RenderLaunchChange(text, {"c", "before", "memset X 0"}), std::nullopt);
}

TEST(RenderLaunchChange, RemovesLaunchesAndTheWorkspacesThatOnlyTheyUsed) {
  const std::string text =
      "// evo:workspace own f32 [N]\n// evo:workspace both f32 [N]\n// evo:memset own 0\n// evo:memset both 0\n"
      "// evo:launch a(X, own, both) grid(1) \\\n//   block(1)\n// evo:launch b(X, both) grid(1) block(1)\nint x;\n";
  EXPECT_EQ(*RenderLaunchChange(text, {"a", "removed", ""}),
            "// evo:workspace both f32 [N]\n// evo:memset both 0\n// evo:launch b(X, both) grid(1) block(1)\nint x;\n");
  EXPECT_EQ(RenderLaunchChange(text, {"c", "removed", ""}), std::nullopt);
}

TEST(RenderLaunchChange, WritesLinesAheadOfLoops) {
  const std::string text =
      "// evo:launch a(X) grid(1) block(1)\n// evo:repeat K < N\n// evo:repeat L < 2\n// evo:launch b(X, Y) grid(1) block(1)\n"
      "// evo:end\n// evo:swap X Y\n// evo:end\nint x;\n";
  EXPECT_EQ(*RenderLaunchChange(text, {"b", "ahead", "memset counts 0"}),
            Replaced(text, "// evo:repeat K", "// evo:memset counts 0\n// evo:repeat K"));
  EXPECT_EQ(*RenderLaunchChange(text, {"a", "ahead", "memset counts 0"}), "// evo:memset counts 0\n" + text);
}

TEST(RenderLaunchChange, RemovesLoopsThatNothingIsLeftOf) {
  const std::string loop = "// evo:repeat K < N\n// evo:launch b(X, Y) grid(1) block(1)\n// evo:swap X Y\n// evo:end\n";
  const std::string first = "// evo:launch a(X) grid(1) block(1)\n", last = "// evo:launch c(X) grid(1) block(1)\n";
  EXPECT_EQ(*RenderLaunchChange(first + loop, {"b", "removed", ""}), first);
  EXPECT_EQ(*RenderLaunchChange(first + loop + last, {"b", "removed", ""}),
            first + "// evo:repeat K < N\n// evo:swap X Y\n// evo:end\n" + last)
      << "the buffers have other names there";
  EXPECT_EQ(
      *RenderLaunchChange(first + Replaced(loop, "// evo:launch b", "// evo:memset X 0\n// evo:launch b"), {"b", "removed", ""}),
      first + Replaced(loop, "// evo:launch b(X, Y) grid(1) block(1)\n", "// evo:memset X 0\n"));
}

TEST(RenderLaunchChange, TheChangedTextParses) {
  const KernelTemplate parsed = ParseTemplate("t", *RenderLaunchChange(kText, {"k", "shared", "2 * N"}));
  EXPECT_EQ(parsed.steps.at(0).launch->shared.text(), "2 * N");
  EXPECT_EQ(parsed.steps.at(1).launch->shared.text(), "2 * N");
  EXPECT_EQ(parsed.steps.at(2).launch->shared.text(), "0");
}

TEST(RenderLaunchChange, RejectsUnknownKernelsAndFields) {
  EXPECT_EQ(RenderLaunchChange(kText, {"missing", "grid", "1"}), std::nullopt);
  EXPECT_THROW(RenderLaunchChange(kText, {"k", "stream", "1"}), Error);
  EXPECT_THROW(RenderLaunchChange(kText, {"k", "grid", "1\n2"}), Error);
}

}  // namespace
}  // namespace evo
