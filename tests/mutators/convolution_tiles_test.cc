#include <gmock/gmock.h>

#include <sstream>

#include "mutators/analysis/kernel_kind.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// With tiles for large problems; the other child has smaller ones.
std::string Tiled(const std::string& source) { return FirstChildOf("convolution_tiles", source, 2); }

std::vector<std::string> WhyNotTiled(const std::string& source) { return RefusalsOf("convolution_tiles", source); }

// Taps are skipped; a bias of half, a slope for negative sums and the element's index come after the sum.
constexpr const char* kSkipped = R"(
// evo:launch filter2d(X, F, Bias, Y, C, K, H, W, 0.1) grid(ceil_div(W, 32), ceil_div(H, 4), N * K) block(32, 4)
#include <cuda_fp16.h>
#define TAPS 3
__global__ void filter2d(const half* X, const half* F, const half* bias, half* Y, int C, int K, int H, int W, float slope) {
  const int w = blockIdx.x * 32 + threadIdx.x;
  const int h = blockIdx.y * 4 + threadIdx.y;
  const int k = blockIdx.z % K;
  const int n = blockIdx.z / K;
  if (w >= W || h >= H) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int i = 0; i < TAPS; ++i) {
      const int y = h + i - 1;
      if (y < 0 || y >= H) continue;
      for (int j = 0; j < TAPS; ++j) {
        const int x = w + j - 1;
        if (x < 0 || x >= W) continue;
        sum += __half2float(X[((n * C + c) * H + y) * W + x]) * __half2float(F[((k * C + c) * TAPS + i) * TAPS + j]);
      }
    }
  }
  // What a filter adds.
  sum += __half2float(bias[k]);
  const float out = sum < 0.0f ? slope * sum : sum;
  Y[((blockIdx.z * H) + h) * W + w] = __float2half(out);
}
)";

// Sizes of filters, strides and paddings are parameters; without padding where that is 0.
constexpr const char* kSized = R"(
// evo:launch window(in, w, out, C, K, H, W, R, T, P, N) \
//   grid(ceil_div(N * K * ((H + 2 * P - R) / T + 1) * ((W + 2 * P - R) / T + 1), 64)) block(64)
#include <cuda_bf16.h>
__global__ void window(const __nv_bfloat16* in, const __nv_bfloat16* w, float* out, int channels, int outputs, int height,
                       int width, int size, int stride, int pad, int images) {
  const int across = (width + 2 * pad - size) / stride + 1;
  const int down = (height + 2 * pad - size) / stride + 1;
  long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= (long long)images * outputs * down * across) return;
  const int q = at % across;
  const int p = at / across % down;
  const int k = at / across / down % outputs;
  const int n = at / across / down / outputs;
  float total = 0;
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        const int y = p * stride + i - pad, x = q * stride + j - pad;
        if (y >= 0 && y < height && x >= 0 && x < width)
          total += float(in[((n * channels + c) * height + y) * width + x]) *
                   float(w[((k * channels + c) * size + i) * size + j]);
      }
  out[at] = total;
}
)";

TEST(ConvolutionTiles, BringsParametersAndBlocks) {
  const std::string child = Tiled(kSkipped);
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_M 32 64 128\n"), HasSubstr("// evo:param TILE_N 64 128\n"),
                           HasSubstr("// evo:param TILE_K 16 32 64\n"), HasSubstr("// evo:param WARPS_N 1 2 4\n"),
                           HasSubstr("// evo:constraint TILE_M * TILE_K / 8 % (WARPS_M * WARPS_N * 32) == 0\n")));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(K, TILE_M) * ceil_div(N * H * W, TILE_N)) block(WARPS_M * WARPS_N * 32) "
                               "shared(max((TILE_M * (TILE_K + 8) + TILE_K * (TILE_N + 8)) * 4, "
                               "WARPS_M * (TILE_N + WARPS_N * 8) * 64))\n"));
  EXPECT_THAT(child,
              AllOf(HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "),
                    HasSubstr("constexpr int taps = 9;\n")));
}

TEST(ConvolutionTiles, TrapsWhereAddressesExceedTheirBits) {
  EXPECT_THAT(Tiled(kSkipped),
              HasSubstr("  if (((start + count - 1) / pixels + 1ll) * C * H * W * sizeof(half) >> 32) __trap();\n"));
}

TEST(ConvolutionTiles, HasAKindOfItsOwn) { EXPECT_EQ(KernelKind(Parent(kSkipped).Context()), "convolution"); }

// What follows the sum stays as the kernel says it, by the element's own indices.
TEST(ConvolutionTiles, KeepsWhatFollowsTheSum) {
  const std::string child = Tiled(kSkipped);
  EXPECT_THAT(child, HasSubstr("        const int k = filter;\n"));
  EXPECT_THAT(child, HasSubstr("        // What a filter adds.\n"
                               "        sum += __half2float(bias[k]);\n"
                               "        const float out = sum < 0.0f ? slope * sum : sum;\n"
                               "        Y[(image * filters + filter) * pixels + pixel] = __float2half(out);\n"));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), line.starts_with("// evo:") ? 250u : 150u) << line;
}

