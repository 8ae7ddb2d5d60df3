#include <gmock/gmock.h>

#include <map>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

// Kernels in the style of textbooks, not written for evo.
const char* const kTranspose = R"(// evo:launch transpose(A, B, R, C) grid(ceil_div(C, 32), ceil_div(R, 32)) block(32, 8)
#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM];
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
    tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
    odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}
)";

const char* const kMoments = R"(// evo:launch moments(A, B, C, N) grid(R) block(256)
__global__ void moments(const float *x, float *mean, float *deviation, int n) {
  const float *row = x + blockIdx.x * n;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = row[i];
    sum += v;
    squares += v * v;
  }
  float largest = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) largest = fmaxf(largest, row[i]);
  atomicAdd(&mean[blockIdx.x], sum / n);
  deviation[blockIdx.x] = squares + largest;
}
)";

const char* const kFilter = R"(// evo:launch filter(A, B, C, N, T) grid(ceil_div(N, 512)) block(128)
__global__ void filter(const float *input, const float *taps, float *output, int n, int count) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  float result[4];
  for (int k = 0; k < 4; k++) result[k] = 0.0f;
  for (int k = 0; k < 4; k++) {
    for (int t = 0; t < count; t++) {
      if (first + k + t < n) result[k] += input[first + k + t] * taps[t];
    }
  }
  for (int k = 0; k < 4; k++) {
    if (first + k < n) output[first + k] = result[k];
  }
}
)";

TEST(SampleKernels, AreChangedByEveryMutatorOfMemoryAndLoops) {
  const std::map<std::string, std::vector<const char*>> applies{{"strip_mine", {kMoments, kFilter}},
                                                                {"prefetch_next", {kTranspose, kMoments}},
                                                                {"loop_peel", {kMoments, kFilter}},
                                                                {"register_cache", {kMoments}},
                                                                {"cache_hint_store", {kTranspose, kMoments, kFilter}},
                                                                {"vector_load_shared", {kMoments}},
                                                                {"grid_stride", {kTranspose, kMoments, kFilter}},
                                                                {"shared_padding", {kTranspose}},
                                                                {"shared_swizzle", {kTranspose}},
                                                                {"loop_interchange", {kFilter}},
                                                                {"unroll_and_jam", {kFilter}},
                                                                {"loop_fission", {kMoments}}};
  for (const char* kernel : {kTranspose, kMoments, kFilter}) {
    const Parent parent{std::string(kernel)};
    for (const auto& [mutator, kernels] : applies) {
      const auto proposals = SourceMutatorNamed(mutator).Proposals(parent.Context());
      const bool expected = std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
      ASSERT_EQ(!proposals.empty(), expected) << mutator << "\n" << kernel;
      if (!expected) continue;
      const AppliedEdit child =
          ApplyEdit(*parent.tree, parent.genome.parameters, MakeEdit(*parent.tree, mutator, proposals.back()));
      EXPECT_EQ(child.dropped, "");
      EXPECT_TRUE(SharedRenderer().TreeOf(child.text)->errors().empty()) << mutator << "\n" << child.text;
    }
  }
}

}  // namespace
}  // namespace evo
