#include <gmock/gmock.h>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Both factors by floats, sums that something follows.
TEST(SplitK, DividesSumsAndTilesTheParts) {
  for (const char* source : {kColumnMajor, kTransposedB, kAlphaBeta, kBiasGelu, kTransposedA}) {
    EXPECT_EQ(ChildrenOf("split_k_tile", source).size(), 3u) << source;
    EXPECT_EQ(ChildrenOf("split_k_split_tensor", source).size(), 3u) << source;
    EXPECT_THAT(ChildrenOf("split_k_tensor", source), IsEmpty()) << source;
  }
  for (const char* source : {kBytes, kHalves, kFlat, kScaled}) EXPECT_EQ(ChildrenOf("split_k_tile", source).size(), 1u) << source;
  EXPECT_EQ(ChildrenOf("split_k_tensor", kHalves).size(), 2u);
  const auto groups = ChildrenOf("split_k_warp_group", kHalves);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0], AllOf(HasSubstr("// evo:requires sm_90a\n"), HasSubstr("wgmma"), HasSubstr("hgemm_parts(")));
  for (const auto& [source, why] : kRefused) EXPECT_THAT(ChildrenOf("split_k_tile", source), IsEmpty()) << why;
}

TEST(SplitK, LaunchesAKernelThatAddsUpTheParts) {
  const std::string child = FirstChildOf("split_k_tile", kBiasGelu, 3);
  const std::string length =
      "64 * max(1, ceil_div(K, 64 * max(1, SPLIT_BLOCKS / max(1, ceil_div(N, TILE_N) * ceil_div(M, TILE_M)))))";
  const std::string count = "max(1, ceil_div(K, " + length + "))";
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:workspace partial_sums f32 [" + count + ", M, N]\n"),
                           HasSubstr("// evo:launch linear_parts(X, W, M, N, K, partial_sums, " + length +
                                     ") grid("
                                     "ceil_div(N, TILE_N), ceil_div(M, TILE_M), " +
                                     count + ") block("),
                           HasSubstr("// evo:launch linear(X, W, Bias, Y, M, N, K, partial_sums, " + count +
                                     ") grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)\n"),
                           HasSubstr("// evo:param SPLIT_BLOCKS 66 132 264 528 1056 2112\n")));
  // The kernel of the parts has neither the bias nor what follows the sum; the other one has no products.
  const std::size_t whole = child.find("__global__ void linear(");
  const std::size_t parts = child.find(
      "linear_parts(const float* x, const float* w, int tokens, int features, int inputs, "
      "float* partial_sums, int length)");
  ASSERT_LT(parts, whole);
  EXPECT_THAT(child.substr(parts, whole - parts), AllOf(Not(HasSubstr("Gelu")), Not(HasSubstr("bias"))));
  EXPECT_THAT(child.substr(whole),
              AllOf(HasSubstr("    float sum = 0.0f;\n"
                              "#pragma unroll 8\n"
                              "    for (int part = 0; part < parts; ++part) sum += partial_sums[(static_cast<size_t>(part) * "
                              "tokens + token) * features + feature];\n"
                              "    const float offset = bias[feature];\n"
                              "    sum += offset;\n"
                              "    y[token * features + feature] = Gelu(sum);\n"),
                    Not(HasSubstr("right"))));
}

TEST(SplitK, GivesAFlatKernelTwoIndices) {
  const std::string child = FirstChildOf("split_k_tile", kFlat, 1);
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:workspace partial_sums f64 ["), HasSubstr("grid(ceil_div(N, TILE_N), ceil_div(M, "),
                           HasSubstr("  int c = idx % cols;\n  if (r >= rows || c >= cols) return;\n  double v = 0.0;\n")));
}

TEST(SplitK, TakesNamesThatAreFree) {
  std::string source = kTransposedB;
  source.replace(source.find("__global__"), 0, "#define SPLIT_BLOCKS 3\n#define parts 4\nstruct partial_sums {};\n");
  const std::string child = FirstChildOf("split_k_tile", source, 3);
  EXPECT_THAT(child, AllOf(HasSubstr("evo:param SPLIT_BLOCKS_2 66"), HasSubstr("const float* partial_sums_2, int parts_2)")));
}

TEST(SplitK, SaysWhySumsStayWhole) {
  const std::string source = kTransposedB;
  EXPECT_THAT(WhyNoChildOf("split_k_tile", kBatched), HasSubstr("many: its blocks go along three axes already"));
  EXPECT_THAT(WhyNoChildOf("split_k_tile", With(source, "block(16, 16)", "block(16, 16) when(K > 1)")),
              HasSubstr("dense: it is launched under a condition or repeatedly"));
  EXPECT_THAT(WhyNoChildOf("split_k_tile", With(source, "d < D;", "d < D / 2;")),
              HasSubstr("dense: the bound of its sum is neither a number nor a parameter that the launch line passes"));
  EXPECT_THAT(WhyNoChildOf("split_k_tile", With(With(source, "float s = 0.0f", "long long s = 0"), "s + xi[d] * wo[d]",
                                                "s + (long long)xi[d] * (long long)wo[d]")),
              HasSubstr("dense: its sum is of type long long"));
}

}  // namespace
}  // namespace evo
