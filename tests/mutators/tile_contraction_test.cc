#include <gmock/gmock.h>

#include <sstream>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Of floats with the larger tiles to begin with; the other child has smaller ones.
std::string Tiled(const std::string& source) {
  const auto children = ChildrenOf("tile_contraction", source);
  EXPECT_FALSE(children.empty()) << source;
  return children.empty() ? "" : children.front();
}

TEST(TileContraction, TilesWhatIsUnderstoodAndNothingElse) {
  for (const char* source : {kBytes, kHalves, kFlat, kScaled}) {
    EXPECT_EQ(ChildrenOf("tile_contraction", source).size(), 1u);
    EXPECT_THAT(Tiled(source), HasSubstr("evo:param TILE_M 16 32 64 128 256"));
  }
  for (const auto& [source, why] : kRefused) EXPECT_THAT(ChildrenOf("tile_contraction", source), IsEmpty()) << why;
  EXPECT_THAT(ChildrenOf("tile_contraction", kWithoutABound), Not(IsEmpty()));
}

TEST(TileContraction, BringsFloatsThroughARing) {
  for (const char* source : {kColumnMajor, kTransposedB, kAlphaBeta, kBiasGelu, kBatched, kTransposedA}) {
    const auto children = ChildrenOf("tile_contraction", source);
    ASSERT_EQ(children.size(), 3u) << source;
    EXPECT_THAT(children[0], AllOf(HasSubstr("evo:param TILE_M 32 64 128 256\n"), HasSubstr("evo:param STAGES 2 3 4\n"),
                                   HasSubstr("#define TILE_M 128\n"), HasSubstr("#include <cuda_pipeline.h>\n")));
    EXPECT_THAT(children[1], HasSubstr("#define TILE_M 64\n"));
    EXPECT_THAT(children[2], AllOf(HasSubstr("#define TILE_M 128\n"), HasSubstr("#define TILE_N 32\n")));
  }
  EXPECT_THAT(Tiled(kAlphaBeta), HasSubstr("__global__ __launch_bounds__(TILE_M / THREAD_M * (TILE_N / THREAD_N), BLOCKS) void"));
  EXPECT_THAT(Tiled(kAlphaBeta), HasSubstr(" shared(STAGES * TILE_K * (TILE_M + TILE_N + 8) * 4)\n"));
}

// Neighbouring elements by k come one by one, transposed; others four at once.
TEST(TileContraction, CopiesEachFactorByItsOrder) {
  const char* const m_by_k = "__pipeline_memcpy_async(&tile_m[slot][k_m][to_m + round * kLinesM], at, 4);\n";
  const char* const n_by_k = "__pipeline_memcpy_async(&tile_n[slot][k_n][to_n + round * kLinesN], at, 4);\n";
  const char* const m_by_output = "__pipeline_memcpy_async(&tile_m[slot][k_m + round * kLinesM][to_m], at, 16);\n";
  const char* const n_by_output = "__pipeline_memcpy_async(&tile_n[slot][k_n + round * kLinesN][to_n], at, 16);\n";
  EXPECT_THAT(Tiled(kTransposedB), AllOf(HasSubstr(m_by_k), HasSubstr(n_by_k), Not(HasSubstr("size_t>(from"))));
  EXPECT_THAT(Tiled(kTransposedA), AllOf(HasSubstr(m_by_output), HasSubstr(n_by_output)));
  EXPECT_THAT(Tiled(kAlphaBeta), AllOf(HasSubstr(m_by_k), HasSubstr(n_by_output),
                                       HasSubstr("reinterpret_cast<size_t>(from_n) % 16 == 0 && (at_n(to_n, k_n + 1) - from_n) % "
                                                 "4 == 0;\n")));
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
  EXPECT_THAT(Tiled(source), HasSubstr("evo:param TILE_M_2 32 64"));
}

TEST(TileContraction, KeepsCommentsAndWhatIsTheSameForABlock) {
  EXPECT_THAT(Tiled(kAlphaBeta), HasSubstr("      // The old value counts only if beta says so.\n"
                                           "      float result = alpha * total;\n"));
  EXPECT_THAT(Tiled(kBatched),
              HasSubstr("\n  const int image = blockIdx.z;\n  const float* p = a + (size_t)image * 48 * depth;\n"));
}

TEST(TileContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = Tiled(kBiasGelu);
  EXPECT_THAT(child, HasSubstr("{\n    // A warp computes kWarpM x kWarpN elements, and a thread THREAD_M x THREAD_N of them"))
      << "the unit of the file";
  EXPECT_THAT(child, HasSubstr("    const auto at_m = [&](int output, int reduced) {\n"
                               "        const int token = first_m + output;\n"
                               "        const int i = reduced;\n"
                               "        return &x[token * inputs + i];\n"
                               "    };\n"))
      << "what a variable of the loop stands for";
  EXPECT_THAT(child, HasSubstr("sums[u][j] += part_m[now][u] * part_n[now][j];\n"));
  EXPECT_THAT(child, HasSubstr("            if (token >= tokens || feature >= features) continue;\n"
                               "            float sum = own[t / kWarpN * kRow + t % kWarpN];\n"
                               "            const float offset = bias[feature];\n"
                               "            sum += offset;\n"
                               "            y[token * features + feature] = Gelu(sum);\n"));
  EXPECT_THAT(Tiled(kFlat), HasSubstr("tile_m[t % TILE_K][t / TILE_K] = r < rows && i < inner ? A[r * inner + i] : 0.0;\n"));
  for (const char* source : {kColumnMajor, kTransposedB, kBiasGelu, kHalves, kFlat}) {
    std::istringstream lines(Tiled(source));
    for (std::string line; std::getline(lines, line);) {
      // The source's own line, which gets the bounds.
      if (line.starts_with("__global__")) continue;
      EXPECT_LE(line.size(), line.starts_with("// evo:") ? 200u : 130u) << line;
    }
  }
}

// The copies of a tile become asynchronous, into one of two buffers.
TEST(TileContraction, LeavesRoomForOtherMutators) {
  const std::string staged = ChildrenOf("async_stage", Tiled(kFlat)).back();
  EXPECT_THAT(staged, HasSubstr("__pipeline_memcpy_async(&tile_m[t % TILE_K][t / TILE_K], &A[r * inner + i], sizeof(double));"));
  const auto doubled = ChildrenOf("double_buffer", staged);
  ASSERT_EQ(doubled.size(), 1u);
  EXPECT_THAT(doubled.front(), HasSubstr("tile_m[2][TILE_K][TILE_M + 2]"));
}

TEST(TileContraction, PutsItsOwnLaunchBoundsInThePlaceOfOthers) {
  std::string source = kTransposedB;
  source.replace(source.find("void dense"), 4, "void __launch_bounds__(256)");
  const auto children = ChildrenOf("tile_contraction", source);
  ASSERT_THAT(children, SizeIs(3));
  for (const std::string& child : children) {
    EXPECT_THAT(child, HasSubstr("void __launch_bounds__(TILE_M / THREAD_M * (TILE_N / THREAD_N), BLOCKS) dense("));
    EXPECT_THAT(child, Not(HasSubstr("__launch_bounds__(256)")));
  }
  // Without bounds of its own.
  std::string doubles = kFlat;
  doubles.replace(doubles.find("__global__ void"), 15, "__global__ void __launch_bounds__(256)");
  EXPECT_THAT(ChildrenOf("tile_contraction", doubles), ElementsAre(Not(HasSubstr("__launch_bounds__"))));
}

}  // namespace
}  // namespace evo
