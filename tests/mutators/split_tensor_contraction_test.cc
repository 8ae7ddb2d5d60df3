#include <gmock/gmock.h>

#include <sstream>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// With the larger tiles to begin with; the other child has smaller ones.
std::string BySplitting(const std::string& source) { return FirstChildOf("split_tensor_contraction", source, 3); }

std::vector<std::string> WhyNotSplit(const std::string& source) { return RefusalsOf("split_tensor_contraction", source); }

TEST(SplitTensorContraction, BringsParametersAndBlocks) {
  const auto children = ChildrenOf("split_tensor_contraction", kAlphaBeta);
  ASSERT_EQ(children.size(), 3u);
  EXPECT_THAT(children[0], AllOf(HasSubstr("// evo:param TILE_M 16 32 64 128 256\n"), HasSubstr("// evo:param STAGES 2 3 4\n"),
                                 HasSubstr("// evo:constraint TILE_M * TILE_K / 4 % (WARPS_M * WARPS_N * 32) == 0\n"),
                                 HasSubstr("#define TILE_M 128\n"), HasSubstr("#define TILE_K 16\n")));
  EXPECT_THAT(children[0], HasSubstr("grid(ceil_div(M, TILE_M), ceil_div(N, TILE_N)) block(WARPS_M * WARPS_N * 32) "
                                     "shared(max(STAGES * (TILE_M * (TILE_K + 4) + TILE_K * (TILE_N + 8)) * 4, "
                                     "WARPS_M * (TILE_N + WARPS_N * 8) * 64))\n"));
  EXPECT_THAT(children[0], HasSubstr("__global__ __launch_bounds__(WARPS_M * WARPS_N * 32, 1) void sgemm("));
  EXPECT_THAT(children[0],
              AllOf(HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "),
                    HasSubstr("void CopyVector(float* to, const float* from, long long count) {\n"),
                    HasSubstr("void Split(unsigned& high, unsigned& low, float x) {\n"),
                    HasSubstr("// Four matrices of 8 x 4 elements of shared memory"), Not(HasSubstr("LoadTransposed"))));
  EXPECT_THAT(children[1], AllOf(HasSubstr("#define TILE_M 32\n"), HasSubstr("#define WARPS_M 1\n")));
}

// Rows of k are loaded by ldmatrix; others element by element, since nothing transposes elements of 32 bits.
TEST(SplitTensorContraction, LoadsEachFactorByItsOrder) {
  const char* const m_by_k =
      "LoadMatrices(part_m, &tile_m[slot][own_m + u * 16 + lane % 16][part_k + eight * 8 + lane / 16 * 4]);\n";
  const char* const n_by_k = "LoadMatrices(part_n, &tile_n[slot][own_n + j * 8 + lane % 8][part_k + lane / 8 * 4]);\n";
  EXPECT_THAT(BySplitting(kTransposedB), AllOf(HasSubstr(m_by_k), HasSubstr(n_by_k), HasSubstr("tile_n)[TILE_N][TILE_K + 4]")));
  EXPECT_THAT(BySplitting(kTransposedA),
              AllOf(HasSubstr("Split(high_m[i][eight][e], low_m[i][eight][e], tile_m[slot][part_k + eight * 8 + e / 2 * 4 + "
                              "lane % 4][own_m + i * 16 + e % 2 * 8 + lane / 4]);\n"),
                    HasSubstr("part_n[e] = tile_n[slot][part_k + e * 4 + lane % 4][own_n + j * 8 + lane / 4];\n"),
                    HasSubstr("eight\n"), Not(HasSubstr("LoadMatrices"))));
}

TEST(SplitTensorContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = BySplitting(kBiasGelu);
  EXPECT_THAT(child, HasSubstr("                        MultiplyAdd(part[u], low_m[u][eight], high_n);\n"
                               "                        MultiplyAdd(part[u], high_m[u][eight], low_n);\n"
                               "                        MultiplyAdd(part[u], high_m[u][eight], high_n);\n"));
  EXPECT_THAT(child, HasSubstr("            if (inputs < 32 || !(fabsf(sum) < 1e23f)) {\n"
                               "                sum = 0.0f;\n"
                               "#pragma unroll 1\n"
                               "                for (int i = 0; i < inputs; ++i) {\n"
                               "                    const float left = x[token * inputs + i];\n"
                               "                    const float right = w[feature * inputs + i];\n"
                               "                    sum += left * right;\n"
                               "                }\n"
                               "            }\n"));
  EXPECT_THAT(child, HasSubstr("            const float offset = bias[feature];\n"
                               "            sum += offset;\n"
                               "            y[token * features + feature] = Gelu(sum);\n"));
  EXPECT_THAT(BySplitting(kBatched), HasSubstr("for (int e = 0; e < depth; ++e) {\n"
                                               "          acc = fmaf(p[row * depth + e], q[e * 40 + col], acc);\n"));
  for (const char* source : {kAlphaBeta, kBatched, kColumnMajor, kTransposedA, kTransposedB}) {
    std::istringstream lines(BySplitting(source));
    for (std::string line; std::getline(lines, line);) {
      // The source's own line, which gets the bounds.
      if (line.starts_with("__global__")) continue;
      EXPECT_LE(line.size(), line.starts_with("// evo:") ? 250u : 150u) << line;
    }
  }
}

TEST(SplitTensorContraction, SaysWhyNot) {
  EXPECT_THAT(WhyNotSplit(kTransposedB), IsEmpty());
  EXPECT_THAT(WhyNotSplit(kHalves), ElementsAre("hgemm: the factor `__half2float(A[m * K + k])` is no element of float"));
  EXPECT_THAT(WhyNotSplit(kBytes), ElementsAre("quantised: it sums up in int, and tensor cores do in float"));
  EXPECT_THAT(WhyNotSplit(kFlat), ElementsAre("flat: it sums up in double, and tensor cores do in float"));
  EXPECT_THAT(WhyNotSplit(kScaled), ElementsAre(HasSubstr("scaled: ")));
  for (const auto& [source, why] : kRefused) EXPECT_THAT(WhyNotSplit(source), IsEmpty()) << "tile_contraction says " << why;
  const std::vector<std::tuple<const char*, const char*, const char*>> changes{
      {"w[o * D]", "w[o * D * 2]", ""},
      {"wo[d]", "wo[2 * d]", "no index of `wo[2 * d]` goes along neighbouring elements"},
      {"xi[d] * wo[d]", "xi[d] * (2.0f * wo[d])", "the factor `(2.0f * wo[d])` is no element of float"},
      {"xi[d] * wo[d]", "0.5f * (xi[d] * wo[d])", "it adds more than the product of two elements"},
      {"float s = 0.0f", "double s = 0.0", "it sums up in double"}};
  for (const auto& [from, to, why] : changes) {
    const std::string source = With(kTransposedB, from, to);
    EXPECT_EQ(ChildrenOf("split_tensor_contraction", source).empty(), *why != '\0') << source;
    if (*why != '\0') {
      EXPECT_THAT(WhyNotSplit(source), Contains(HasSubstr(why))) << source;
    }
  }
}

}  // namespace
}  // namespace evo
