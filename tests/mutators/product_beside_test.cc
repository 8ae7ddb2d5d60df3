#include <gmock/gmock.h>

#include <algorithm>

#include "mutators/breeding/breeding_station.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;

// A product of two rows a thread by tiles in shared memory, and as a plain nest.
constexpr const char* kTiledProduct = R"(
// evo:launch tiled(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 32)) block(16, 16)
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[32][16];
  __shared__ float Bs[16][16];
  const int row = blockIdx.y * 32 + threadIdx.y * 2, col = blockIdx.x * 16 + threadIdx.x;
  float acc[2] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = 0; i < 2; ++i)
      As[threadIdx.y * 2 + i][threadIdx.x] = row + i < M && k0 + threadIdx.x < K ? A[(row + i) * K + k0 + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < 2; ++i) acc[i] += As[threadIdx.y * 2 + i][k] * Bs[k][threadIdx.x];
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    if (row + i < M && col < N) C[(row + i) * N + col] = acc[i];
  }
}
)";
constexpr const char* kPlainProduct = R"(
// evo:launch plain(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void plain(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
)";

constexpr const char* kCopy = R"(
// evo:launch copy(A, C, N) grid(ceil_div(N, 128)) block(128)
__global__ void copy(const float* A, float* C, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) C[i] = A[i];
}
)";

MutatorPlaces TilesIn(const char* beside) {
  // Never destroyed, because libclang's globals would be destroyed before it.
  auto* const station =
      new BreedingStation({ParseTemplate("tiled", kTiledProduct), ParseTemplate("beside", beside)}, TestPaths());
  const auto places = station->PlacesIn("tiled");
  const auto found =
      std::find_if(places.begin(), places.end(), [](const auto& one) { return one.mutator == "tile_contraction"; });
  return found == places.end() ? MutatorPlaces{} : *found;
}

TEST(Products, AreNotLookedForInTilesIfAnotherTemplateIsOne) {
  EXPECT_GT(TilesIn(kCopy).proposals, 0U);
  const MutatorPlaces beside = TilesIn(kPlainProduct);
  EXPECT_EQ(beside.proposals, 0U);
  EXPECT_THAT(beside.refusals, testing::Contains(HasSubstr("another template is a product as a plain nest")));
}

}  // namespace
}  // namespace evo
