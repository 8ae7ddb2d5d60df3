// What evo init takes for the values of a program's variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;

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

}  // namespace
}  // namespace evo
