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

// With the larger tile to begin with; the second child has the smaller one. With tensor maps there are two more.
std::string ByWarpGroups(const std::string& source) {
  const auto children = ChildrenOf("warp_group_contraction", source);
  EXPECT_THAT(children.size(), testing::AnyOf(2u, 4u)) << source;
  return children.empty() ? "" : children.front();
}

std::string ByTensorMaps(const std::string& source) {
  const auto children = ChildrenOf("warp_group_contraction", source);
  EXPECT_EQ(children.size(), 4u) << source;
  return children.size() < 4 ? "" : children[2];
}

std::vector<std::string> WhyNoWarpGroups(const std::string& source) { return RefusalsOf("warp_group_contraction", source); }

// Inputs by columns and weights by rows, bounds that are no int, a name that the edit would use.
constexpr const char* kColumnLayer = R"(
// evo:launch layer(X, W, Bias, Y, M, N, K) grid(ceil_div(M, 32), ceil_div(N, 4), BATCH) block(32, 4)
#include <cuda_bf16.h>

__global__ void layer(const __nv_bfloat16* X, const __nv_bfloat16* W, const float* bias, __nv_bfloat16* Y, size_t M, size_t N,
                      size_t K) {
  const __nv_bfloat16* x = X + blockIdx.z * K * M;
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t line = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < M && line < N) {
    float total = 0;
    for (size_t k = 0; k < K; ++k) {
      const __nv_bfloat16 left = __ldg(&x[k * M + i]);
      total = fmaf(__bfloat162float(left), __bfloat162float(W[line * K + k]), total);
    }
    // The bias of a feature.
    total += bias[line];
    Y[(blockIdx.z * M + i) * N + line] = __float2bfloat16(fmaxf(total, 0.0f));
  }
}
)";

TEST(WarpGroupContraction, BringsParametersAndBlocks) {
  const std::string child = ByWarpGroups(kHalves);
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_M 64 128 192 256\n"), HasSubstr("// evo:param TILE_N 128 256\n"),
                           HasSubstr("// evo:param GROUP_ROWS 64 128\n"), HasSubstr("// evo:param STAGES 3 4 5 6\n"),
                           HasSubstr("// evo:constraint STAGES * (TILE_M + TILE_N) * 128 <= 232448\n"),
                           HasSubstr("// evo:constraint TILE_M % GROUP_ROWS == 0\n")));
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:requires sm_90a\n"), HasSubstr("#include <cuda_pipeline.h>\n"),
                           HasSubstr("block(TILE_M / GROUP_ROWS * 128) shared(max("),
                           HasSubstr("__global__ __launch_bounds__(TILE_M / GROUP_ROWS * 128) void hgemm(")));
  EXPECT_THAT(child, AllOf(HasSubstr("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"),
                           HasSubstr("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"), HasSubstr("p, 1, 1, 0, 1;"),
                           HasSubstr("\"+f\"(sums[127])\n")));
}

// Each side's copies and descriptors follow from which of its indices takes neighbouring elements.
TEST(WarpGroupContraction, TakesEachFactorByItsOrder) {
  EXPECT_THAT(ByWarpGroups(kHalves), AllOf(HasSubstr("CopyPanels<TILE_M / 64, TILE_M / GROUP_ROWS, true>("),
                                           HasSubstr("CopyPanels<TILE_N / 64, TILE_M / GROUP_ROWS, false>("),
                                           HasSubstr("Describe(&tile_m[slot][(own_m + part_m) * 64 + part_k], 16)"),
                                           HasSubstr("Describe(&tile_n[slot][part_k * 64], 8192)")));
  EXPECT_THAT(ByWarpGroups(kColumnLayer),
              AllOf(HasSubstr("CopyPanels<TILE_M / 64, TILE_M / GROUP_ROWS, false>("),
                    HasSubstr("CopyPanels<TILE_N / 64, TILE_M / GROUP_ROWS, true>("),
                    HasSubstr("Describe(&tile_m[slot][(own_m + part_m) * 64 + part_k * 64], 8192)"),
                    HasSubstr("Describe(&tile_n[slot][part_k], 16)"), HasSubstr("f32.bf16.bf16 {"), HasSubstr("p, 1, 1, 1, 0;")));
}

