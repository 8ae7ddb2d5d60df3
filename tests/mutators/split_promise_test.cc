// What is promised of floats on tensor cores, for numbers that split into two of tf32 badly or not at all.
#include "tests/mutators/promise_bench.h"

namespace evo {
namespace {

using SplitPromiseTest = PromiseTest;

// A product of floats on tensor cores keeps denormal numbers, and what is not finite or becomes so.
TEST_F(SplitPromiseTest, SplitProductsKeepHardNumbers) {
  constexpr const char* kSource = R"(
// evo:launch clamped(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void clamped(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = fminf(sum, 3.0e38f);
}
)";
  const Task task = LoadTask(std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product");
  const std::size_t rows = 45, columns = 70, depth = 37;
  std::mt19937 random(7);
  std::vector<float> a = Draw(rows * depth, false, random), b = Draw(depth * columns, false, random);
  constexpr float kScales[] = {1, 1e-40f, 1e-37f, 1e12f, 1e20f, 3e38f, 1e-20f};
  constexpr float kOnes[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= kScales[i / depth % 7];
  for (std::size_t row = 0; row < rows; row += 4) a[row * depth + row % depth] = kOnes[row / 4 % 5];
  // A third of the columns is large, and a third is of ones, of which the second number is 0.
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 3 == 1 ? b[i] * 1e15f : i % 3 == 2 ? 1.0f : b[i];
  const auto draw = [&](const Argument& argument, std::size_t) { return argument.name == "A" ? a : b; };
  const std::vector<float> expected = OutputsOn(task, kSource, draw);
  const auto children = ChildrenOf("split_tensor_contraction", kSource);
  ASSERT_EQ(children.size(), 3u);
  int finite = 0;
  const auto wrong = [&](const std::string& source) {
    const auto terms = [&](std::size_t i) {
      std::vector<std::pair<float, float>> factors;
      for (std::size_t k = 0; k < depth; ++k) factors.emplace_back(a[i / columns * depth + k], b[k * columns + i % columns]);
      return factors;
    };
    return WrongSums(expected, OutputsOn(task, source, draw), terms, finite);
  };
  EXPECT_EQ(wrong(children[1]), std::pair(0, 0));
  EXPECT_GT(finite, 1000);
  EXPECT_LT(finite, 3000);
  // Without the factor denormal numbers lose bits, and without the loop products of infinities are lost.
  const std::string scaled = With(With(children[1], "16777216.0f", "1.0f"), "0x1p-48f", "1.0f");
  EXPECT_GT(wrong(scaled).first, 100);
  EXPECT_GT(wrong(With(children[1], "!(fabsf(sum) < 1e23f)", "false")).second, 100);
}

// So does a convolution of floats on tensor cores, also next to the ends, where infinite filters meet nothing.
TEST_F(SplitPromiseTest, SplitConvolutionsKeepHardNumbers) {
  const Task task = LoadTask(ShareDirectory() / "kernel_templates" / "conv1d");
  const std::string source = LoadTemplate(task.directory / "naive.cu").text;
  const std::size_t sequences = 2, channels = 11, filters = 7, length = 301, taps = 3, products = channels * taps;
  std::mt19937 random(7);
  std::vector<float> x = Draw(sequences * channels * length, false, random), f = Draw(filters * products, false, random);
  constexpr float kScales[filters] = {1, 1e-40f, 1e-37f, 1e12f, 1e20f, 3e38f, 1};
  constexpr float kOnes[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f};
  for (std::size_t i = 0; i < f.size(); ++i) f[i] *= kScales[i / products];
  f[6 * products] = INFINITY;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 97 == 5 ? kOnes[i / 97 % 5] : i % length < 100 ? x[i] * 1e15f : x[i];
  const auto draw = [&](const Argument& argument, std::size_t) { return argument.name == "X" ? x : f; };
  const std::vector<float> expected = OutputsOn(task, source, draw);
  const auto children = ChildrenOf("split_tensor_convolution", source);
  ASSERT_EQ(children.size(), 3u);
  int finite = 0;
  const auto wrong = [&](const std::string& child) {
    const auto terms = [&](std::size_t i) {
      std::vector<std::pair<float, float>> factors;
      const std::size_t place = i % length, filter = i / length % filters, sequence = i / length / filters;
      for (std::size_t k = 0; k < products; ++k) {
        const std::size_t from = place + k % taps - 1;
        if (from < length) factors.emplace_back(x[(sequence * channels + k / taps) * length + from], f[filter * products + k]);
      }
      return factors;
    };
    return WrongSums(expected, OutputsOn(task, child, draw), terms, finite);
  };
  EXPECT_EQ(wrong(children[2]), std::pair(0, 0));
  EXPECT_GT(finite, 1000);
  EXPECT_LT(finite, 4000);
  const std::string scaled = With(With(children[2], "16777216.0f", "1.0f"), "0x1p-48f", "1.0f");
  EXPECT_GT(wrong(scaled).first, 100);
  EXPECT_GT(wrong(With(children[2], "!(fabsf(total) < 1e23f)", "false")).second, 100);
}

}  // namespace
}  // namespace evo
