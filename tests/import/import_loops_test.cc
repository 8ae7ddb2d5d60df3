// Loops of the host whose variable is multiplied or divided, and buffers that change places in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShift = R"(
__global__ void shift(const int* src, int* dst, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = i >= offset ? src[i] + src[i - offset] : src[i];
}
)";

std::string ShiftProgram(const std::string& loop) {
  return std::string(kShift) +
         "int main() {\n  int n = 1 << 20;\n  int *a, *b;\n  cudaMalloc(&a, n * sizeof(int));\n  cudaMalloc(&b, n * "
         "sizeof(int));\n" +
         loop + "  int* h = new int[n];\n  cudaMemcpy(h, a, n * sizeof(int), cudaMemcpyDeviceToHost);\n}\n";
}

// A scan of log2(n) launches: the step is a power of two, and the buffer that the host copies counts.
TEST(ImportLoops, AStepThatDoublesIsAPower) {
  const std::string launch = "    shift<<<(n + 255) / 256, 256>>>(a, b, n, offset);\n    std::swap(a, b);\n";
  const ImportReply reply = Read(ShiftProgram("  for (int offset = 1; offset < n; offset *= 2) {\n" + launch + "  }\n"));
  EXPECT_THAT(Kernel(reply),
              HasSubstr("// evo:repeat offset_step < ceil_log(n, 2)\n"
                        "// evo:launch shift(src, dst, n, power(2, offset_step)) grid(ceil_div(n, 256)) block(256)\n"
                        "// evo:swap src dst\n// evo:end\n"));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "src").at("role"), "inout");
  EXPECT_EQ(ArgumentOf(task, "src").at("counted"), "(ceil_log(n, 2)) % 2 == 0 ? n : 0");
  EXPECT_EQ(ArgumentOf(task, "dst").at("counted"), "(ceil_log(n, 2)) % 2 == 1 ? n : 0");
  EXPECT_NE(task.at("cases").at("small").at("sizes").at("n").get<int>() % 2, 0) << "any number of elements is legal";
  // The same in other words.
  for (const char* head :
       {"for (int offset = 1; offset < n; offset <<= 1)", "for (int offset = 1; n > offset; offset = offset * 2)",
        "int offset; for (offset = 1; offset != n; offset += offset)"}) {
    const std::string other = ShiftProgram("  " + std::string(head) + " {\n" + launch + "  }\n");
    if (std::string(head).find("+=") == std::string::npos)
      EXPECT_EQ(Kernel(Read(other)), Kernel(reply)) << head;
    else
      EXPECT_THAT(Read(other).failure, HasSubstr("how offset changes in the loop around the launches is not understood")) << head;
  }
  const ImportReply body = Read(ShiftProgram("  int offset = 1;\n  while (offset < n) {\n" + launch + "    offset *= 2;\n  }\n"));
  EXPECT_EQ(Kernel(body), Kernel(reply));
  // An update before the launch is seen by it.
  const ImportReply before =
      Read(ShiftProgram("  int offset = 1;\n  while (offset < n) {\n    offset *= 2;\n" + launch + "  }\n"));
  EXPECT_THAT(Kernel(before), HasSubstr("shift(src, dst, n, power(2, offset_step + 1))"));
}

TEST(ImportLoops, NearMissesAreRefused) {
  const std::string launch = "    shift<<<(n + 255) / 256, 256>>>(a, b, n, offset);\n";
  for (const char* loop : {"  for (int offset = 1; offset < n; offset = offset * 2 + 1) {\n",
                           "  int offset = 1;\n  while (offset < n) {\n    if (n > 7) offset *= 2;\n",
                           "  int offset = 1;\n  while (offset < n) {\n    offset *= 2; offset *= 2;\n",
                           "  int offset = 1;\n  while (offset < n) {\n    for (int i = 0; i < 3; ++i) offset *= 2;\n"}) {
    EXPECT_THAT(Read(ShiftProgram(loop + launch + "  }\n")).failure,
                HasSubstr("how offset changes in the loop around the launches is not understood"))
        << loop;
  }
}

// What does not change from launch to launch, such as loops that measure, is launched once.
TEST(ImportLoops, LoopsThatRepeatTheSameAreLeftOut) {
  const ImportReply reply =
      Read(ShiftProgram("  for (int warm = 0; warm < 5; ++warm) shift<<<(n + 255) / 256, 256>>>(a, b, n, 3);\n"
                        "  int runs = 100;\n  while (runs-- > 0) { shift<<<(n + 255) / 256, 256>>>(a, b, n, 3); }\n"));
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:launch shift(src, dst, n, 3)"), Not(HasSubstr("evo:repeat"))));
}

