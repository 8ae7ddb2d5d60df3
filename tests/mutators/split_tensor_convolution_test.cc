#include <gmock/gmock.h>

#include <sstream>

#include "mutators/analysis/kernel_kind.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// With tiles for many filters.
std::string SplitConvolution(const std::string& source) { return FirstChildOf("split_tensor_convolution", source, 3); }

std::vector<std::string> WhyNoSplitConvolution(const std::string& source) {
  return RefusalsOf("split_tensor_convolution", source);
}

constexpr const char* kImages = R"(
// evo:launch images(X, F, B, Y, N, C, K, H, W) grid(ceil_div(W, 32), ceil_div(H, 4), N * K) block(32, 4)
__global__ void images(const float* X, const float* F, const float* bias, float* Y, int N, int C, int K, int H, int W) {
  const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 4 + threadIdx.y;
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  if (w >= W || h >= H) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int y = h + i - 1, x = w + j - 1;
        if (y >= 0 && y < H && x >= 0 && x < W) sum += X[((n * C + c) * H + y) * W + x] * F[((k * C + c) * 3 + i) * 3 + j];
      }
  // What a filter adds.
  sum += bias[k];
  Y[(blockIdx.z * H + h) * W + w] = fmaxf(sum, 0.0f);
}
)";

constexpr const char* kSequences = R"(
// evo:launch sequences(X, F, Y, C, K, L, R) grid(N * K, ceil_div(L, 64)) block(64)
__global__ void sequences(const float* X, const float* F, float* Y, int channels, int filters, int length, int taps) {
  const int sequence = blockIdx.x / filters, filter = blockIdx.x % filters;
  const int place = blockIdx.y * 64 + threadIdx.x;
  if (place >= length) return;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < taps; ++r) {
      const int from = place + r - taps / 2;
      if (from >= 0 && from < length)
        sum += X[(sequence * channels + c) * length + from] * F[(filter * channels + c) * taps + r];
    }
  }
  Y[blockIdx.x * length + place] = sum;
}
)";

constexpr const char* kPointwise = R"(
// evo:launch pointwise(X, F, Y, C, K, H * W) grid(N * K, ceil_div(H * W, 64)) block(64)
__global__ void pointwise(const float* X, const float* F, float* Y, int channels, int filters, int pixels) {
  const int image = blockIdx.x / filters, filter = blockIdx.x % filters;
  const int pixel = blockIdx.y * 64 + threadIdx.x;
  if (pixel >= pixels) return;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c) sum += X[(image * channels + c) * pixels + pixel] * F[filter * channels + c];
  Y[blockIdx.x * pixels + pixel] = sum;
}
)";

TEST(SplitTensorConvolution, TrapsWhereAddressesExceedTheirBits) {
  EXPECT_THAT(SplitConvolution(kImages),
              HasSubstr("  if (((start + count - 1) / pixels + 1ll) * C * H * W * sizeof(float) >> 32) __trap();\n"));
  EXPECT_THAT(SplitConvolution(kSequences), HasSubstr(" / pixels + 1ll) * channels * length * sizeof(float) >> 32) __trap();\n"));
}

TEST(SplitTensorConvolution, BringsParametersAndBlocks) {
  const auto children = ChildrenOf("split_tensor_convolution", kImages);
  ASSERT_THAT(children, SizeIs(3));
  const std::string& child = children[0];
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_M 32 64 128\n"), HasSubstr("// evo:param TILE_N 64 128 256\n"),
                           HasSubstr("// evo:param STAGES 2 3 4\n"), HasSubstr("// evo:param BLOCKS 1 2 3 4\n"),
                           HasSubstr("// evo:constraint TILE_M * TILE_K / 4 % (WARPS_M * WARPS_N * 32) == 0\n"),
                           HasSubstr("#define TILE_M 128\n")));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(K, TILE_M) * ceil_div(N * H * W, TILE_N)) block(WARPS_M * WARPS_N * 32) "
                               "shared(max(STAGES * (TILE_M * (TILE_K + 4) + TILE_K * (TILE_N + 8)) * 4, "
                               "WARPS_M * (TILE_N + WARPS_N * 8) * 64))\n"));
  EXPECT_THAT(child,
              AllOf(HasSubstr("__global__ __launch_bounds__(WARPS_M * WARPS_N * 32, BLOCKS) void images("),
                    HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k8.row.col.f32.tf32."),
                    HasSubstr("void Split(unsigned& high, unsigned& low, float x) {\n"), Not(HasSubstr("LoadTransposed"))));
  EXPECT_THAT(children[1], AllOf(HasSubstr("#define TILE_M 64\n"), HasSubstr("#define BLOCKS 3\n")));
  EXPECT_THAT(children[2], AllOf(HasSubstr("#define TILE_M 32\n"), HasSubstr("#define WARPS_M 1\n")));
}

