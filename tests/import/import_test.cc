#include "import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const char* const kStudent = R"(// Coursework: scaled copy.
#include <cstdio>
#include <vector>
#include <helper_cuda.h>  // not on this machine

#define BLOCK 128  // threads
#define CHECK(call) if ((call) != cudaSuccess) exit(1)
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// Doubles a number.
__device__ float twice(float x) { return 2 * x; }

__device__ float unused(float x) { return x; }

void host_copy(const float* x, float* y, int n, float a) {
  for (int i = 0; i < n; ++i) y[i] = 2 * a * x[i];
}

/* One thread, one element. */
__global__ void scale(const float* x, float* y, int n, float a) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = twice(a * x[i]);
}

int main(int argc, char** argv) {
  int n = 1 << 20;
  size_t bytes = n * sizeof(float);
  float *d_x, *d_y;
  checkCudaErrors(cudaMalloc((void**)&d_x, bytes));
  CHECK(cudaMalloc(&d_y, bytes));
  const float alpha = 0.5f;
  dim3 grid(CEIL_DIV(n, BLOCK));
  scale<<<grid, BLOCK>>>(d_x, d_y, n, alpha);
  std::vector<float> y(n);
  printf("%f\n", y[0]);
}
)";

TEST(Import, TakesAProgramAsItStands) {
  const ImportReply reply = Read(kStudent);
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel, HasSubstr("// evo:param BLOCK 32 64 128 256 512\n"));
  EXPECT_THAT(kernel, HasSubstr("// evo:launch scale(x, y, n, a) grid(ceil_div(n, BLOCK)) block(BLOCK)\n"));
  EXPECT_THAT(kernel, HasSubstr("#ifndef BLOCK\n#define BLOCK 128\n#endif\n"));
  EXPECT_THAT(kernel, HasSubstr("// Doubles a number.\n__device__ float twice(float x)"));
  EXPECT_THAT(kernel, HasSubstr("/* One thread, one element. */\n__global__ void scale"));
  EXPECT_THAT(kernel, HasSubstr("// Coursework: scaled copy.\n"));
  for (const char* host : {"main", "host_copy", "unused", "cstdio", "vector", "helper_cuda", "CHECK", "CEIL_DIV", "printf"})
    EXPECT_THAT(kernel, Not(HasSubstr(host)));

  const json task = TaskOf(reply);
  EXPECT_EQ(task.at("sizes"), json({"n"}));
  EXPECT_EQ(task.at("reference"), "baseline");
  EXPECT_EQ(task.at("baseline"), "scale");
  EXPECT_EQ(task.at("cases").at("search").at(0).at("sizes").at("n"), 1 << 24);
  EXPECT_EQ(task.at("cases").at("held_out").at(0).at("sizes").at("n").get<int>() % 2, 1);
  EXPECT_EQ(ArgumentOf(task, "x").at("role"), "in");
  EXPECT_EQ(ArgumentOf(task, "y").at("role"), "out");
  EXPECT_EQ(ArgumentOf(task, "y").at("shape"), json({"n"}));
  EXPECT_EQ(ArgumentOf(task, "a"), json({{"name", "a"}, {"role", "scalar"}, {"dtype", "f32"}, {"value", 0.5}}));
}

TEST(Import, AnswersComeBeforeGuesses) {
  const json task = TaskOf(Read(kStudent, {}, {{"n", "4096"}, {"y.role", "inout"}, {"a", "3"}, {"y.shape", "n / 2, 2"}}));
  EXPECT_EQ(task.at("cases").at("search").at(0).at("sizes").at("n"), 4096);
  EXPECT_EQ(ArgumentOf(task, "y").at("role"), "inout");
  EXPECT_EQ(ArgumentOf(task, "y").at("shape"), json({"n / 2", 2}));
  EXPECT_EQ(ArgumentOf(task, "a").at("value"), 3);
  EXPECT_THAT(Read(kStudent, {}, {{"m", "3"}}).failure, HasSubstr("--set m: nothing of that name; there are"));
  EXPECT_THAT(Read(kStudent, {}, {{"n", "many"}}).failure, HasSubstr("--set n=many: a positive number is needed"));
}

