// What is promised of sums that are divided among blocks, for kernels that resemble no template.
#include "tests/mutators/promise_bench.h"

namespace evo {
namespace {

using SplitKPromiseTest = PromiseTest;

// A product with alpha, a bias and an activation function.
constexpr const char* kDense = R"(
// evo:launch dense(B, A, C, M, N, K, f32(0.75)) grid(ceil_div(M, 8), ceil_div(N, 16)) block(8, 16)
__device__ float Activated(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
__global__ void dense(const float* __restrict__ weights, const float* __restrict__ x, float* y, int rows, int columns,
                      unsigned depth, float alpha) {
  const int tx = threadIdx.x;
  const int i = blockIdx.x * 8 + tx;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) {
    const float* row = x + (size_t)i * depth;
    const float offset = weights[j];
    float total = 0;
#pragma unroll 2
    for (unsigned t = 0; t < depth; t++) {
      const float left = row[t];
      total = fmaf(left, weights[t * columns + j], total);
    }
    total = alpha * total + offset;
    y[i * columns + j] = Activated(total);
  }
}
)";

class Sized {
 public:
  Sized() : task_(LoadTask(std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product")) {}
  const Task& At(std::int64_t m, std::int64_t n, std::int64_t k) {
    task_.small.sizes = {{"M", m}, {"N", n}, {"K", k}};
    return task_;
  }

 private:
  Task task_;
};

// At sizes with fewer elements than a part has, with a last part of one element, with more parts than the launch wants; and the
// same bits each time.
TEST_F(SplitKPromiseTest, PartsAddUpToTheSum) {
  Sized sized;
  for (const char* mutator : {"split_k_tile", "split_k_split_tensor"}) {
    const auto children = ChildrenOf(mutator, kDense);
    ASSERT_EQ(children.size(), 3u) << testing::PrintToString(RefusalsOf("tile_contraction", kDense));
    for (const auto& [m, n, k] : {std::array{5, 9, 1}, {45, 70, 37}, {33, 17, 65}, {7, 66, 1000}, {70, 3, 20011}}) {
      SCOPED_TRACE(fmt::format("{} at {} x {} x {}", mutator, m, n, k));
      const Task& task = sized.At(m, n, k);
      const std::vector<float> expected = OutputsOf(task, kDense, false), stored = OutputsOf(task, children[1], false);
      EXPECT_EQ(Differences(expected, stored, false), 0);
      EXPECT_EQ(Differences(stored, OutputsOf(task, children[1], false), true), 0);
      const std::string without_last = With(children[1], "part < parts;", "part < parts - 1;");
      EXPECT_GT(Differences(expected, OutputsOf(task, without_last, false), false), 0);
    }
  }
}

// What is not finite stays so, whichever part it is in.
TEST_F(SplitKPromiseTest, PartsKeepWhatIsNotFinite) {
  Sized sized;
  const Task& task = sized.At(40, 24, 300);
  const auto draw = [](const Argument& argument, std::size_t count) {
    std::mt19937 random(3);
    std::vector<float> values = Draw(count, false, random);
    if (argument.name == "A") values[1 * 300 + 299] = INFINITY, values[2 * 300] = NAN, values[3 * 300 + 150] = -INFINITY;
    return values;
  };
  const std::vector<float> expected = OutputsOn(task, kDense, draw);
  for (const char* mutator : {"split_k_tile", "split_k_split_tensor"}) {
    const std::vector<float> stored = OutputsOn(task, ChildrenOf(mutator, kDense).at(1), draw);
    ASSERT_EQ(stored.size(), expected.size());
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(stored[i], expected[i], 1e-3) << i;
      else
        EXPECT_EQ(std::isnan(stored[i]), std::isnan(expected[i])) << i;
    }
  }
}

}  // namespace
}  // namespace evo
