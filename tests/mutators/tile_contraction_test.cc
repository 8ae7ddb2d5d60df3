#include <gmock/gmock.h>

#include <sstream>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Tiled(const std::string& source) {
  const auto children = ChildrenOf("tile_contraction", source);
  EXPECT_EQ(children.size(), 1u) << source;
  return children.empty() ? "" : children.front();
}

TEST(TileContraction, TilesWhatIsUnderstoodAndNothingElse) {
  for (const char* source :
       {kColumnMajor, kTransposedB, kAlphaBeta, kBiasGelu, kBatched, kBytes, kHalves, kFlat, kScaled, kTransposedA})
    EXPECT_THAT(Tiled(source), HasSubstr("evo:param TILE_M 16 32 64 128 256"));
  for (const auto& [source, why] : kRefused) EXPECT_THAT(ChildrenOf("tile_contraction", source), IsEmpty()) << why;
}

TEST(TileContraction, ChangesTheLaunchLineWithTheCode) {
  EXPECT_THAT(Tiled(kColumnMajor), HasSubstr("grid(ceil_div(M, TILE_N), ceil_div(N, TILE_M)) "
                                             "block(TILE_M / THREAD_M * (TILE_N / THREAD_N))"))
      << "n is the index of neighbouring elements";
  EXPECT_THAT(Tiled(kBatched), HasSubstr("grid(ceil_div(40, TILE_N), ceil_div(48, TILE_M), BATCH)"));
  EXPECT_THAT(Tiled(kBytes), HasSubstr("grid(ceil_div(N, TILE_N), ceil_div((M) * (1), TILE_M))"));
  EXPECT_THAT(Tiled(kFlat), HasSubstr("grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M))"));
}

TEST(TileContraction, TakesNamesThatAreFree) {
  std::string source = kTransposedB;
  source.replace(source.find("__global__"), 0, "#define TILE_M 3\n");
  EXPECT_THAT(Tiled(source), HasSubstr("evo:param TILE_M_2 16 32"));
}

TEST(TileContraction, KeepsCommentsAndWhatIsTheSameForABlock) {
  EXPECT_THAT(Tiled(kAlphaBeta), HasSubstr("      // The old value counts only if beta says so.\n"
                                           "      float result = alpha * total[i][j];\n"));
  EXPECT_THAT(Tiled(kBatched),
              HasSubstr("\n  const int image = blockIdx.z;\n  const float* p = a + (size_t)image * 48 * depth;\n"));
}

TEST(TileContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = Tiled(kBiasGelu);
  EXPECT_THAT(child, HasSubstr("{\n    // A thread computes THREAD_M x THREAD_N elements")) << "the unit of the file";
  EXPECT_THAT(
      child,
      HasSubstr("\n            tile_m[t % TILE_K][t / TILE_K] = token < tokens && i < inputs ? x[token * inputs + i] : 0.0f;\n"))
      << "what a variable of the loop stands for";
  EXPECT_THAT(child, HasSubstr("sum[u][j] += part_m[u] * part_n[j];\n"));
  EXPECT_THAT(child, HasSubstr("            if (token >= tokens || feature >= features) continue;\n"
                               "            const float offset = bias[feature];\n"
                               "            sum[u][j] += offset;\n"
                               "            y[token * features + feature] = Gelu(sum[u][j]);\n"));
  for (const char* source : {kColumnMajor, kTransposedB, kBiasGelu, kHalves, kFlat}) {
    std::istringstream lines(Tiled(source));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), line.starts_with("// evo:") ? 200u : 130u) << line;
  }
}

// The copies of a tile become asynchronous, into one of two buffers.
TEST(TileContraction, LeavesRoomForOtherMutators) {
  const std::string staged = ChildrenOf("async_stage", Tiled(kTransposedB)).back();
  EXPECT_THAT(staged, HasSubstr("__pipeline_memcpy_async(&tile_m[t % TILE_K][t / TILE_K], &xi[d], sizeof(float));"));
  const auto doubled = ChildrenOf("double_buffer", staged);
  ASSERT_EQ(doubled.size(), 1u);
  EXPECT_THAT(doubled.front(), HasSubstr("tile_m[2][TILE_K][TILE_M + 4]"));
}

TEST(TileContraction, IsNotDoneUnderLaunchBounds) {
  std::string source = kTransposedB;
  source.replace(source.find("void dense"), 4, "void __launch_bounds__(256)");
  EXPECT_THAT(ChildrenOf("tile_contraction", source), IsEmpty());
}

}  // namespace
}  // namespace evo