TEST(Import, FollowsCallersAndTemplates) {
  const ImportReply reply = Read(R"(
namespace lib {
template <typename T, int BM, int BN>
__global__ void product(const T* A, const T* B, T* C, int M, int N, int K, T beta) {
  const int row = blockIdx.y * BM + threadIdx.y, column = blockIdx.x * BN + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  if (row < M && column < N) C[row * N + column] = sum + beta * C[row * N + column];
}
}
using element = double;
void run(element* a, element* b, element* c, int M, int N, int K) {
  const int BM = 16;
  const int BN = 32;
  lib::product<element, BM, BN><<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), dim3(BN, BM)>>>(a, b, c, M, N, K, 3.0);
}
int main() {
  const int rows = 512, columns = 256, inner = 64;
  element *a, *b, *c;
  cudaMalloc(&a, sizeof(element) * rows * inner);
  cudaMalloc(&b, sizeof(element) * columns * inner);
  cudaMalloc(&c, sizeof(element) * rows * columns);
  run(a, b, c, rows, columns, inner);
}
)");
  EXPECT_THAT(Kernel(reply),
              HasSubstr("evo:launch product<double, LAUNCH_BM, LAUNCH_BN>(A, B, C, rows, columns, inner, beta) "
                        "grid(ceil_div(columns, LAUNCH_BN), ceil_div(rows, LAUNCH_BM)) block(LAUNCH_BN, LAUNCH_BM)"));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:constraint LAUNCH_BN * LAUNCH_BM <= 1024"));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "A").at("dtype"), "f64");
  EXPECT_EQ(ArgumentOf(task, "B").at("shape"), json({"inner", "columns"})) << "subscripts multiply by the length of a row";
  EXPECT_EQ(ArgumentOf(task, "C").at("role"), "inout");
  EXPECT_EQ(ArgumentOf(task, "C").at("check").at("sum"), "inner");
  EXPECT_EQ(ArgumentOf(task, "beta").at("value"), 3);
}

TEST(Import, SwappedBuffersAreALoop) {
  const ImportReply reply = Read(R"(
#define N 1024
__global__ void step(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < N - 1) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}
int main() {
  float *a, *b;
  cudaMalloc(&a, N * sizeof(float));
  cudaMalloc(&b, N * sizeof(float));
  for (int t = 0; t < 100; t++) {
    step<<<(N + 255) / 256, 256>>>(a, b);
    float* tmp = a; a = b; b = tmp;
  }
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:size N\n"));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:repeat t < 4\n// evo:launch step(in, out) grid(ceil_div(N, 256)) block(256)\n"
                                       "// evo:swap in out\n// evo:end\n"));
  EXPECT_THAT(Kernel(reply), HasSubstr("#ifndef N\n#define N 1024\n#endif"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "in").at("role"), "inout");
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "out").at("role"), "inout");
  EXPECT_EQ(QuestionOf(reply, "repeat").guess, "4");
  EXPECT_EQ(QuestionOf(reply, "out.sum").guess, "8") << "two terms a step, and each step adds to the errors of those before it";
}