TEST(SplitTensorConvolution, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = SplitConvolution(kImages);
  EXPECT_THAT(child, HasSubstr("            MultiplyAdd(part[i], low_m[i][eight], high_n);\n"
                               "            MultiplyAdd(part[i], high_m[i][eight], low_n);\n"
                               "            MultiplyAdd(part[i], high_m[i][eight], high_n);\n"));
  EXPECT_THAT(child, HasSubstr("inside[p] & line.y ? 0 : 4);\n"));
  EXPECT_THAT(child, HasSubstr("        if (products < 32 || !(fabsf(total) < 1e23f)) {\n          total = 0.0f;\n"));
  EXPECT_THAT(child, HasSubstr("        float sum = total;\n"
                               "        // What a filter adds.\n"
                               "        sum += bias[k];\n"
                               "        Y[(image * filters + filter) * pixels + pixel] = fmaxf(sum, 0.0f);\n"));
  for (const char* source : {kImages, kSequences, kPointwise}) {
    std::istringstream lines(SplitConvolution(source));
    for (std::string line; std::getline(lines, line);) {
      // The source's own line, which gets the bounds.
      if (line.starts_with("__global__")) continue;
      EXPECT_LE(line.size(), line.starts_with("// evo:") ? 300u : 150u) << line;
      // Words for what the source says.
      EXPECT_THAT(line, Not(ContainsRegex("[A-Z]_[^A-Za-z0-9_]"))) << line;
    }
  }
}

// What the kernel declares keeps its names; comments keep their words.
TEST(SplitTensorConvolution, GivesWayToTheNamesOfTheSource) {
  const std::string source = With(With(kImages, "float sum = 0.0f", "const float total = bias[k];\n  float sum = 0.0f"),
                                  "sum += bias[k];", "sum += total;");
  EXPECT_THAT(SplitConvolution(source), AllOf(HasSubstr("const float total = bias[k];\n"), HasSubstr("float sum = total_2;\n"),
                                              HasSubstr("sum += total;\n")));
  EXPECT_THAT(SplitConvolution(kPointwise), HasSubstr("A warp computes kWarpM\n  // filters at kWarpN pixels."));
}

// A size of filters that is a parameter, and paddings that follow from it.
TEST(SplitTensorConvolution, FindsConvolutionsOfOneRow) {
  const std::string child = SplitConvolution(kSequences);
  EXPECT_THAT(child,
              AllOf(HasSubstr("pixels = length, plane = length;\n"), HasSubstr("% pixels - (taps / 2);\n"),
                    HasSubstr("const int taps_2 = taps, products = channels * taps_2;\n"),
                    HasSubstr("left[p] + line.y < unsigned(length) ? 0 : 4);\n"), HasSubstr("* ceil_div(N * L, TILE_N))")));
  EXPECT_THAT(SplitConvolution(With(kSequences, "r - taps / 2", "r - (taps - 1) / 2")),
              HasSubstr("% pixels - ((taps - 1) / 2);\n"));
  const std::string dilated =
      With(With(With(kSequences, "r < taps", "r < 3"), "c) * taps", "c) * 3"), "r - taps / 2", "2 * r - 2");
  EXPECT_THAT(SplitConvolution(dilated), HasSubstr("along = at_x + t % 3 * 2;\n"));
  EXPECT_THAT(SplitConvolution(With(kSequences, "(filter * channels + c) * taps + r", "(filter * taps + r) * channels + c")),
              HasSubstr("channel = k % channels, tap = k / channels;\n"));
  EXPECT_EQ(KernelKind(Parent(kSequences).Context()), "convolution");
}

TEST(SplitTensorConvolution, FindsFiltersOfOneTap) {
  EXPECT_THAT(SplitConvolution(kPointwise),
              AllOf(HasSubstr("constexpr int taps = 1;\n"), HasSubstr("* ceil_div(N * (H * W), TILE_N))")));
  EXPECT_EQ(KernelKind(Parent(kPointwise).Context()), "convolution");
}

TEST(SplitTensorConvolution, SaysWhyNot) {
  for (const char* source : {kImages, kSequences, kPointwise}) EXPECT_THAT(WhyNoSplitConvolution(source), IsEmpty());
  const std::string halves =
      With(With(With(kImages, "const float* X, const float* F", "const half* X, const half* F"), "sum += X[",
                "sum += __half2float(X["),
           "* W + x] * F[((k * C + c) * 3 + i) * 3 + j];", "* W + x]) * __half2float(F[((k * C + c) * 3 + i) * 3 + j]);");
  EXPECT_THAT(WhyNoSplitConvolution("#include <cuda_fp16.h>\n" + halves), ElementsAre("images: the elements of X are no floats"));
  // What convolution_tiles says.
  EXPECT_THAT(WhyNoSplitConvolution(With(kImages, "float sum = 0.0f;", "double sum = 0.0;")), IsEmpty());
}

// Products, depthwise convolutions, sequences that are read round in a circle, taps that lie otherwise, channels left out.
TEST(SplitTensorConvolution, LeavesOtherKernels) {
  const std::string product = R"(
// evo:launch product(A, B, D, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void product(const float* a, const float* b, float* d, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  d[row * n + column] = sum;
}
)";
  const std::vector<std::string> others{
      product,
      With(kSequences, "(filter * channels + c) * taps", "c * taps"),
      With(kSequences, "const int from = place + r - taps / 2;", "const int from = (place + r - taps / 2 + length) % length;"),
      With(kSequences, "r - taps / 2", "r * r - taps / 2"),
      With(kSequences, "for (int c = 0;", "for (int c = 1;"),
      With(kSequences, "from >= 0 &&", "from >= 0 && c < 30 &&"),
      With(kPointwise, "c < channels", "c < channels && c < 30")};
  for (const std::string& source : others) {
    for (const char* mutator : {"split_tensor_convolution", "convolution_tiles"}) {
      EXPECT_THAT(ChildrenOf(mutator, source), IsEmpty()) << source;
    }
  }
  EXPECT_THAT(RefusalsOf("convolution_tiles", product), IsEmpty());
}

}  // namespace
}  // namespace evo