TEST(ConvolutionTiles, FindsSizesThatAreParameters) {
  const std::string child = Tiled(kSized);
  EXPECT_THAT(child, AllOf(HasSubstr("const int taps = size * size, products = channels * taps;"), HasSubstr("f32.bf16.bf16.f32"),
                           HasSubstr("((height + 2 * pad - size) / stride + 1)"), HasSubstr("out[(image * filters + filter)"),
                           HasSubstr("* stride - pad : 1 << 29")));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(K, TILE_M) * ceil_div(N * ((H + 2 * P - R) / T + 1) * "
                               "((W + 2 * P - R) / T + 1), TILE_N))"));
}

// The same values by other code.
TEST(ConvolutionTiles, DoesNotMindHowTheSumIsComputed) {
  const std::vector<std::pair<const char*, const char*>> ways{
      {"if (x < 0 || x >= W) continue;", "if ((unsigned)x >= (unsigned)W) continue;"},
      {"float sum = 0.0f;", "float sum = __half2float(bias[k]);"},
      {"#define TAPS 3", "// evo:param TAPS 3 5\n#ifndef TAPS\n#define TAPS 3\n#endif"},
      {"const float out = sum < 0.0f ? slope * sum : sum;", "const float out = fmaxf(sum, 0.0f);"},
      {"sum += __half2float(X[((n * C + c) * H + y) * W + x]) *", "sum += float(X[((n * C + c) * H + y) * (long)W + x]) *"},
      {"const int n = blockIdx.z / K;", "const int n = (blockIdx.z - k) / K;"},
      {"X[((n * C + c) * H + y) * W + x]", "X[((n * H + y) * W + x) * C + c]"},
      {"__global__ void filter2d", "__global__ void __launch_bounds__(128) filter2d"},
      {"* TAPS + i) * TAPS + j]", "* TAPS + 2 - i) * TAPS + 2 - j]"},
      {"* TAPS + i) * TAPS + j]", "* TAPS + j) * TAPS + i]"},
      {"const int x = w + j - 1;", "const int x = w + 2 * j - 2;"}};
  for (const auto& [from, to] : ways) {
    EXPECT_THAT(WhyNotTiled(With(kSkipped, from, to)), IsEmpty()) << to;
    EXPECT_NE(Tiled(With(kSkipped, from, to)), "") << to;
  }
  EXPECT_THAT(Tiled(With(kSkipped, "float sum = 0.0f;", "float sum = __half2float(bias[k]);")),
              HasSubstr("float sum = (__half2float(bias[k])) + own[row * kRow + p * 32 + lane];"));
}