TEST(Import, ExchangedPointersOfTheHostAreNoBuffers) {
  const ImportReply reply = Read(R"(
#include <utility>
#define N 1024
__global__ void step(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < N - 1) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}
int main() {
  float *h_a = new float[N], *h_b = new float[N], *a, *b;
  cudaMalloc(&a, N * sizeof(float));
  cudaMalloc(&b, N * sizeof(float));
  for (int t = 0; t < 100; t++) {
    cudaMemcpy(a, h_a, N * sizeof(float), cudaMemcpyHostToDevice);
    step<<<(N + 255) / 256, 256>>>(a, b);
    cudaMemcpy(h_b, b, N * sizeof(float), cudaMemcpyDeviceToHost);
    std::swap(h_a, h_b);
  }
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:launch step(in, out)"), Not(HasSubstr("evo:swap"))));
}

TEST(Import, ConstantMemoryIsAnInput) {
  const ImportReply reply = Read(R"(
#define RADIUS 2
__constant__ float weights[2 * RADIUS + 1];
__global__ void filter(const float* x, float* y, unsigned int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += i + k >= 0 && i + k < n ? weights[k + RADIUS] * x[i + k] : 0;
  y[i] = sum;
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:constant weights = weights_values\n"));
  EXPECT_THAT(Kernel(reply), HasSubstr("#define RADIUS 2\n__constant__ float weights"));
  EXPECT_THAT(Kernel(reply), HasSubstr("filter(x, y, u32(n)) grid(ceil_div(n, 256)) block(256)"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "weights_values").at("shape"), json({5}));
  EXPECT_TRUE(QuestionOf(reply, "n").unknown);
  EXPECT_TRUE(QuestionOf(reply, "grid").unknown);
}

TEST(Import, AtomicsAndIndices) {
  const ImportReply reply = Read(R"(
__device__ void add(float* where, float what) { atomicAdd(where, what); }
__global__ void scatter(const int* index, const float* x, float* sums, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int bin = index[i];
    add(&sums[bin], x[i]);
  }
}
int main() {
  int n = 100000, bins = 64;
  int* index; float *x, *sums;
  cudaMalloc(&index, n * 4);
  cudaMalloc(&x, n * 4);
  cudaMalloc(&sums, bins * 4);
  cudaMemset(sums, 0, bins * 4);
  scatter<<<(n + 255) / 256, 256>>>(index, x, sums, n, bins);
}
)");
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "index").at("generators"), json({"index<bins"}));
  EXPECT_EQ(ArgumentOf(task, "sums").at("role"), "out");
  EXPECT_EQ(task.at("determinism"), "tolerance");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:memset sums 0\n// evo:launch scatter(index, x, sums, n, bins)"));
}

TEST(Import, SaysWhatIsWrong) {
  const std::string two = "__global__ void a(float* x) { x[0] = 1; }\nextern \"C\" __global__ void b(float* x) { x[0] = 1; }\n";
  EXPECT_EQ(Read(two).failure, "a.cu: 2 kernels: a (line 1), b (line 2); name one with --kernel");
  EXPECT_EQ(Read(two, {"c"}).failure, "a.cu: no kernel 'c'; there are a (line 1), b (line 2)");
  EXPECT_THAT(Kernel(Read(two, {"b"})), AllOf(HasSubstr("extern \"C\" __global__ void b"), Not(HasSubstr("void a"))));
  EXPECT_EQ(Read("int main() { return 0; }\n").failure, "a.cu: no __global__ function is defined in it");
  EXPECT_THAT(Read("__global__ void a(float* x) {\n  x[0] = y;\n}\n").failure,
              HasSubstr("a.cu:2: use of undeclared identifier 'y'"));
  EXPECT_THAT(Read("__global__ void a(float* x) {\n").failure, HasSubstr("a.cu:"));
}

