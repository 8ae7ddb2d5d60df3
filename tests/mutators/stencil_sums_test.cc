#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"
#include "tests/mutators/sum_kernels.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A star whose centre has a weight of its own, with the edges left as they are.
constexpr char kStar[] = R"(// evo:launch heat(A, B, D, H, W) \
//   grid(ceil_div(W, 32), ceil_div(H, 4), ceil_div(D, 2)) block(32, 4, 2)
__global__ void heat(const float* u, float* v, int depth, int height, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  const int at = (z * height + y) * width + x, plane = height * width;
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1) {
    v[at] = u[at];
    return;
  }
  v[at] = 0.1f * (u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1]) + 0.4f * u[at];
}
)";

std::string ChildOfSums(const std::string& source) { return FirstChildOf("stencil_sums", source, 1); }

std::string RefusedSums(const std::string& source) { return WhyNoChildOf("stencil_sums", source); }

TEST(StencilSums, AddsEachPlaneToTheResultsAroundIt) {
  const std::string child = ChildOfSums(kStar);
  EXPECT_THAT(child, HasSubstr(R"(
        const float sum_0 = around[r + 1][e + 1];
        const float sum_1 = around[r + 1][e] + around[r][e + 1] + around[r + 2][e + 1] + around[r + 1][e + 2];
        const float part_0 = 0.1f * sum_0;
        const float inside = pending[0][r][e] + part_0;
        pending[0][r][e] = pending[1][r][e] + 0.4f * sum_0 + 0.1f * sum_1;
        pending[1][r][e] = part_0;
        results[r].values[e] = at_edge >> (r * ELEMENTS + e) & 1 ? own[0][r][e] : inside;
        own[0][r][e] = around[r + 1][e + 1];
)"));
  EXPECT_THAT(child, HasSubstr(R"(
    if (x == 0 || x == width - 1 || y == 0 || y == height - 1) edges |= 1u << n;
)"));
  EXPECT_THAT(child, HasSubstr("const unsigned at_edge = z == 0 || z == depth - 1 ? ~0u : edges;\n"));
}

// Sums of columns that several elements need are computed once.
TEST(StencilSums, SharesTheSumsOfColumns) {
  const std::string child = ChildOfSums(std::string(kSumKernels[2].text));
  EXPECT_THAT(child, HasSubstr(R"(
      float column_0[ELEMENTS + 2];
#pragma unroll
      for (int j_2 = 0; j_2 < ELEMENTS + 2; ++j_2) column_0[j_2] = around[r][j_2] + around[r + 1][j_2] + around[r + 2][j_2];
)"));
  EXPECT_THAT(child, HasSubstr("column_0[e] + around[r][e + 1] + around[r + 2][e + 1] + column_0[e + 2];\n"));
  EXPECT_THAT(child, HasSubstr("const float weight_0 = 1.0 / 16.0f;\n"));
}

TEST(StencilSums, BringsParameters) {
  EXPECT_THAT(ChildOfSums(kStar),
              AllOf(HasSubstr("grid(ceil_div(W, THREADS_X * ELEMENTS), ceil_div(H, THREADS_Y * ROWS), ceil_div(D, STEPS))"),
                    HasSubstr("__launch_bounds__(THREADS_X * THREADS_Y, BLOCKS)"),
                    HasSubstr(" shared(4 * (AHEAD + 1) * (THREADS_Y * ROWS + 2) * ((THREADS_X + 2) * ELEMENTS))\n"),
                    HasSubstr("// evo:param BLOCKS 1 2 3 4 5 6 8\n"),
                    HasSubstr("// evo:constraint (ROWS + 2) * (ELEMENTS + 2) + 4 * ROWS * ELEMENTS <= 200\n")));
}

// Weights are the same if they are spelled the same: names, elements of tables, literals, and products of such.
TEST(StencilSums, ComparesWeights) {
  const std::string other = With(kStar, "u[at - 1] + u[at + 1]", "c * (u[at - 1] + u[at + 1])");
  const std::string passed = With(With(other, "int width)", "int width, float c)"), "D, H, W)", "D, H, W, 0.5)");
  EXPECT_THAT(ChildOfSums(passed), AllOf(HasSubstr("const float weight_0 = c * 0.1f;\n"),
                                         HasSubstr("const float sum_1 = around[r][e + 1] + around[r + 2][e + 1];\n"),
                                         HasSubstr("const float sum_2 = around[r + 1][e] + around[r + 1][e + 2];\n")));
  // A weight of 1 is none, one of 0 leaves a neighbour out, and a negative one is subtracted.
  const std::string numbers = With(With(kStar, "0.1f * (", "1.0f * ("), "0.4f * u[at]", "0 * u[at] - 5 * u[at - 1]");
  EXPECT_THAT(ChildOfSums(numbers), AllOf(HasSubstr("const float weight_0 = 1.0 - 5.0;\n"), Not(HasSubstr("0.4f"))));
}

TEST(StencilSums, SaysWhyAKernelIsLeftAsItIs) {
  const std::string sum =
      "0.1f * (u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1]) + 0.4f * u[at]";
  const std::pair<std::string, const char*> kRefused[] = {
      {With(kStar, sum,
            "0.1f * u[at - plane] + 0.2f * u[at + 1] + 0.3f * u[at - 1] + 0.4f * u[at - width] + 0.5f * u[at + plane]"),
       "no two elements of a plane have equal weights"},
      {With(kStar, "0.4f * u[at]", "0.4f * u[at] * u[at]"), "it has a `*` that is not linear"},
      {With(kStar, "0.4f * u[at]", "fmaxf(u[at], 0.4f)"), "`fmaxf(u[at], 0.4f)` is no sum of neighbours"},
      {With(kStar, "z == depth - 1)", "z == depth - 1 || u[at] > 3)"), "not every element is stored for certain"},
      {With(kStar, "  v[at] = 0.1f", "  if (x > 5) { v[at] = 1; return; }\n  v[at] = 0.1f"), "`x > 5` decides what it sums up"},
      {With(With(kStar, "const float* u", "const int* u"), "float* v", "int* v"), "u has no elements of float"}};
  for (const auto& [source, why] : kRefused) EXPECT_THAT(RefusedSums(source), HasSubstr(why)) << source;
}

// What is read of very long sums ends before the stack does.
TEST(StencilSums, RefusesVeryLongSums) {
  std::string many = "0.4f * u[at]";
  for (int i = 0; i < 300; ++i) many += " + u[at]";
  EXPECT_THAT(RefusedSums(With(kStar, "0.4f * u[at]", many)), HasSubstr(" is nested too deeply"));
}

// An array of weights that the kernel changes is not followed.
TEST(StencilSums, RefusesWeightsThatChange) {
  const std::string source = With(With(kStar, "  v[at] = 0.1f", "  float w[2] = {0.1f, 0.4f};\n  w[1] = u[at];\n  v[at] = w[0]"),
                                  "0.4f * u[at]", "w[1] * u[at]");
  EXPECT_THAT(RefusedSums(source), Not(IsEmpty()));
}

std::string WithLines(const std::string& lines, const std::string& source) {
  return With(source, "__global__", lines + "__global__");
}

// A call of a macro has no parts.
TEST(StencilSums, TakesWeightsThatAreMacros) {
  for (const char* const meaning : {"(0.1f)", "-0.1f", "(float)0.1", "(1 > 0 ? 0.1f : 0.2f)", "(0.05f + 0.05f)", "fabsf(0.1f)"}) {
    SCOPED_TRACE(meaning);
    const std::string child = ChildOfSums(WithLines(fmt::format("#define CW {}\n", meaning), With(kStar, "0.1f * (", "CW * (")));
    EXPECT_THAT(child, HasSubstr("CW"));
  }
  const std::string local =
      With(With(kStar, "  if (x == 0", "  const float c = 0.5f * 0.2f;\n  if (x == 0"), "0.1f * (", "CW * (");
  for (const char* const meaning : {"(c)", "(c + 0.1f)", "(-c)", "c"})
    EXPECT_THAT(ChildrenOf("stencil_sums", WithLines(fmt::format("#define CW {}\n", meaning), local)), SizeIs(1)) << meaning;
}

// What a macro means may have no parentheses.
TEST(StencilSums, KeepsMacrosWhole) {
  const std::string fused = With(With(kStar, "0.1f * (", "fmaf(CW, ("), ") + 0.4f * u[at]", "), 0.4f * u[at])");
  EXPECT_THAT(ChildOfSums(WithLines("#define CW 0.05f + 0.05f\n", fused)), HasSubstr("const float weight_0 = 0.05f + 0.05f;\n"));
  const std::string integers = With(fused, "  if (x == 0", "  const int a = 7, b = 2;\n  if (x == 0");
  EXPECT_THAT(ChildOfSums(WithLines("#define CW a / b\n", integers)), HasSubstr("const float weight_0 = (double)(a / b);\n"));
}

TEST(StencilSums, TakesWeightsWithCommas) {
  EXPECT_THAT(ChildOfSums(With(kStar, "0.1f * (", "(1.0f, 0.1f) * (")), HasSubstr("const float weight_0 = (1.0f, 0.1f);\n"));
}

// Statements that are macros are understood once they are written out, or not at all.
TEST(StencilSums, SurvivesStatementsThatAreMacros) {
  const char* const kSum =
      "  v[at] = 0.1f * (u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1]) + 0.4f * "
      "u[at];\n";
  const std::string added = With(kStar, kSum,
                                 "  float sum = u[at - 1] + u[at - plane];\n  ADD(sum, u[at + 1]);\n  ADD(sum, u[at + plane]);\n"
                                 "  ADD(sum, u[at - width] + u[at + width]);\n  v[at] = 0.1f * sum;\n");
  EXPECT_LE(ChildrenOf("stencil_sums", WithLines("#define ADD(s, x) s += x\n", added)).size(), 1);
  const std::string stored = With(kStar, kSum, "  STORE(0.1f * (u[at - 1] + u[at + 1]));\n");
  EXPECT_LE(ChildrenOf("stencil_sums", WithLines("#define STORE(x) v[at] = x\n", stored)).size(), 1);
  const std::string bottom = With(kStar, "z == 0", "AT_BOTTOM");
  for (const std::string& child : ChildrenOf("stencil_sums", WithLines("#define AT_BOTTOM (z == 0)\n", bottom)))
    EXPECT_THAT(child, HasSubstr("const unsigned at_edge = z == 0 || z == depth - 1 ? ~0u : edges;\n"));
  const std::string edges = With(kStar, "x == 0 || x == width - 1 || y == 0", "AT_END || y == 0");
  for (const std::string& child : ChildrenOf("stencil_sums", WithLines("#define AT_END (x == 0 || x == width - 1)\n", edges)))
    EXPECT_THAT(child, HasSubstr("if (x == 0 || x == width - 1 || y == 0 || y == height - 1) edges |= 1u << n;\n"));
}

// A parameter that the kernel changes is not the one that was passed.
TEST(StencilSums, FollowsParametersThatChange) {
  const std::string passed = With(With(With(kStar, "int width)", "int width, float c)"), "D, H, W)", "D, H, W, 0.5)"),
                                  "  v[at] = 0.1f", "  c *= 2.0f;\n  v[at] = c");
  for (const std::string& child : ChildrenOf("stencil_sums", passed)) EXPECT_THAT(child, HasSubstr("c * 2.0f"));
}

// Of two stores, the more precise one decides.
TEST(StencilSums, SumsUpInTheTypeOfTheSum) {
  const std::string sum =
      "0.1 * (u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1]) + 0.4 * u[at];\n";
  const std::string floats = With(kStar, "    v[at] = u[at];\n    return;\n  }\n", "    v[at] = 0;\n    return;\n  }\n");
  EXPECT_THAT(ChildOfSums(floats), HasSubstr("const float inside = "));
  const std::string doubles = With(
      With(With(With(With(kStar, "const float* u", "const double* u"), "float* v", "double* v"), "if (x == 0", "if (!(x == 0"),
           "z == depth - 1) {\n    v[at] = u[at];\n    return;\n", "z == depth - 1)) {\n    v[at] = " + sum + "    return;\n"),
      "  v[at] = 0.1f * (u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1]) + 0.4f * u[at]",
      "  v[at] = 0.0f");
  EXPECT_THAT(ChildOfSums(doubles), HasSubstr("const double inside = "));
}

}  // namespace
}  // namespace evo