TEST(WarpGroupContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = ByWarpGroups(kColumnLayer);
  EXPECT_THAT(child, HasSubstr("  const auto at_m = [&](int down, int along) {\n"
                               "    const unsigned long i = first_m + along;\n"
                               "    const unsigned long k = down;\n"
                               "    return &x[k * M + i];\n  };\n"));
  EXPECT_THAT(child, HasSubstr("      // The bias of a feature.\n"
                               "      total += bias[line];\n"
                               "      Y[(blockIdx.z * M + i) * N + line] = __float2bfloat16(fmaxf(total, 0.0f));\n"));
  EXPECT_THAT(child, HasSubstr("const int line_2 = threadIdx.x % 128 / 8, vector = threadIdx.x % 8;\n"));
  for (const char* source : {kHalves, kColumnLayer}) {
    std::istringstream lines(ByWarpGroups(source));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), line.starts_with("// evo:") || line.starts_with("__global__") ? 250u : 150u) << line;
  }
}

// synccheck objects to a barrier of a block that is waited at in two places, as where one warp group copies and others multiply.
TEST(WarpGroupContraction, HasNoBarrierThatOnlySomeThreadsReach) {
  const std::string child = ByWarpGroups(kHalves);
  const std::string body = child.substr(child.find("void hgemm("));
  int barriers = 0;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("__syncthreads") == std::string::npos) continue;
    ++barriers;
    EXPECT_TRUE(line == "    __syncthreads();" || line == "  __syncthreads();") << line;
  }
  EXPECT_EQ(barriers, 2);
  EXPECT_THAT(body, Not(HasSubstr("return;"))) << "nor one that some threads have left before";
  EXPECT_THAT(body, Not(HasSubstr("if (threadIdx")));
}

TEST(WarpGroupContraction, BeginsWithLargeOrSmallTiles) {
  const auto children = ChildrenOf("warp_group_contraction", kHalves);
  ASSERT_EQ(children.size(), 4u);
  EXPECT_THAT(children[0], AllOf(HasSubstr("#define TILE_M 256\n"), HasSubstr("#define GROUP_ROWS 128\n")));
  EXPECT_THAT(children[1], AllOf(HasSubstr("#define TILE_M 64\n"), HasSubstr("#define GROUP_ROWS 64\n")));
}

// One thread orders the copies, and rows that a tensor map cannot have are copied to others before.
TEST(WarpGroupContraction, BringsTilesByTensorMaps) {
  const std::string child = ByTensorMaps(kHalves);
  for (const char* line :
       {"// evo:workspace A_padded u16 [K % 8 + N % 8 ? M : 1, ceil_div(K, 8) * 8]\n",
        "// evo:tensormap A_map = A dims(K, M) box(64, TILE_M) swizzle(128)\n",
        "// evo:tensormap B_map = B dims(N, K) box(64, 64) swizzle(128)\n",
        "// evo:tensormap B_padded_map = B_padded dims(ceil_div(N, 8) * 8, K) box(64, 64) swizzle(128)\n",
        "// evo:launch PadRows(B, B_padded, K, N, ceil_div(N, 8) * 8) grid(ceil_div(N, 256), min(K, 65535)) block(256) when(K % "
        "8 + "
        "N % 8)\n",
        "// evo:launch hgemm(A, B, C, M, N, K, A_map, B_map) grid(min(ceil_div(M, TILE_M) * ceil_div(N, TILE_N), RESIDENT)) "
        "block(384) shared(STAGES * ((TILE_M + TILE_N) * 128 + 16) + 20480) when(K % 8 + N % 8 == 0)\n",
        "// evo:launch hgemm(A, B, C, M, N, K, A_padded_map, B_padded_map) grid(min(ceil_div(M, TILE_M) * ceil_div(N, TILE_N), "
        "RESIDENT)) block(384) shared(STAGES * ((TILE_M + TILE_N) * 128 + 16) + 20480) when(K % 8 + N % 8)\n",
        "// evo:requires sm_90a\n", "// evo:param TILE_M 128 256\n", "// evo:constraint TILE_M * TILE_N <= 32768\n",
        "int K, const __grid_constant__ TensorMap map_m, const __grid_constant__ TensorMap map_n) {\n",
        "  CopyBox(tile_m[slot], &map_m, step * 64, place.y * TILE_M, &full[slot]);\n",
        "  CopyBox(tile_n[slot] + panel * 64, &map_n, place.x * TILE_N + panel, step * 64, &full[slot]);\n",
        "MultiplyGroup(sums[part_m / 64], Describe(&tile_m[slot][(own_m + part_m) * 64 + part_k], 16),\n",
        "Describe(&tile_n[slot][part_k * 64], 8192), step > 0 || part_k > 0);\n"})
    EXPECT_THAT(child, HasSubstr(line));
  EXPECT_THAT(child, Not(HasSubstr("@{")));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), line.starts_with("// evo:") || line.starts_with("__global__") ? 250u : 150u) << line;
}

