#include "mutators/analysis/products/product_restatement.h"

#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two results a thread, from tiles in shared memory.
constexpr const char* kTwoRows = R"(#include <cuda_fp16.h>
// evo:launch two(A, B, bias, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 32)) block(16, 16)
__global__ void two(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  __shared__ float As[32][16];
  __shared__ float Bs[16][16];
  const int row = blockIdx.y * 32 + threadIdx.y * 2, col = blockIdx.x * 16 + threadIdx.x;
  float acc[2] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = 0; i < 2; ++i) {
      float a = row + i < M && k0 + threadIdx.x < K ? A[(row + i) * K + k0 + threadIdx.x] : 0.0f;
      As[threadIdx.y * 2 + i][threadIdx.x] = a;
    }
    Bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < 2; ++i) acc[i] += As[threadIdx.y * 2 + i][k] * Bs[k][threadIdx.x];
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    if (row + i >= M || col >= N) continue;
    float v = acc[i];
    C[(row + i) * N + col] = fmaxf(v + bias[col], 0.0f);
  }
}
)";

// One result a thread, by pointers that move.
constexpr const char* kWalk = R"(
// evo:launch walk(A, B, bias, C, M, N, K) grid(ceil_div(M * N, 128)) block(128)
__global__ void walk(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at >= M * N) return;
  const int row = at / N, col = at % N;
  const int other = col;
  const float* a = A + row * K;
  const float* b = B + col;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum += *a * *b;
    a += 1;
    b += N;
  }
  C[at] = sum + bias[other];
}
)";

std::vector<std::string> TiledWith(std::string source, const std::string& text, const std::string& other) {
  const std::size_t at = source.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return ChildrenOf("tile_contraction", source.replace(at, text.size(), other));
}

TEST(RestatedProduct, OfPlainSumsIsMade) {
  EXPECT_THAT(ChildrenOf("tile_contraction", kTwoRows), Not(IsEmpty()));
  EXPECT_THAT(ChildrenOf("tile_contraction", kWalk), Not(IsEmpty()));
}

TEST(RestatedProduct, LosesNothingThatIsDoneToASum) {
  for (const char* value : {"fminf(acc[i], 1e4f)", "__half2float(__float2half(acc[i]))", "acc[i] < 1e4f ? acc[i] : 1e4f"})
    EXPECT_THAT(TiledWith(kTwoRows, "v = acc[i]", std::string("v = ") + value), IsEmpty()) << value;
  EXPECT_THAT(TiledWith(kTwoRows, "v = acc[i];", "v = acc[i]; if (v > 1e4f) v = 1e4f;"), IsEmpty());
  EXPECT_THAT(TiledWith(kTwoRows, "|| col >= N)", "|| col >= N || acc[i] > 1e30f)"), IsEmpty());
  EXPECT_THAT(TiledWith(kTwoRows, "As[threadIdx.y * 2 + i][threadIdx.x] = a;",
                        "if (a > 10.0f) a = 10.0f; As[threadIdx.y * 2 + i][threadIdx.x] = a;"),
              IsEmpty());
}

TEST(RestatedProduct, KeepsTheTypeOfItsSums) {
  EXPECT_THAT(TiledWith(kTwoRows, "float acc[2]", "double acc[2]"), IsEmpty());
  for (const std::string& child : TiledWith(kWalk, "float sum = 0.0f", "double sum = 0.0"))
    EXPECT_THAT(child, HasSubstr("double sum[THREAD_M][THREAD_N]"));
}

TEST(RestatedProduct, KeepsACompensatedSum) {
  std::string source = kWalk;
  source.replace(source.find("float sum = 0.0f;"), 17, "float sum = 0.0f, lost = 0.0f;");
  EXPECT_THAT(TiledWith(source, "sum += *a * *b;", "float y = *a * *b - lost, t = sum + y; lost = (t - sum) - y; sum = t;"),
              IsEmpty());
}

TEST(RestatedProduct, TakesNoIndexThatRepeatsItself) {
  EXPECT_THAT(TiledWith(kTwoRows, "bias[col]", "bias[col % 64]"), IsEmpty());
  for (const std::string& child : TiledWith(kWalk, "other = col;", "other = col & 127;")) EXPECT_THAT(child, HasSubstr("& 127"));
}

// Blocks for 128 x 32 elements, of which 16 are a thread's, without any bounds.
constexpr const char* kLargeTiles = R"(
// evo:launch large(M, N, K, A, B, C) grid(ceil_div(N, 32), ceil_div(M, 128)) block(256)
__global__ void large(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[128 * 8];
  __shared__ float Bs[8 * 32];
  const int column = threadIdx.x % 32, first = threadIdx.x / 32 * 16;
  A += blockIdx.y * 128 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 128 * N + blockIdx.x * 32;
  float sums[16] = {0.0f};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = 0; i < 128; i += 32)
      As[(threadIdx.x / 8 + i) * 8 + threadIdx.x % 8] = A[(threadIdx.x / 8 + i) * K + threadIdx.x % 8];
    Bs[threadIdx.x] = B[threadIdx.x / 32 * N + column];
    __syncthreads();
    A += 8;
    B += 8 * N;
    for (int k = 0; k < 8; ++k) {
      const float b = Bs[k * 32 + column];
      for (int i = 0; i < 16; ++i) sums[i] += As[(first + i) * 8 + k] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i) C[(first + i) * N + column] = sums[i];
}
)";

