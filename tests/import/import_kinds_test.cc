// Programs of kinds that people bring: each is small, and has one thing that is hard to read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ImportKinds, ArgumentsThatCallersLeaveOutHaveTheirDefaults) {
  const ImportReply reply = Read(R"(
#include <cmath>
__global__ void update(float* p, float* v, long n, float rate, float correction) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float second = v[i];
  second *= 0.5f;
  v[i] = second;
  p[i] -= rate * sqrtf(second / correction);
}
void step(float* p, float* v, int t, long n, float rate = 1e-3, float beta = 0.9) {
  float correction = 1.0f - powf(beta, t);
  update<<<(n + 511) / 512, 512>>>(p, v, n, rate, correction);
}
int main() {
  const long n = 1000000;
  const int t = 2;
  float *p, *v;
  cudaMalloc(&p, n * sizeof(float));
  cudaMalloc(&v, n * sizeof(float));
  step(p, v, t, n);
}
)");
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "rate").at("value"), 0.001);
  EXPECT_NEAR(ArgumentOf(task, "correction").at("value").get<double>(), 0.19, 1e-9);
  EXPECT_EQ(ArgumentOf(task, "v").at("generators"), json({"uniform(0,1)", "one_hot"})) << "its root is taken";
  EXPECT_EQ(ArgumentOf(task, "p").at("generators").at(0), "normal");
  EXPECT_EQ(ArgumentOf(task, "p").at("check").at("sum"), "1") << "nothing is added up over the elements";
}

TEST(ImportKinds, LoopsSayHowManyTermsASumHas) {
  const ImportReply reply = Read(R"(
namespace lib {
template <int TILE>
__device__ void inner(const float* a, const float* b, float* sum) {
  for (int k = 0; k < TILE; ++k)
    for (int i = 0; i < 4; ++i) sum[i] += a[k] * b[k * 4 + i];
}
}
namespace other {
__device__ void inner(float* x) { x[0] = 1; }
}
namespace {
template <typename T>
__device__ void inner(T& other_inner) {}
}
template <int TILE>
__global__ void product(const float* a, const float* b, float* c, int N, int K) {
  float sum[4] = {0};
  for (int k = 0; k < K; k += TILE) lib::inner<TILE>(a + k, b + k * 4, sum);
  *reinterpret_cast<float4*>(&c[4 * (blockIdx.x * blockDim.x + threadIdx.x)]) = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
void run(float* a, float* b, float* c, int N, int K) { product<16><<<N / 256, 64>>>(a, b, c, N, K); }
)",
                                 {}, {{"c.shape", "N"}, {"a.shape", "K"}, {"b.shape", "K, 4"}});
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "c").at("role"), "out") << "a float4 is assigned";
  EXPECT_EQ(ArgumentOf(task, "c").at("check").at("sum"), "K");
  EXPECT_THAT(Kernel(reply), AllOf(Not(HasSubstr("namespace other")), Not(HasSubstr("other_inner"))));
}

TEST(ImportKinds, ConditionsOfThePreprocessorAreDecided) {
  const ImportReply reply = Read(R"(
#ifdef WG_SIZE_0
#define BLOCK_SIZE WG_SIZE_0
#elif defined(WG_SIZE)
#define BLOCK_SIZE WG_SIZE
#else
#define BLOCK_SIZE 16
#endif
#define HALO 2
__global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i + HALO < n) y[i] = x[i + HALO]; else if (i < n) y[i] = 0;
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  shift<<<(n + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(x, y, n);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:param BLOCK_SIZE 4 8 16 32 64\n"), HasSubstr("#define HALO 2\n"),
                                   Not(HasSubstr("WG_SIZE"))));
}

// A candidate may ask for macros of its own only, so what only a command line would define is decided once.
TEST(ImportKinds, ConditionsInAKernelGoWithTheBranchThatIsNotCompiled) {
  const ImportReply reply = Read(R"(
#define WIDE 1
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef LOOP_UNROLL
#pragma unroll
  float unrolled = 0;
#else
  float plain = 2;
#if defined(DEBUG) || 0
  plain = 3;
#endif
#endif
#if WIDE
  if (i < n) y[i] = plain * x[i];
#endif
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("  float plain = 2;\n"), Not(HasSubstr("LOOP_UNROLL")), Not(HasSubstr("unrolled")),
                                   Not(HasSubstr("DEBUG")), Not(HasSubstr("plain = 3"))));
  EXPECT_THAT(Kernel(reply), HasSubstr("#if WIDE\n")) << "a macro of the file may be asked for";
}