TEST(ImportLoops, LoopsMayNest) {
  const ImportReply reply = Read(R"(
__global__ void exchange(float* x, int j, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i && (x[i] > x[other]) == ((i & k) == 0)) { float t = x[i]; x[i] = x[other]; x[other] = t; }
}
int main() {
  int n = 1 << 16;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  for (int k = 2; k <= n; k <<= 1) {
    for (int j = k >> 1; j > 0; j = j >> 1) exchange<<<n / 512, 512>>>(x, j, k);
  }
}
)");
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel, HasSubstr("// evo:repeat k_step < ceil_log(n / 2 + 1, 2)\n// evo:repeat j_step < ceil_log("));
  EXPECT_THAT(kernel, HasSubstr("block(512)\n// evo:end\n// evo:end\n"));
  const json cases = TaskOf(reply).at("cases");
  for (const json& one : {cases.at("small"), cases.at("held_out")[0], cases.at("held_out_cpu")[0]}) {
    const int n = one.at("sizes").at("n");
    EXPECT_EQ(n & (n - 1), 0) << "partners are found by a power of two";
  }
}

// Each launch has as many elements as the one before it had blocks.
TEST(ImportLoops, WhatIsLeftIsRoundedUp) {
  const ImportReply reply = Read(R"(
__global__ void sum(const float* in, float* out, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
float reduce(float* a, float* b, int n) {
  const int threads = 256;
  while (n > 1) {
    int blocks = (n + threads - 1) / threads;
    sum<<<blocks, threads>>>(a, b, n);
    std::swap(a, b);
    n = blocks;
  }
  float r;
  cudaMemcpy(&r, a, sizeof(float), cudaMemcpyDeviceToHost);
  return r;
}
int main() {
  const int N = 1 << 22;
  float *x, *y;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&y, N * sizeof(float));
  reduce(x, y, N);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:repeat n_step < ceil_log(N, 256)\n"),
                                   HasSubstr("sum(in, out, ceil_div(N, power(256, n_step)))"), HasSubstr("block(256)")));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "in").at("counted"), "(ceil_log(N, 256)) % 2 == 0 ? 1 : 0");
}

// A loop that counts down, one whose bound is a logarithm, and what is done between two loops.
TEST(ImportLoops, SeveralLoopsFollowOneAnother) {
  const ImportReply reply = Read(R"(
__global__ void up(float* d, int n, int s) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x) * s * 2;
  if (k < n) d[k + s * 2 - 1] += d[k + s - 1];
}
__global__ void clear(float* d, int n) { d[n - 1] = 0; }
__global__ void down(float* d, int n, int s) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x) * s * 2;
  if (k < n) { float t = d[k + s - 1]; d[k + s - 1] = d[k + s * 2 - 1]; d[k + s * 2 - 1] += t; }
}
int main() {
  int n = 1 << 20;
  float* d;
  cudaMalloc(&d, n * sizeof(float));
  int levels = (int)log2(n);
  for (int l = 0; l < levels; l++) { int s = 1 << l; up<<<(n / (2 * s) + 255) / 256, 256>>>(d, n, s); }
  clear<<<1, 1>>>(d, n);
  for (int s = n / 2; s >= 1; s /= 2) down<<<(n / (2 * s) + 255) / 256, 256>>>(d, n, s);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:repeat l < ceil_log(n, 2)\n// evo:launch up(d, n, 1 << l)"),
                                   HasSubstr("// evo:end\n// evo:launch clear(d, n) grid(1) block(1)\n// evo:repeat s_step < "
                                             "ceil_log(n / 2 + 1, 2)\n// evo:launch down(d, n, n / 2 / power(2, s_step))")));
}

TEST(ImportLoops, LevelsMayBeCountedDown) {
  const ImportReply reply = Read(R"(
__global__ void merge(float* d, int n, int s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + s < n) d[i] = fmaxf(d[i], d[i + s]);
}
int main() {
  int n = 1 << 20;
  float* d;
  cudaMalloc(&d, n * sizeof(float));
  int levels = log2(n);
  for (int l = levels - 1; l >= 0; l--) {
    const int s = 1 << l;
    merge<<<(s + 255) / 256, 256>>>(d, n, s);
  }
}
)");
  EXPECT_THAT(Kernel(reply),
              HasSubstr("// evo:repeat l_step < ceil_log(n, 2)\n// evo:launch merge(d, n, 1 << ceil_log(n, 2) - 1 - "
                        "l_step) grid(ceil_div(1 << ceil_log(n, 2) - 1 - l_step, 256)) block(256)\n"));
}