TEST(RestatedProduct, OfLargeTilesIsMade) { EXPECT_THAT(ChildrenOf("tile_contraction", kLargeTiles), Not(IsEmpty())); }

// Whose sizes are macros.
constexpr const char* kCompiledIn = R"(
// evo:size WIDTH = W
// evo:launch square(A, B, C) grid(ceil_div(W, 16), ceil_div(W, 16)) block(16, 16)
#ifndef WIDTH
#define WIDTH 1024
#endif
__global__ void square(const float* A, const float* B, float* C) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= WIDTH || col >= WIDTH) return;
  float sum = 0.0f;
  for (int k = 0; k < WIDTH; ++k) sum += A[row * WIDTH + k] * B[k * WIDTH + col];
  C[row * WIDTH + col] = sum;
}
)";

TEST(RestatedProduct, OfSizesThatAreCompiledInKeepsThem) {
  const auto children = [](const std::string& text, const std::string& other) {
    std::string source = kCompiledIn;
    return ChildrenOf("tile_contraction", source.replace(source.find(text), text.size(), other));
  };
  for (const std::string& child : children("sum = 0.0f", "sum = 0.0f")) {
    EXPECT_THAT(child, HasSubstr("square(const float* A, const float* B, float* C)"));
    EXPECT_THAT(child, HasSubstr("const int width = WIDTH;"));
  }
  EXPECT_THAT(children("sum = 0.0f", "sum = 0.0f"), Not(IsEmpty()));
  EXPECT_THAT(children("  float sum = 0.0f;\n", "  float sum = 0.0f;\n#if WIDTH > 99\n  sum = A[0];\n#endif\n"), IsEmpty());
  // An array's extent stays a constant.
  EXPECT_THAT(children("  float sum = 0.0f;\n", "  float sum = 0.0f;\n  float parts[WIDTH];\n  parts[col] = A[col];\n"),
              Not(IsEmpty()));
}

// A block has as many rows as a parameter says, and no bound but the grid's.
TEST(RestatedProduct, OfRowsThatTheBlocksHaveFollowsTheParameter) {
  const std::string source = R"(
// evo:param SIDE 8 16 32
// evo:launch tiled(A, B, C, N) grid(ceil_div(N, SIDE), ceil_div(N, SIDE)) block(SIDE, SIDE)
#ifndef SIDE
#define SIDE 16
#endif
__global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float as[SIDE][SIDE], bs[SIDE][SIDE];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  float sum = 0.0f;
  for (int i = 0; i < n / SIDE; ++i) {
    as[threadIdx.y][threadIdx.x] = A[y * n + i * SIDE + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = B[(i * SIDE + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < SIDE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  C[y * n + x] = sum;
}
)";
  const auto children = ChildrenOf("tile_contraction", source);
  ASSERT_THAT(children, Not(IsEmpty()));
  for (const std::string& child : children) EXPECT_THAT(child, HasSubstr("(ceil_div(N, SIDE)) * SIDE"));
}

// A sum in an element of the output, which has a value before.
constexpr const char* kInMemory = R"(
// evo:launch scaled(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void scaled(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  C[row * N + col] *= 0.5f;
  for (int k = 0; k < K; ++k) C[row * N + col] += A[row * K + k] * B[k * N + col];
}
)";

TEST(RestatedProduct, OfSumsInMemoryBeginsWithTheElement) {
  const auto begins = [](const std::string& text, const std::string& start) {
    const auto children = TiledWith(kInMemory, "C[row * N + col] *= 0.5f;\n  ", text);
    EXPECT_THAT(children, Not(IsEmpty())) << text;
    for (const std::string& child : children) EXPECT_THAT(child, HasSubstr(start));
  };
  begins("C[row * N + col] *= 0.5f; ", " = C[row * N + col] * 0.5f;");
  begins("C[row * N + col] = 0.5f * C[row * N + col]; ", " = 0.5f * C[row * N + col];");
  begins("\n#pragma unroll 4\n  ", " = 0 < K ? C[row * N + col] : 0;");
  EXPECT_THAT(TiledWith(kInMemory, "C[row * N + col] *= 0.5f;", "C[row * N + col] = 0.5f * C[row * N];"), IsEmpty());
  EXPECT_THAT(TiledWith(kInMemory, "C[row * N + col] *= 0.5f;", "if (row > 2) C[row * N + col] *= 0.5f;"), IsEmpty());
}

}  // namespace
}  // namespace evo