// What no tensor map describes: batches, rows with gaps, one matrix twice, a launch in a loop or under a condition.
TEST(WarpGroupContraction, TakesTensorMapsForPlainMatricesOnly) {
  EXPECT_EQ(ChildrenOf("warp_group_contraction", kHalves).size(), 4u);
  EXPECT_EQ(ChildrenOf("warp_group_contraction", With(kHalves, "B[k * N + n]", "B[n * K + k]")).size(), 4u);
  EXPECT_EQ(ChildrenOf("warp_group_contraction", kColumnLayer).size(), 2u) << "a batch";
  for (const auto& [part, other] : {std::pair("A[m * K + k]", "A[m * N + k]"),
                                    {"A[m * K + k]", "A[m * K + k + 8]"},
                                    {"B[k * N + n]", "A[n * K + k]"},
                                    {"block(16, 16)", "block(16, 16) when(M)"},
                                    {"k < K;", "k < K - 1;"}})
    EXPECT_EQ(ChildrenOf("warp_group_contraction", With(kHalves, part, other)).size(), 2u) << other;
}

TEST(WarpGroupContraction, TakesNamesThatAreFree) {
  const std::string source = With(With(kHalves, "__global__", "__device__ float Below(float x) { return x; }\n__global__"),
                                  "__global__", "#define STAGES 3\n__global__");
  EXPECT_THAT(ByWarpGroups(source), AllOf(HasSubstr("evo:param STAGES_2 3 4 5 6"), HasSubstr("int Below_2(long long"),
                                          HasSubstr("= Below_2(M, first_m, TILE_M) - line;")));
}

TEST(WarpGroupContraction, SaysWhyNot) {
  EXPECT_THAT(WhyNoWarpGroups(kHalves), IsEmpty());
  EXPECT_THAT(WhyNoWarpGroups(kFlat), ElementsAre("flat: it sums up in double, and tensor cores do in float"));
  const std::string fixed = "// evo:requires sm_80\n" + std::string(kHalves);
  EXPECT_THAT(ChildrenOf("warp_group_contraction", fixed), IsEmpty());
  EXPECT_THAT(WhyNoWarpGroups(fixed), Contains("hgemm: its source requires sm_80, and products of warp groups sm_90a"));
  const std::string same = ByWarpGroups("// evo:requires sm_90a\n" + std::string(kHalves));
  EXPECT_EQ(same.find("evo:requires"), same.rfind("evo:requires")) << "said once";
  EXPECT_THAT(WhyNoWarpGroups(With(kHalves, "B[k * N + n]", "B[k * N + 2 * n]")),
              Contains(HasSubstr("no index of `__half2float(B[k * N + 2 * n])` goes along neighbouring elements")));
}

}  // namespace
}  // namespace evo