// Pivots one after another: not all of them, since a task has few launches.
TEST(ImportLoops, ALoopOverASizeIsCutShort) {
  const ImportReply reply = Read(R"(
__global__ void relax(int* d, int n, int k) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < n && j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
int main() {
  int n = 1024;
  int* d;
  cudaMalloc(&d, n * n * sizeof(int));
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  for (int k = 1; k <= n - 1; k++) relax<<<grid, block>>>(d, n, k);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:repeat k_step < min(n - 1, 16)\n"), HasSubstr("relax(d, n, 1 + k_step)")));
}

TEST(ImportLoops, BuffersOfAnArrayChangePlacesByTheirIndex) {
  const ImportReply reply = Read(R"(
__global__ void heat(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
}
int main() {
  const int n = 1 << 20;
  float* u[2];
  int cur = 0;
  cudaMalloc(&u[0], n * sizeof(float));
  cudaMalloc(&u[1], n * sizeof(float));
  for (int t = 0; t < 10; ++t) {
    heat<<<(n + 255) / 256, 256>>>(u[cur], u[1 - cur], n);
    cur = 1 - cur;
  }
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:repeat t < 4\n// evo:launch heat(from, to, n) grid(ceil_div(n, 256)) block(256)\n"
                                       "// evo:swap from to\n// evo:end\n"));
}

// The last condition of an endless loop ends it; others that depend on results are left out, those that depend on steps refused.
TEST(ImportLoops, AnEndlessLoopEndsWithItsBreak) {
  const std::string launch = "    shift<<<(n + 255) / 256, 256>>>(a, b, n, offset);\n    std::swap(a, b);\n";
  const std::string body = "  int offset = 1;\n  while (true) {\n" + launch + "    offset *= 2;\n";
  const std::string end = "    if (offset >= n) break;\n  }\n";
  const ImportReply reply = Read(ShiftProgram(body + end));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:repeat offset_step < max(1, ceil_log(n, 2))\n"));
  const ImportReply results =
      Read(ShiftProgram("  float change = 0;\n" + body + "    change = h[0] - change;\n    if (change < 0.1f) break;\n" + end));
  EXPECT_EQ(Kernel(results), Kernel(reply));
  EXPECT_THAT(results.notes, testing::Contains(HasSubstr("the break is left out")));
  EXPECT_THAT(Read(ShiftProgram(body + "    if (offset > 8) break;\n" + end)).failure, HasSubstr("break in the loop around"));
  EXPECT_THAT(Read(ShiftProgram(body + "    if (offset >= n && n > 4) break;\n  }\n")).failure,
              HasSubstr("break in the loop around"));
}

// Iterations that allocate all that they use try one size after another; one that keeps a buffer is a part of the computation.
TEST(ImportLoops, ALoopThatAllocatesEverythingIsNoPartOfIt) {
  const std::string run =
      "void run(int bytes) {\n  int n = bytes / 4;\n  int *a, *b;\n  cudaMalloc(&a, bytes);\n  cudaMalloc(&b, bytes);\n"
      "  shift<<<(n + 255) / 256, 256>>>(a, b, n, 1);\n}\n";
  const std::string doubled =
      "int main() {\n  int bytes = 1 << 22;\n  while (bytes <= 1 << 26) {\n    run(bytes);\n    bytes *= 2;\n";
  const ImportReply reply = Read(kShift + run + doubled + "  }\n}\n");
  EXPECT_THAT(Kernel(reply), Not(HasSubstr("evo:repeat")));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:launch shift(src, dst, bytes / 4, 1)"));
  // How the size changes need not be understood.
  const std::string strange = "int main() {\n  int bytes = 1 << 22;\n  for (int p = 0; p < 4; p++) {\n    bytes = pow(2, p);\n";
  EXPECT_EQ(Read(kShift + run + strange + "    run(bytes);\n  }\n}\n").failure, "");
  const std::string kept =
      "int main() {\n  int *a, *b;\n  int n = 1 << 20;\n  cudaMalloc(&a, n * 4);\n"
      "  for (int d = 1; d < n; d *= 2) {\n    cudaMalloc(&b, n * 4);\n    shift<<<n / 256, 256>>>(a, b, n, d);\n";
  EXPECT_THAT(Kernel(Read(kShift + kept + "  }\n}\n")), HasSubstr("evo:repeat"));
}

// What is computed does not depend on it, where sums are not added to what was there.
TEST(ImportLoops, LoopsOverBlockSizesAreNoSteps) {
  const auto line = [](const std::string& store) {
    const std::string text = Kernel(Read(R"(
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) )" + store + R"(
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  for (int threads = 64; threads <= 1024; threads *= 2) {
    dim3 grid((n + threads - 1) / threads), block(threads);
    scale<<<grid, block>>>(x, y, n);
  }
}
)"));
    return text.substr(text.find("// evo:"));
  };
  EXPECT_THAT(line("y[i] = 2 * x[i];"),
              testing::AllOf(testing::Not(HasSubstr("evo:repeat")), HasSubstr("grid(ceil_div(n, 64)) block(64)")));
  EXPECT_THAT(line("y[i] += 2 * x[i];"), HasSubstr("evo:repeat"));
}

TEST(ImportLoops, CopiesBetweenStepsAreRefused) {
  EXPECT_THAT(Read(R"(
__global__ void step(const float* x, float* y, int n, int distance, int factor = 3) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i] + (i >= distance ? x[i - distance] : 0);
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  for (int d = 1; d < n; d *= 2) {
    step<<<(n + 255) / 256, 256>>>(x, y, n, d);
    cudaMemcpy(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
  }
}
)")
                  .failure,
              HasSubstr("line 13: a copy from y to x in the loop around the launches is not understood"));
}

}  // namespace
}  // namespace evo
