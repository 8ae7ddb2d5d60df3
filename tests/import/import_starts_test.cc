// With what evo init says that buffers begin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/import/importing.h"

namespace evo {
namespace {

using testing::HasSubstr;

// What the host copies into a buffer that kernels add to is zeros, if nothing changes them before.
TEST(ImportStarts, CopiesOfZerosSetABuffer) {
  const auto program = [](const std::string& declared, const std::string& between) {
    return R"(
#include <vector>
__global__ void count_up(const float* x, float* total, float* most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  total[i] = total[i] + x[i];
  most[i] = fmaxf(most[i], x[i]);
}
int main() {
  const int n = 1 << 20;
  std::vector<float> hx(n, 1.0f), tops(n, -1e30f);
  float *x, *total, *most;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&total, n * sizeof(float));
  cudaMalloc(&most, n * sizeof(float));
)" + declared +
           between + R"(
  cudaMemcpy(x, hx.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(total, begin.data(), begin.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(most, tops.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  count_up<<<(n + 255) / 256, 256>>>(x, total, most, n);
  cudaMemcpy(begin.data(), total, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  };
  const std::string zeros = "  std::vector<float> begin((size_t)n, 0.f);\n";
  const ImportReply reply = Read(program(zeros, ""));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:memset total 0\n"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "total").at("role"), "out");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace most f32 [n]\n"));
  for (const std::string& other : {program("  std::vector<float> begin(n, 2.0f);\n", ""), program(zeros, "  begin[3] = 1.0f;\n"),
                                   program(zeros, "  fill_in(begin);\n"), program("  std::vector<float> begin(hx);\n", "")})
    EXPECT_EQ(ArgumentOf(TaskOf(Read(other)), "total").at("role"), "inout");
}

// What the host has filled with the start of a maximum is no input: a kernel fills it.
TEST(ImportStarts, CopiesOfTheStartOfAMaximumFillABuffer) {
  const auto program = [](const std::string& begun) {
    return R"(
#include <cmath>
#include <limits>
#include <vector>
__global__ void raise(const float* x, float* most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) most[i] = fmaxf(most[i], x[i]);
}
int main() {
  const int n = 1 << 20;
  std::vector<float> hx(n, 1.0f);
  float *x, *most;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&most, n * sizeof(float));
)" + begun +
           R"(
  cudaMemcpy(x, hx.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(most, tops, n * sizeof(float), cudaMemcpyHostToDevice);
  raise<<<(n + 255) / 256, 256>>>(x, most, n);
  cudaMemcpy(tops, most, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  };
  const std::string allocated = "  float* tops = (float*)malloc(n * sizeof(float));\n";
  for (const auto& [begun, value] : std::vector<std::pair<std::string, std::string>>{
           {allocated + "  for (int i = 0; i < n; i++) tops[i] = -INFINITY;\n", "-INFINITY"},
           {allocated + "  std::fill(tops, tops + n, -std::numeric_limits<float>::infinity());\n", "-INFINITY"},
           {"  const size_t bytes = n * sizeof(float);\n  float* tops = (float*)malloc(bytes);\n  std::fill_n(tops, n, "
            "-INFINITY);\n",
            "-INFINITY"},
           {allocated + "  for (int i = 0; i < n; ++i) { hx[i] = rand(); tops[i] = -1e20f; }\n", "-1e20f"}}) {
    const ImportReply reply = Read(program(begun));
    EXPECT_THAT(Kernel(reply),
                HasSubstr("// evo:launch start_of_most(most, i64(n)) grid(ceil_div(n, 256)) block(256)\n// evo:launch raise("));
    EXPECT_THAT(Kernel(reply), HasSubstr("if (i < count) most[i] = " + value + ";"));
    EXPECT_EQ(ArgumentOf(TaskOf(reply), "most").at("role"), "out");
    EXPECT_EQ(TaskOf(reply).at("name"), "raise");
  }
  for (const std::string& begun :
       {allocated + "  for (int i = 0; i < n; i++) tops[i] = -1.0f;\n",
        allocated + "  memset(tops, 0, n * sizeof(float));\n  if (hx[0] > 0) std::fill(tops, tops + n, -INFINITY);\n",
        allocated + "  for (int i = 1; i < n; i++) tops[i] = -INFINITY;\n",
        allocated + "  for (int i = 0; i < n; i++) if (hx[i] > 0) tops[i] = -INFINITY;\n",
        allocated + "  for (int i = 0; i < n; i++) tops[i] = -INFINITY;\n  tops[0] = 1.0f;\n",
        allocated + "  for (int i = 0; i < n / 2; i++) tops[i] = -INFINITY;\n",
        allocated + "  std::fill(tops, tops + n / 2, -INFINITY);\n"})
    EXPECT_EQ(ArgumentOf(TaskOf(Read(program(begun))), "most").at("role"), "inout") << begun;
}

// The kernel that fills a buffer asks for its end; the one that reads it in whole tiles does not.
TEST(ImportStarts, AKernelThatTakesWholeTilesGetsWholeTiles) {
  const ImportReply reply = Read(R"(
#include <cmath>
__global__ void raise(const float* x, float* most, float* out, int tiles) {
  for (int tile = 0; tile < tiles; ++tile) {
    int i = tile * blockDim.x + threadIdx.x;
    most[i] = fmaxf(most[i], x[i]);
    out[i] = most[i];
  }
}
int main() {
  const int n = 1 << 14, width = 32;
  float *x, *most, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&most, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  float* tops = (float*)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) tops[i] = -INFINITY;
  cudaMemcpy(most, tops, n * sizeof(float), cudaMemcpyHostToDevice);
  raise<<<1, width>>>(x, most, out, (n + width - 1) / width);
  cudaMemcpy(tops, out, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:launch start_of_most("));
  for (const char* kind : {"search", "held_out"}) {
    for (const auto& one : TaskOf(reply).at("cases").at(kind))
      EXPECT_EQ(one.at("sizes").at("n").get<int>() % 32, 0) << one.dump();
  }
  EXPECT_EQ(TaskOf(reply).at("cases").at("small").at("sizes").at("n").get<int>() % 32, 0);
}

// Elements at the edges, from whose threads a kernel returns, stay what the host sets them to.
TEST(ImportStarts, EdgesThatAKernelLeavesAreAsTheHostSetsThem) {
  const auto program = [](const std::string& set) {
    return R"(
__global__ void smooth(const float* x, float* y, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= columns - 1 || j >= rows - 1) return;
  const float* at = x + j * columns + i;
  y[j * columns + i] = 0.25f * (at[-1] + at[1] + at[-columns] + at[columns]);
}
int main() {
  const int rows = 600, columns = 500;
  float *x, *y, h[4];
  cudaMalloc(&x, rows * columns * sizeof(float));
  cudaMalloc(&y, rows * columns * sizeof(float));
)" + set + R"(
  smooth<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, columns);
  cudaMemcpy(h, y, sizeof(h), cudaMemcpyDeviceToHost);
}
)";
  };
  const ImportReply reply = Read(program("  cudaMemset(y, 0, rows * columns * sizeof(float));"));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:memset y 0\n"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "y").at("role"), "out");
  EXPECT_EQ(ArgumentOf(TaskOf(Read(program(""))), "y").at("role"), "inout");
}

}  // namespace
}  // namespace evo