TEST(ImportKinds, IndicesThatAreExchangedSwapTheBuffers) {
  const ImportReply reply = Read(R"(
__global__ void heat(const float* power, float* from, float* to, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + steps * power[i];
}
int run(float* power, float* both[2], int n, int total, int each) {
  float t;
  int src = 1, dst = 0;
  for (t = 0; t < total; t += each) {
    int temp = src;
    src = dst;
    dst = temp;
    heat<<<(n + 255) / 256, 256>>>(power, both[src], both[dst], each, n);
  }
  return dst;
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  int each = 2;
  float *power, *both[2];
  cudaMalloc(&power, n * sizeof(float));
  cudaMalloc(&both[0], n * sizeof(float));
  cudaMalloc(&both[1], n * sizeof(float));
  run(power, both, n, 60, each);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:repeat t < 4\n// evo:launch heat(power, from, to, 2, n) grid(ceil_div(n, 256)) "
                                       "block(256)\n// evo:swap from to\n// evo:end\n"));
  const json task = TaskOf(reply);
  EXPECT_EQ(task.at("sizes"), json({"n"}));
  EXPECT_EQ(ArgumentOf(task, "to").at("shape"), json({"n"}));
}

TEST(ImportKinds, PartsBetweenTwoKernelsAreAWorkspace) {
  const ImportReply reply = Read(R"(
#define BINS 256
#define LOG2_WARP_SIZE 5U
static unsigned int* d_parts;
__global__ void count(unsigned int* parts, const unsigned int* data, unsigned int n) {
  __shared__ unsigned int bins[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(bins + data[i] % BINS, 1);
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) parts[blockIdx.x * BINS + i] = bins[i];
}
__global__ void merge(unsigned int* total, const unsigned int* parts, unsigned int blocks) {
  unsigned int sum = 0;
  if (threadIdx.x == 0) {
    for (unsigned int i = 0; i < blocks; ++i) sum += parts[i * BINS + blockIdx.x];
    total[blockIdx.x] = sum;
  }
}
static const unsigned int PARTS = 240;
extern "C" void init() { cudaMalloc((void**)&d_parts, PARTS * BINS * sizeof(unsigned int)); }
extern "C" void histogram(unsigned int* total, void* data, unsigned int bytes) {
  count<<<PARTS, 6 * (1 << LOG2_WARP_SIZE)>>>(d_parts, (unsigned int*)data, bytes / 4);
  merge<<<BINS, 32>>>(total, d_parts, PARTS);
}
)",
                                 {"count", "merge"});
  const json task = TaskOf(reply);
  EXPECT_EQ(task.at("sizes"), json({"bytes"})) << "240 blocks and 256 bins are the program's";
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:workspace parts u32 [240, 256]\n"), HasSubstr("#define BINS 256\n"),
                                   HasSubstr("// evo:launch count(parts, data, u32(bytes / 4)) grid(240) block(192)\n")));
  EXPECT_EQ(ArgumentOf(task, "data").at("shape"), json({"bytes / 4"}));
  EXPECT_EQ(ArgumentOf(task, "total").at("shape"), json({256}));
}

TEST(ImportKinds, PartsThatOneThreadOfABlockWritesAreAWorkspace) {
  const ImportReply reply = Read(R"(
__global__ void add_blocks(const float* x, float* sums, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
__global__ void add_sums(float* sums, int count) {
  for (int i = 1; i < count; ++i) sums[i] += sums[i - 1];
}
__global__ void before_block(const float* sums, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n && blockIdx.x > 0) y[i] = sums[blockIdx.x - 1];
}
void add(const float* x, float* y, int n) {
  const int blocks = (n + 255) / 256;
  float* sums;
  cudaMalloc(&sums, blocks * sizeof(float));
  add_blocks<<<blocks, 256>>>(x, sums, n);
  add_sums<<<1, 1>>>(sums, blocks);
  before_block<<<blocks, 256>>>(sums, y, n);
  cudaFree(sums);
}
)",
                                 {"add_blocks", "add_sums", "before_block"});
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace sums f32 [ceil_div(n, 256)]\n"));
}

