// What is written out of a source before operators look at it.
#include <gmock/gmock.h>

#include "mutators/analysis/plain_source/array_parameters.h"
#include "mutators/analysis/plain_source/register_sums.h"
#include "mutators/analysis/plain_source/single_counters.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string KernelWith(const std::string& parameters, const std::string& body) {
  return "// evo:launch k(a, b, n, m) grid(n) block(32)\n\n#define W 48\n\n__global__ void k(" + parameters +
         ", int n, int m) {\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = 0;\n" + body + "}\n";
}

std::string OneCounter(const std::string& body) {
  const Parent parent(KernelWith("const float* a, float* b", body + "  b[x] = s;\n"));
  return WithSingleCounters(*parent.tree).value_or("");
}

TEST(SingleCounters, OthersAreComputed) {
  EXPECT_THAT(OneCounter("  for (int j = x - m, i = 0; i < n; j++, i++) s += a[j] * i;\n"),
              AllOf(HasSubstr("for (int i = 0; i < n; i++) {\nconst int j = (x - m) + i;"), HasSubstr("s += a[j] * i;\n}")));
  EXPECT_THAT(OneCounter("  for (int i = 2, j = x; i < n; ++i, j += 3) { s += a[j]; }\n"),
              HasSubstr("const int j = x + (i - 2) * (3);"));
  EXPECT_THAT(OneCounter("  for (int i = 0, j = m; i < n; ++i, --j) { s += a[j]; }\n"), HasSubstr("const int j = m + i * (-1);"));
}

TEST(SingleCounters, OthersStay) {
  for (const char* loop :
       {"for (int j = x, i = 0; i < n; j++, i++) { s += a[j]; j += 1; }",
        "for (int j = x, i = 0; i < n; j++, i++) { s += a[j]; if (s > 3) ++i; }",
        "for (int j = x, i = 0; i < n && j < m; j++, i++) s += a[j];", "for (int j = x, i = 0; i < n; j *= 2, i++) s += a[j];",
        "for (int j = x, i = 0; i < n; i++) s += a[j];", "for (int j = x, i = 0; i < n; j++, i += 2) s += a[j];",
        "for (int i = 0; i < n; i++) s += a[i];"})
    EXPECT_EQ(OneCounter(std::string("  ") + loop + "\n"), "") << loop;
}

std::string FlatArrays(const std::string& parameters, const std::string& body) {
  const Parent parent(KernelWith(parameters, body));
  FieldDeclarations declarations;
  return WithoutArrayParameters(*parent.tree, declarations).value_or("");
}

TEST(ArrayParameters, ElementsAreInRows) {
  EXPECT_THAT(FlatArrays("const float a[64][W], float (*b)[W]", "  if (x < W) b[m][x] = a[m + 1][x] + s;\n"),
              AllOf(HasSubstr("const float* a_elements"), HasSubstr("float* b_elements"),
                    HasSubstr("b_elements[(m) * (W) + (x)] = a_elements[(m + 1) * (W) + (x)] + s")));
  EXPECT_THAT(FlatArrays("const int (*a)[8][W], float* b", "  b[x] = a[a[0][1][2]][m][x];\n"),
              HasSubstr("a_elements[((a_elements[((0) * (8) + (1)) * (W) + (2)]) * (8) + (m)) * (W) + (x)]"));
}

TEST(ArrayParameters, OtherUsesStay) {
  EXPECT_EQ(FlatArrays("const float (*a)[W], float* b", "  const float* row = a[m];\n  b[x] = row[x];\n"), "");
  EXPECT_EQ(FlatArrays("const float* a, float* b", "  b[x] = a[x];\n"), "");
}

std::string Kept(const std::string& body) {
  const Parent parent(KernelWith("const float* a, float* b", body));
  return WithRegisterSums(parent.Context()).value_or("");
}

// What each turn of a loop stores once more counts behind the last one.
TEST(RegisterSums, StoresOfEachTurn) {
  EXPECT_THAT(
      Kept("  for (int i = 0; i < n; i++) { s += a[i]; b[x] = s; }\n"),
      AllOf(HasSubstr("float element_sum = 0;"), HasSubstr("element_sum = s; }"), HasSubstr("if (0 < n) b[x] = element_sum;")));
  for (const char* loop : {"for (int i = 0; i < n; i++) { s += a[i]; if (s > 2) b[x] = s; }",
                           "for (int i = 0; i < n; i++) { s += a[i]; b[x + i] = s; }",
                           "for (int i = 0; i < n; i++) { s += a[i]; b[x] = s; b[x + 1] = s; }",
                           "for (int i = 0; i < n; i++) { s += a[i]; b[x] = s; __syncthreads(); }"})
    EXPECT_EQ(Kept(std::string("  ") + loop + "\n"), "") << loop;
}

}  // namespace
}  // namespace evo
