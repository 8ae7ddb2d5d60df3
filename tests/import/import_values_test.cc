// What evo init takes for the values of a program's variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(ImportValues, ValuesThatAFunctionSetsByReference) {
  const std::string text = Kernel(Read(R"(
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
void choose(int count, int most, int& blocks, int& threads) {
  if (count == 1) {
    threads = blocks = 1;
  } else {
    threads = count < most ? count : most;
    blocks = (count + threads - 1) / threads;
  }
  if (blocks > 65535) blocks = blocks / 2;
}
int main() {
  int n = 100000, blocks = 0, threads = 0;
  choose(n, 128, blocks, threads);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<blocks, threads>>>(x, y, n);
}
)"));
  EXPECT_THAT(text, HasSubstr("// evo:launch scale(x, y, n) grid(ceil_div(n, MOST)) block(MOST)"));
}

TEST(ImportValues, SizesOfTypesAndOfArraysAreNumbers) {
  const std::string text = Kernel(Read(R"(
typedef uint4 packet;
__global__ void scale(const packet* x, packet* y, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
int main(int argc, char** argv) {
  int bytes = atoi(argv[1]);
  float table[12][5];
  packet *x, *y;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  scale<<<bytes / sizeof(packet) / 256, 256>>>(x, y, bytes / sizeof(packet), sizeof(table) / sizeof(table[0]));
}
)"));
  EXPECT_THAT(text, HasSubstr("// evo:launch scale(x, y, bytes / 16, 12) grid(bytes / 16 / 256) block(256)"));
}

// Programs that measure time try one size after another, each with its own memory.
TEST(ImportValues, VariablesOfLoopsOverSizesAreSizes) {
  const ImportReply reply = Read(R"(
#define ROWS (rows)
__global__ void scale(const float* x, float* y, int rows, int n, double by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[blockIdx.y * n + i] = by * x[blockIdx.y * n + i];
}
void run(int rows, int n) {
  float *x, *y;
  cudaMalloc(&x, rows * n * sizeof(float));
  cudaMalloc(&y, rows * n * sizeof(float));
  scale<<<dim3((n + 255) / 256, rows), 256>>>(x, y, ROWS, n, 1000.0 / (n + 1));
}
int main() {
  for (int rows = 3; rows < 40; rows += 2)
    for (int n = 32; n <= 50000; n = n * 4) run(rows, n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("scale(x, y, rows, n, by)"));
  const json task = TaskOf(reply);
  EXPECT_EQ(task.at("cases").at("held_out").at(1).at("sizes"), json({{"rows", 39}, {"n", 32768}})) << "the host's own sizes";
  EXPECT_EQ(ArgumentOf(task, "by").at("value"), "1000.0 / (n + 1)");
}

TEST(ImportValues, ArgumentsThatALaunchLeavesToTheirDefaults) {
  EXPECT_THAT(Kernel(Read(R"(
__global__ void scale(const float* x, float* y, int n, int stride = 1, float by = 0.5f) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) y[i] = by * x[i];
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
)")),
              HasSubstr("scale(x, y, n, 1, by)"));
}

// Types that only what is passed by value says, and an operator without fields, which the kernel makes.
TEST(ImportValues, OperatorsAndNumbersThatTemplatesGet) {
  const auto program = [](const std::string& call) {
    return R"(
struct Larger {
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};
struct Scaled {
  float by;
  __device__ float operator()(float a, float b) const { return a + by * b; }
};
template <typename T, typename Op>
__global__ void join(const float* x, float* y, int n, Op op, T first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = op(x[i], first);
}
template <typename T, typename Op>
void run(const float* x, float* y, int n, Op op, T first) {
  join<T, Op><<<(n + 255) / 256, 256>>>(x, y, n, op, first);
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  )" + call +
           "\n}\n";
  };
  EXPECT_THAT(Kernel(Read(program("run(x, y, n, Larger(), 3);"))), HasSubstr("// evo:launch join<int, Larger>(x, y, n, 3)"));
  EXPECT_THAT(Kernel(Read(program("run(x, y, n, Larger{}, 2.5f);"))), HasSubstr("// evo:launch join<float, Larger>(x, y, n, "));
  // What it adds to a type is not left out.
  EXPECT_THAT(Kernel(Read(program("run(x, y, n, Scaled{2}, 3);"))),
              testing::Not(testing::AnyOf(HasSubstr("{u8(0)}"), HasSubstr("Op op{}"))));
}

// A template that is used between its declaration and its definition, as all levels of a recursion are.
TEST(ImportValues, TypesOfTemplatesThatAreDefinedLast) {
  EXPECT_THAT(Kernel(Read(R"(
template <typename T>
__global__ void scale(const T* x, T* y, T by, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
template <int kThreads, typename T = float>
void twice(T* x, unsigned n);
int main() {
  unsigned n = 1 << 20;
  double* x;
  cudaMalloc(&x, n * sizeof(double));
  twice<128, double>(x, n);
}
template <int kThreads, typename T>
void twice(T* x, unsigned n) {
  T* y;
  cudaMalloc(&y, n * sizeof(T));
  scale<T><<<(n + kThreads - 1) / kThreads, kThreads>>>(x, y, T(2), n);
}
)")),
              HasSubstr("// evo:launch scale<double>(x, y, by, u32(n)) grid(ceil_div(n, 128)) block(128)"));
}

// Zeros and another number by one kernel.
TEST(ImportValues, ZerosOfOneLaunchAreNoScalar) {
  const auto program = [](const std::string& second) {
    return R"(
__global__ void put(float* p, float value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}
__global__ void add(const float* x, float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += x[i], b[i] += 2 * x[i];
}
int main() {
  int n = 1 << 20;
  float *x, *a, *b, *h = new float[n];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  put<<<(n + 255) / 256, 256>>>(a, 0.f, n);
  put<<<(n + 255) / 256, 256>>>(b, )" +
           second + R"(, n);
  add<<<(n + 255) / 256, 256>>>(x, a, b, n);
  cudaMemcpy(h, a, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h, b, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  };
  EXPECT_THAT(Kernel(Read(program("0.5f"))), HasSubstr(", f32(0), n) grid"));
  EXPECT_THAT(Kernel(Read(program("0.f"))), Not(HasSubstr("f32(0)")));
}

TEST(ImportValues, ASizeThatIsSetInALoopIsWhatIsPassed) {
  const ImportReply reply = Read(R"(
__global__ void twice(float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void run(float* x, unsigned n) {
  unsigned blocks = n / 256;
  if (n % 256 != 0) blocks += 1;
  twice<<<blocks, 256>>>(x, n);
}
int main() {
  unsigned n = 0;
  for (int k = 4; k < 20; ++k) {
    n = (1 << k) + 3;
    float *x, *h = new float[n];
    cudaMalloc(&x, n * sizeof(float));
    run(x, n);
    cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDeviceToHost);
  }
})");
  EXPECT_THAT(Kernel(reply), testing::HasSubstr("// evo:launch twice(x, u32(n)) grid(ceil_div(n, 256)) block(256)"));
}

TEST(ImportValues, WhatOneBlockTakesIsTheSameInEveryCase) {
  const auto program = [](const std::string& step) {
    return R"(
#define N 1024
#define BLOCK 512
__global__ void halves(const int* x, int* y, int n) {
  __shared__ int s[2 * BLOCK];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + BLOCK] = x[t + BLOCK];
  for (int d = n / 2; d > 0; )" +
           step + R"() {
    __syncthreads();
    if (t < d) s[t] += s[t + d];
  }
  y[t] = s[0];
  y[t + BLOCK] = s[t];
}
int main() {
  int *x, *y, h[N];
  cudaMalloc(&x, N * sizeof(int));
  cudaMalloc(&y, N * sizeof(int));
  halves<<<1, BLOCK>>>(x, y, N);
  cudaMemcpy(h, y, N * sizeof(int), cudaMemcpyDeviceToHost);
})";
  };
  EXPECT_EQ(TaskOf(Read(program("d /= 2"))).at("cases").at("search")[0].at("sizes"), json({{"N", 1024}}));
  EXPECT_NE(TaskOf(Read(program("--d"))).at("cases").at("search")[0].at("sizes"), json({{"N", 1024}}));
}

TEST(ImportValues, LaunchesWhoseResultsNobodyCopiesAreLeftOut) {
  const ImportReply reply = Read(R"(
__global__ void warm(float* x) { x[threadIdx.x] += 1; }
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *w, *x, *h = new float[n];
  cudaMalloc(&w, 256 * sizeof(float));
  warm<<<1, 256>>>(w);
  cudaMalloc(&x, n * sizeof(float));
  twice<<<(n + 127) / 128, 128>>>(x, n);
  cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDeviceToHost);
})");
  EXPECT_THAT(Kernel(reply),
              testing::AllOf(testing::HasSubstr("// evo:launch twice("), testing::Not(testing::HasSubstr("warm"))));
}

// As many blocks as there are elements for, and no more than a bound.
TEST(ImportValues, BoundsThatAreSetBehindAValue) {
  const auto grid_with = [](const std::string& bounded) {
    const std::string text = Kernel(Read(R"(
#include <algorithm>
#define MOST 512
__global__ void add(const float* x, float* parts, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += x[i];
  atomicAdd(&parts[blockIdx.x], sum);
}
void run(const float* x, float* parts, int n) {
  int blocks = (n + 127) / 128;
  )" + bounded + R"(
  add<<<blocks, 128>>>(x, parts, n);
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000003;
  float *x, *parts;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&parts, MOST * sizeof(float));
  run(x, parts, n);
}
)"));
    const std::size_t at = text.find(" grid(");
    return text.substr(at + 1, text.find(" block(") - at - 1);
  };
  for (const char* most : {"if (blocks > MOST) blocks = MOST;", "if (MOST <= blocks) { blocks = MOST; }",
                           "blocks = min(blocks, MOST);", "blocks = std::min(MOST, blocks);",
                           "blocks = blocks > MOST ? MOST : blocks;", "blocks = (blocks < MOST) ? blocks : MOST;"})
    EXPECT_EQ(grid_with(most), "grid(min(ceil_div(n, 128), 512))") << most;
  EXPECT_EQ(grid_with("if (blocks < 64) blocks = 64; if (blocks > MOST) blocks = MOST;"),
            "grid(min(max(ceil_div(n, 128), 64), 512))");
  // What is no bound.
  for (const char* other : {"if (blocks > MOST) blocks = 64;", "if (n > MOST) blocks = MOST;", "",
                            "if (n > 7) { if (blocks > MOST) blocks = MOST; }", "if (n > 7) blocks = min(blocks, MOST);"})
    EXPECT_EQ(grid_with(other), "grid(ceil_div(n, 128))") << other;
}

}  // namespace
}  // namespace evo
