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
std::string OnTensorCores(const std::string& source) { return FirstChildOf("tensor_contraction", source, 2); }

std::vector<std::string> Refusals(const std::string& source) { return RefusalsOf("tensor_contraction", source); }

// A layer with inputs by columns and weights by rows, batches and a scale, bounds that are no int.
constexpr const char* kBfloatLayer = R"(
// evo:launch layer(X, W, Bias, Y, M, N, K, 0.5) grid(ceil_div(M, 32), ceil_div(N, 4), BATCH) block(32, 4)
#include <cuda_bf16.h>

__device__ float Clamp(float x, float least) { return x < least ? least : x; }

__global__ void layer(const __nv_bfloat16* X, const __nv_bfloat16* W, const float* bias, __nv_bfloat16* Y, size_t M, size_t N,
                      size_t K, float scale) {
  const __nv_bfloat16* x = X + blockIdx.z * K * M;
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t lane = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < M && lane < N) {
    float total = 0;
    for (size_t k = 0; k < K; ++k) {
      const __nv_bfloat16 left = __ldg(&x[k * M + i]);
      const float right = static_cast<float>(W[lane * K + k]);
      total = fmaf(right, __bfloat162float(left), total);
    }
    // The bias of a feature.
    const float offset = bias[lane];
    total = total * scale + offset;
    Y[(blockIdx.z * M + i) * N + lane] = __float2bfloat16(Clamp(total, 0.0f));
  }
}
)";

TEST(TensorContraction, BringsParametersAndBlocks) {
  const std::string child = OnTensorCores(kHalves);
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_M 16 32 64 128 256\n"), HasSubstr("// evo:param WARPS_N 1 2 4\n"),
                           HasSubstr("// evo:param STAGES 2 3 4\n"),
                           HasSubstr("// evo:constraint TILE_M * TILE_K / 8 % (WARPS_M * WARPS_N * 32) == 0\n")));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M)) block(WARPS_M * WARPS_N * 32) "
                               "shared(max(STAGES * (TILE_M * (TILE_K + 8) + TILE_K * (TILE_N + 8)) * 2, "
                               "WARPS_M * (TILE_N + WARPS_N * 8) * 64))\n"));
  EXPECT_THAT(child,
              AllOf(HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "),
                    HasSubstr("void CopyVector(half* to, const half* from, long long count) {\n")));
}

// A factor whose neighbours go along k is loaded as it lies there, one whose neighbours go along the output transposed.
TEST(TensorContraction, LoadsEachFactorByItsOrder) {
  EXPECT_THAT(
      OnTensorCores(kHalves),
      AllOf(HasSubstr("LoadMatrices(part_m[i], &tile_m[slot][own_m + i * 16 + lane % 16][part_k + lane / 16 * 8]);\n"),
            HasSubstr("LoadTransposed(part_n[j], &tile_n[slot][part_k + lane % 16][own_n + j * 16 + lane / 16 * 8]);\n")));
  const std::string child = OnTensorCores(kBfloatLayer);
  EXPECT_THAT(child, AllOf(HasSubstr("LoadTransposed(part_m[u], &tile_m[slot][part_k + lane_2 / 16 * 8 + lane_2 % 8]"
                                     "[own_m + u * 16 + lane_2 / 8 % 2 * 8]);\n"),
                           HasSubstr("LoadMatrices(part_n[j], &tile_n[slot][own_n + j * 16 + lane_2 / 16 * 8 + lane_2 % 8]"
                                     "[part_k + lane_2 / 8 % 2 * 8]);\n")));
}

TEST(TensorContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = OnTensorCores(kBfloatLayer);
  EXPECT_THAT(child, HasSubstr("f32.bf16.bf16.f32"));
  EXPECT_THAT(child, HasSubstr("\n  const __nv_bfloat16* x = X + blockIdx.z * K * M;\n"));
  EXPECT_THAT(child, HasSubstr(", &x[k * M + i], inside ? M - i : 0);\n")) << "the address that __ldg reads";
  EXPECT_THAT(child, HasSubstr(", &W[lane * K + k], inside ? K - k : 0);\n")) << "what a variable of the loop stands for";
  EXPECT_THAT(child, HasSubstr("      // The bias of a feature.\n"
                               "      const float offset = bias[lane];\n"
                               "      total = total * scale + offset;\n"
                               "      Y[(blockIdx.z * M + i) * N + lane] = __float2bfloat16(Clamp(total, 0.0f));\n"));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(M, TILE_M), ceil_div(N, TILE_N), BATCH)"));
  for (const char* source : {kHalves, kBfloatLayer}) {
    std::istringstream lines(OnTensorCores(source));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), line.starts_with("// evo:") ? 250u : 150u) << line;
  }
}

TEST(TensorContraction, BeginsWithLargeOrSmallTiles) {
  const auto children = ChildrenOf("tensor_contraction", kHalves);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_THAT(children[0], HasSubstr("#define TILE_M 128\n"));
  EXPECT_THAT(children[1], AllOf(HasSubstr("#define TILE_M 32\n"), HasSubstr("#define WARPS_M 1\n")));
}

TEST(TensorContraction, TakesNamesThatAreFree) {
  const std::string source = With(With(kHalves, "__global__", "__device__ float LoadMatrices(float x) { return x; }\n__global__"),
                                  "__global__", "#define STAGES 3\n__global__");
  EXPECT_THAT(OnTensorCores(source), AllOf(HasSubstr("evo:param STAGES_2 2 3 4"), HasSubstr("void LoadMatrices_2(unsigned"),
                                           HasSubstr("LoadMatrices_2(part_m[i]")));
}

TEST(TensorContraction, SaysWhyNot) {
  EXPECT_THAT(Refusals(kHalves), IsEmpty());
  EXPECT_THAT(Refusals(kTransposedB),
              ElementsAre("dense: the factor `xi[d]` is no element of half or bfloat16 converted to float"));
  EXPECT_THAT(Refusals(kBytes), ElementsAre("quantised: it sums up in int, and tensor cores do in float"));
  EXPECT_THAT(Refusals(kFlat), ElementsAre("flat: it sums up in double, and tensor cores do in float"));
  EXPECT_THAT(Refusals(kScaled), ElementsAre(HasSubstr("scaled: ")));
  for (const auto& [source, why] : kRefused) EXPECT_THAT(Refusals(source), IsEmpty()) << "tile_contraction says " << why;
  const std::vector<std::tuple<const char*, const char*, const char*>> changes{
      {"B[k * N + n]", "B[k * N + 2 * n]", "no index of `__half2float(B[k * N + 2 * n])` goes along neighbouring elements"},
      {"* __half2float(B[k * N + n])", "* (2.0f * __half2float(B[k * N + n]))",
       "the factor `(2.0f * __half2float(B[k * N + n]))` is no"},
      {"__half2float(A[m * K + k]) * __half2float(B[k * N + n])",
       "0.5f * (__half2float(A[m * K + k]) * __half2float(B[k * N + n]))", "it adds more than the product of two elements"},
      {"float sum = 0.0f", "double sum = 0.0", "it sums up in double"},
      {"__half2float(A[m * K + k])", "__half2float(__float2half(__half2float(A[m * K + k])))",
       "is no element of half or bfloat16 converted to float"}};
  for (const auto& [from, to, why] : changes) {
    const std::string source = With(kHalves, from, to);
    EXPECT_THAT(ChildrenOf("tensor_contraction", source), IsEmpty()) << source;
    EXPECT_THAT(Refusals(source), Contains(HasSubstr(why))) << source;
  }
}

}  // namespace
}  // namespace evo