TEST(ImportKinds, FieldsOfStructsAreFollowed) {
  const ImportReply reply = Read(R"(
typedef struct { int width; int height; int stride; float* elements; } Matrix;
__device__ float Get(const Matrix m, int row, int column) { return m.elements[row * m.stride + column]; }
__device__ void Set(Matrix m, int row, int column, float x) { m.elements[row * m.stride + column] = x; }
__global__ void transpose(const Matrix A, Matrix B) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < A.width && y < A.height) Set(B, x, y, Get(A, y, x));
}
void run(const Matrix A, Matrix B) {
  Matrix d_A;
  d_A.width = d_A.stride = A.width;
  d_A.height = A.height;
  size_t size = A.width * A.height * sizeof(float);
  cudaMalloc(&d_A.elements, size);
  Matrix d_B;
  d_B.width = d_B.stride = B.width;
  d_B.height = B.height;
  size = B.width * B.height * sizeof(float);
  cudaMalloc(&d_B.elements, size);
  transpose<<<dim3((A.width + 15) / 16, (A.height + 15) / 16), dim3(16, 16)>>>(d_A, d_B);
}
int main(int argc, char** argv) {
  Matrix A, B;
  int rows = atoi(argv[1]), columns = atoi(argv[2]);
  A.height = rows;
  A.width = columns;
  B.height = A.width;
  B.width = A.height;
  run(A, B);
}
)");
  const json task = TaskOf(reply);
  EXPECT_EQ(task.at("sizes"), json({"rows", "columns"}));
  EXPECT_EQ(ArgumentOf(task, "A_elements").at("role"), "in");
  EXPECT_EQ(ArgumentOf(task, "B_elements").at("role"), "out");
  EXPECT_EQ(ArgumentOf(task, "B_elements").at("shape"), json({"columns", "rows"}));
  EXPECT_THAT(Kernel(reply), HasSubstr("transpose({columns, rows, columns, A_elements}, {rows, columns, rows, B_elements}) "
                                       "grid(ceil_div(columns, 16), ceil_div(rows, 16)) block(16, 16)"));
}

TEST(ImportKinds, BlocksFitTheGridAndTheKernel) {
  const std::string host = R"(
int main() {
  const int n = 1 << 20;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  dim3 threads(64);
  dim3 blocks((n + threads.x - 1) / threads.x);
  k<<<blocks, threads>>>(x, n);
}
)";
  const std::string free =
      "__global__ void k(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }";
  EXPECT_THAT(Kernel(Read(free + host)), HasSubstr("grid(ceil_div(n, THREADS_X)) block(THREADS_X)"));
  EXPECT_THAT(Kernel(Read("__global__ void k(float* x, int n) { __shared__ float s[66]; int i = blockIdx.x * 64 + threadIdx.x; "
                          "s[threadIdx.x] = i; if (i < n) x[i] = s[threadIdx.x]; }" +
                          host)),
              HasSubstr("grid(ceil_div(n, 64)) block(64)"));
}

TEST(ImportKinds, WhatTheHostDemandsToBeEqualIsOneSize) {
  const json task = TaskOf(Read(R"(
__global__ void product(float* C, const float* A, const float* B, int wA, int wB) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < wA; ++k) sum += A[row * wA + k] * B[k * wB + column];
  C[row * wB + column] = sum;
}
void run(dim3 a, dim3 b) {
  float *A, *B, *C;
  cudaMalloc(&A, a.x * a.y * sizeof(float));
  cudaMalloc(&B, b.x * b.y * sizeof(float));
  cudaMalloc(&C, b.x * a.y * sizeof(float));
  product<<<dim3(b.x / 16, a.y / 16), dim3(16, 16)>>>(C, A, B, a.x, b.x);
}
int main() {
  dim3 dimsA(320, 640), dimsB(960, 320);
  if (dimsA.x != dimsB.y) exit(1);
  run(dimsA, dimsB);
}
)"));
  EXPECT_EQ(task.at("sizes").size(), 3);
  EXPECT_EQ(ArgumentOf(task, "B").at("shape"), json({"dimsA_x", "b_x"}));
  EXPECT_EQ(ArgumentOf(task, "C").at("check").at("sum"), "dimsA_x");
}

TEST(ImportKinds, PlacesAreOfTheUsersFiles) {
  ImportRequest request;
  request.file = "a.cu";
  request.text =
      "#define TILE 16\nint first;\n__global__ void k(float* x, int n) { int i = blockIdx.x * TILE + threadIdx.x; if (i < n) "
      "x[i] = "
      "1; }\nvoid run(float* x, int n) { k<<<(n + TILE - 1) / TILE, TILE>>>(x, n); }\n";
  request.line_files = {"tile.h", "tile.h", "a.cu", "a.cu"};
  request.line_numbers = {40, 41, 7, 8};
  EXPECT_EQ(QuestionOf(Import(request, SharedParser()), "TILE").text, "a parameter, from tile.h:40");
}

TEST(ImportKinds, SaysWhichHeaderIsMissing) {
  EXPECT_EQ(Read("#include <suite.h>\n__global__ void k(float* x) { x[0] = SUITE; }\n").failure,
            "a.cu:2: use of undeclared identifier 'SUITE' (not found: suite.h; give its folder with -I)");
}

}  // namespace
}  // namespace evo