TEST(ConvolutionTiles, SaysWhyNot) {
  EXPECT_THAT(WhyNotTiled(kSkipped), IsEmpty());
  EXPECT_THAT(WhyNotTiled(kSized), IsEmpty());
  constexpr const char* kIsNone = "what it sums up is not X[n][c][y + i][x + j] * F[k][c][i][j]";
  const std::vector<std::tuple<const char*, const char*, const char*>> changes{
      {"* TAPS + i) * TAPS + j]", "* TAPS + 2 - i) * TAPS + j]", kIsNone},
      {"if (y < 0 || y >= H) continue;", "if (y < 0 || y >= H || c > 30) continue;", "where sizes are beyond"},
      {"float sum = 0.0f;", "double sum = 0.0;", "it sums up in double, and tensor cores do in float"},
      {"__half2float(X[((n * C + c) * H + y) * W + x]) * __half2float(F[((k * C + c) * TAPS + i) * TAPS + j])",
       "__half2float(__hmul(X[((n * C + c) * H + y) * W + x], F[((k * C + c) * TAPS + i) * TAPS + j]))", "it calls __hmul"},
      {"sum += __half2float(X[", "sum += __half2float(__float2half(2.0f * __half2float(X[0]))) * __half2float(X[",
       "it rounds parts of its sum"},
      {"const half* X, const half* F", "const half* X, const float* F", "are of two types"},
      {"block(32, 4)", "block(32, 8)", "two threads store the same element"},
      {"if (w >= W || h >= H) return;", "if (w >= W || h >= H || h == 0) return;", "do not store all elements"},
      {"if (w >= W || h >= H) return;", "if (w >= W || h >= H || slope < 0.05f) return;", "it compares real numbers"},
      {"const float out = sum", "if (k == 1) return;\n  const float out = sum", "it returns after its sum"}};
  for (const auto& [from, to, why] : changes) {
    std::string source = With(kSkipped, from, to);
    if (std::string_view(why) == "are of two types") source = With(source, "__half2float(F[", "(F[");
    EXPECT_THAT(ChildrenOf("convolution_tiles", source), IsEmpty()) << source;
    EXPECT_THAT(WhyNotTiled(source), Contains(HasSubstr(why))) << source;  // a second reason may say what its launches leave
  }
  const std::string halves =
      With(With(With(kSkipped, "float sum = 0.0f;", "half sum = 0.0f;"),
                "sum += __half2float(X[((n * C + c) * H + y) * W + x]) * "
                "__half2float(F[((k * C + c) * TAPS + i) * TAPS + j]);",
                "sum = __hfma(X[((n * C + c) * H + y) * W + x], F[((k * C + c) * TAPS + i) * TAPS + j], sum);"),
           "sum += __half2float(bias[k]);\n  const float out = sum < 0.0f ? slope * sum : sum;",
           "const float out = __half2float(sum);");
  EXPECT_THAT(WhyNotTiled(halves), ElementsAre("filter2d: it sums up in half, and tensor cores do in float"));
  const std::string wrapped = With(kSkipped, "const int x = w + j - 1;", "const int x = (w + j - 1 + W) % W;");
  EXPECT_THAT(ChildrenOf("convolution_tiles", wrapped), IsEmpty());
  EXPECT_THAT(WhyNotTiled(wrapped), Contains(HasSubstr(kIsNone)));
  // The mean of those taps that are within the image.
  const std::string mean = With(With(With(kSkipped, "float sum = 0.0f;", "float sum = 0.0f;\n  int count = 0;"),
                                     "sum += __half2float(X[", "++count;\n        sum += __half2float(X["),
                                "const float out = sum", "sum /= count;\n  const float out = sum");
  EXPECT_THAT(WhyNotTiled(mean), Contains(HasSubstr("its loop computes both")));
  const std::string flag = With(With(kSkipped, "H, W, 0.1)", "H, W, 0.1, B)"), "float slope)", "float slope, int whole)");
  EXPECT_THAT(WhyNotTiled(With(flag, "y >= H) continue;", "(whole > 2 && y >= H)) continue;\n      if (y >= H) continue;")),
              Contains("filter2d: whole decides what it sums up"));
}

// A stencil with weights that the source has in constant memory.
TEST(ConvolutionTiles, TablesThatNoLineFillsAreNoFilters) {
  constexpr char kWave[] = R"(// evo:launch wave(U, V, W, H) grid(ceil_div(W, 32), ceil_div(H, 4)) block(32, 4)
__constant__ float c[3] = {-2.5f, 1.25f, -0.1f};
__global__ void wave(const float* __restrict__ u, float* __restrict__ v, int w, int h) {
  const int x = threadIdx.x + blockDim.x * blockIdx.x, y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x < 2 || x >= w - 2 || y < 2 || y >= h - 2) return;
  float sum = c[0] * u[y * w + x];
  for (int r = 1; r <= 2; ++r) sum += c[r] * (u[y * w + x - r] + u[y * w + x + r]);
  v[y * w + x] = sum;
}
)";
  EXPECT_TRUE(SourceMutatorNamed("convolution_tiles").Proposals(Parent(ParseTemplate("kernel", kWave)).Context()).empty());
}

TEST(ConvolutionTiles, LeavesOtherKernelsWithoutAWord) {
  const std::string product = R"(
// evo:launch product(A, B, D, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <cuda_fp16.h>
__global__ void product(const half* a, const half* b, half* d, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[i * n + column]);
  d[row * n + column] = __float2half(sum);
}
)";
  EXPECT_THAT(WhyNotTiled(product), IsEmpty());
  EXPECT_THAT(ChildrenOf("convolution_tiles", product), IsEmpty());
}

// What it is was known before; to find that out once more by running it takes seconds.
TEST(ConvolutionTiles, AKernelThatItWroteIsNotRunAgain) {
  const Parent parent(kSkipped);
  const SourceMutator& mutator = SourceMutatorNamed("convolution_tiles");
  const auto proposals = mutator.Proposals(parent.Context());
  ASSERT_THAT(proposals, SizeIs(2));
  Genome genome = parent.genome;
  genome.edits.push_back(mutator.EditOf(parent.Context(), proposals.front()));
  for (const BroughtParameter& brought : genome.edits.back().brings) genome.parameters[brought.name] = brought.initial;
  const Parent tiled(parent.kernel_template, genome);
  ASSERT_THAT(tiled.rendering.dropped, IsEmpty());
  for (const char* const name : {"convolution_tiles", "split_tensor_convolution", "tile_contraction", "tensor_contraction"}) {
    EXPECT_THAT(SourceMutatorNamed(name).Proposals(tiled.Context()), IsEmpty()) << name;
    EXPECT_THAT(SourceMutatorNamed(name).Refusals(tiled.Context()), Not(testing::Contains(HasSubstr("for longer")))) << name;
  }
}

}  // namespace
}  // namespace evo