// What the host never sets is a workspace, although the first kernel also reads what it has written.
TEST(Import, KnowsWorkspacesThatTheirWriterReads) {
  const ImportReply reply = Read(R"(
__global__ void weights(const float* x, float* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  w[i] = x[i] * x[i];
  w[i] /= 2.0f;
}
__global__ void apply(const float* w, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = w[i] + 1.0f;
}
int main() {
  int n = 100000;
  float *x, *w, *y;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&w, n * 4);
  cudaMalloc(&y, n * 4);
  weights<<<(n + 255) / 256, 256>>>(x, w, n);
  apply<<<(n + 255) / 256, 256>>>(w, y, n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace w f32 [n]"));
}

// A grid of `N / BLOCK` blocks has one, at least, in all cases.
TEST(Import, HasABlockInEachCase) {
  const json task = TaskOf(Read(R"(
#define BLOCK 1024
__global__ void sum(const float* x, float* sums) {
  __shared__ float part[BLOCK];
  part[threadIdx.x] = x[blockIdx.x * BLOCK + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < BLOCK; ++i) all += part[i];
    sums[blockIdx.x] = all;
  }
}
int main() {
  int N = 1 << 20;
  float *x, *sums;
  cudaMalloc(&x, N * 4);
  cudaMalloc(&sums, N / BLOCK * 4);
  sum<<<N / BLOCK, BLOCK>>>(x, sums);
}
)"));
  EXPECT_EQ(task.at("cases").at("small").at("sizes").at("N").get<int>() % 1024, 0);
  EXPECT_EQ(task.at("cases").at("held_out_cpu")[0].at("sizes").at("N").get<int>() % 1024, 0);
}

// Kernels that hand buffers on are one task; of versions of one kernel the first is.
TEST(Import, TakesKernelsThatHandOn) {
  const std::string kernels = R"(
__global__ void square(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void shift(const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = y[i] + 1.0f;
}
__global__ void unused(float* z) { z[0] = 0; }
)";
  const auto program = [&](const std::string& launches) {
    return kernels +
           "int main() {\n  int n = 100000;\n  float *x, *y, *z;\n  cudaMalloc(&x, n * 4);\n  cudaMalloc(&y, n * 4);\n" +
           "  cudaMalloc(&z, n * 4);\n" + launches + "}\n";
  };
  const std::string square = "  square<<<(n + 255) / 256, 256>>>(x, y, n);\n",
                    shift = "  shift<<<(n + 255) / 256, 256>>>(y, z, n);\n";
  const ImportReply chain = Read(program(square + shift));
  EXPECT_THAT(Kernel(chain), AllOf(HasSubstr("evo:launch square"), HasSubstr("evo:launch shift"), Not(HasSubstr("unused"))));
  EXPECT_THAT(TaskOf(chain).at("notes").dump(),
              HasSubstr("the host launches square (line 2), shift (line 6), one after another"));
  EXPECT_THAT(TaskOf(Read(program(shift))).at("notes").dump(), HasSubstr("shift is the only kernel that is launched"));
  const std::string versions = "  square<<<(n + 255) / 256, 256>>>(x, z, n);\n" + shift;
  EXPECT_THAT(Kernel(Read(program(versions))), AllOf(HasSubstr("evo:launch square"), Not(HasSubstr("shift"))));
  EXPECT_EQ(Kernel(Read(program(square + shift + square + shift))), Kernel(chain));
  const std::string again = "  square<<<(n + 255) / 256, 256>>>(z, x, n);\n";
  EXPECT_THAT(Kernel(Read(program(square + shift + again))), HasSubstr("evo:launch square(z, x, n)"));
  // Of kernels that are named, too, each launch has its own arguments.
  const std::string both = Kernel(Read(program(square + shift + again), {"square", "shift"}));
  EXPECT_THAT(both, AllOf(HasSubstr("evo:launch square(x, y, n)"), HasSubstr("evo:launch square(z, x, n)")));
  EXPECT_THAT(Kernel(Read(program(square + "  cudaMemset(y, 0, n * 4);\n" + shift))), Not(HasSubstr("shift")));
}

TEST(Import, TakesAssertionsInWords) {
  const ImportReply reply = Read(R"(
template <int BN, int WN> __global__ void scale(float* x, int n) {
  int i = blockIdx.x * BN + threadIdx.x;
  if (i < n) x[i] *= WN;
}
int main() {
  const int BN = 128, WN = 64, n = 1000000;
  static_assert((BN % WN == 0) and (BN % (2 * WN) == 0));
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  scale<BN, WN><<<(n + BN - 1) / BN, BN>>>(x, n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:constraint LAUNCH_BN % LAUNCH_WN == 0 && LAUNCH_BN % (2 * LAUNCH_WN) == 0"));
}

}  // namespace
}  // namespace evo
