#include "mutators/analysis/plain_source/thread_loops.h"

#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;

std::string WithoutLoops(const std::string& source, ThreadLoops loops = ThreadLoops::kOfOneTurn) {
  const Parent parent(source);
  EXPECT_TRUE(parent.tree->errors().empty()) << parent.tree->errors().front();
  return WithoutThreadLoops(parent.Context(), loops).value_or("(the same)");
}

constexpr char kStriding[] = R"(// evo:launch k(A, N) grid(ceil_div(N, 128)) block(128)
__global__ void k(float* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = 1;
}
)";

TEST(ThreadLoops, OfOneTurnBecomeConditions) {
  EXPECT_THAT(WithoutLoops(kStriding),
              HasSubstr("  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) a[i] = 1;\n"));
  EXPECT_THAT(WithoutLoops(With(With(kStriding, "gridDim.x * blockDim.x", "blockDim.x * gridDim.x"), "blockIdx.x * blockDim.x",
                                "128 * blockIdx.x")),
              HasSubstr("if (i < n) a[i] = 1;"));
}

TEST(ThreadLoops, OfMoreTurnsStay) {
  for (const auto& [from, to] :
       {std::pair("grid(ceil_div(N, 128))", "grid(64)"), std::pair("ceil_div(N, 128)", "ceil_div(N, 256)"),
        std::pair("k(A, N)", "k(A, 2 * N)"), std::pair("i < n", "i <= n"), std::pair("i < n", "i < 2 * n"),
        std::pair("gridDim.x * blockDim.x", "gridDim.x"), std::pair("blockDim.x + threadIdx.x", "blockDim.x"),
        std::pair("  for (", "  n += 1000;\n  for ("), std::pair("a[i] = 1;", "{ if (i == 3) continue; a[i] = 1; }")})
    EXPECT_EQ(WithoutLoops(With(kStriding, from, to)), "(the same)") << to;
}

constexpr char kPlanes[] = R"(// evo:launch k(A, B, W, D) grid(ceil_div(W, 32), 4) block(32, 8)
__global__ void k(const float* a, float* b, int w, int d) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  if (x < w) {
    for (int z = 1; z < d - 1; ++z) b[z * w + x] = a[z * w + x];
  }
}
)";

TEST(ThreadLoops, OverPlanesBecomeADimensionOfTheGrid) {
  const std::string text = WithoutLoops(kPlanes, ThreadLoops::kOfPlanes);
  EXPECT_THAT(text, HasSubstr("grid(ceil_div(W, 32), 4, D) block(32, 8)"));
  EXPECT_THAT(text, HasSubstr("    const int z = blockIdx.z + 1;\n    if (z < d - 1) b[z * w + x] = a[z * w + x];\n"));
  EXPECT_EQ(WithoutLoops(kPlanes), "(the same)");
}

TEST(ThreadLoops, OverPlanesThatShareSomethingStay) {
  for (const auto& [from, to] :
       {std::pair("z < d - 1", "z < d + 1"), std::pair("z < d - 1", "z < 2 * d"), std::pair("++z", "z += 2"),
        std::pair("int z = 1", "int z = x"), std::pair("  if (x < w) {", "  float s = 0;\n  d += 1;\n  if (x < w) {"),
        std::pair("b[z * w + x] = a[z * w + x];", "{ if (z > 5) return; b[z * w + x] = a[z * w + x]; }")})
    EXPECT_EQ(WithoutLoops(With(kPlanes, from, to), ThreadLoops::kOfPlanes), "(the same)") << to;
  const std::string carried = With(With(kPlanes, "  if (x < w) {", "  float s = 0;\n  if (x < w) {"),
                                   "b[z * w + x] = a[z * w + x];", "{ s += a[z * w + x]; b[z * w + x] = s; }");
  EXPECT_EQ(WithoutLoops(carried, ThreadLoops::kOfPlanes), "(the same)");
}

}  // namespace
}  // namespace evo
