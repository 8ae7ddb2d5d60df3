// What evo init takes the sizes of a program for, and which values the cases have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ImportSizes, SizesKeepALargeGpuBusy) {
  const std::string text = R"(
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
int main() {
  const int n = 4096;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
)";
  const ImportReply reply = Read(text);
  const json cases = TaskOf(reply).at("cases");
  EXPECT_EQ(cases.at("search").at(0).at("sizes").at("n"), 1 << 24);
  EXPECT_EQ(cases.at("search_cpu").at(0).at("sizes").at("n"), 1 << 19);
  EXPECT_EQ(cases.at("held_out").at(1).at("sizes").at("n"), 4096) << "the host's own size";
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("n = 16777216 instead of 4096")));
  const json kept = TaskOf(Read(text, {}, {{"n", "4096"}})).at("cases");
  EXPECT_EQ(kept.at("search").at(0).at("sizes").at("n"), 4096);
}

// 64 / parts blocks, and n / 256 of them, are none for many numbers.
TEST(ImportSizes, EveryCaseHasBlocks) {
  const std::string text = R"(
__global__ void scale(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  int parts = atoi(argv[2]);
  float *x, *y;
  cudaMalloc(&x, n * 64 * sizeof(float));
  cudaMalloc(&y, n * 64 * sizeof(float));
  scale<<<dim3(n / 256, 64 / parts), 256>>>(x, y);
}
)";
  const json cases = TaskOf(Read(text)).at("cases");
  const auto has_blocks = [](const json& one) {
    const json& sizes = one.at("sizes");
    return sizes.at("n").get<int>() >= 256 && sizes.at("parts").get<int>() <= 64;
  };
  for (const std::string group : {"search", "search_cpu", "held_out", "held_out_cpu"}) {
    for (const json& one : cases.at(group)) EXPECT_TRUE(has_blocks(one)) << one;
  }
  EXPECT_TRUE(has_blocks(cases.at("small"))) << cases.at("small");
}

// A host that tries several sizes is taken with the largest.
TEST(ImportSizes, OneOfAListIsTheLargest) {
  const std::string text = R"(
#define K 1024
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
void run(int n) {
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
int main() {
  int sizes[] = {K, 64 * K, 4 * K};
  for (int i = 0; i < 3; ++i) run(sizes[i]);
}
)";
  const ImportReply reply = Read(text);
  EXPECT_EQ(QuestionOf(reply, "n").guess, "65536");
  EXPECT_FALSE(QuestionOf(reply, "n").unknown);
  std::string unknown = text;
  unknown.replace(unknown.find("4 * K}"), 6, "argc}");
  EXPECT_TRUE(QuestionOf(Read(unknown), "n").unknown);
}

// A warm-up is not what is timed, and 0 is no size.
TEST(ImportSizes, TheCallAfterAWarmUpCounts) {
  const std::string text = R"(
#define USUAL 65536
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
void run(const float* x, float* y, int n) { scale<<<(n + 255) / 256, 256>>>(x, y, n); }
int main(int argc, char** argv) {
  int n = 0;
  switch (argc) {
    case 2:
      n = atoi(argv[1]);
      break;
    default:
      n = USUAL;
  }
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  run(x, y, 1024);
  run(x, y, n);
}
)";
  const ImportReply reply = Read(text);
  EXPECT_EQ(QuestionOf(reply, "n").guess, "65536");
  // One with other buffers is no warm-up.
  std::string other = text;
  other.replace(other.find("run(x, y, 1024"), 14, "run(y, x, 1024");
  EXPECT_EQ(QuestionOf(Read(other), "n").guess, "1024");
}

// What is rounded up to whole tiles before the launch is a size of whole tiles; a tile is the kernel's own.
TEST(ImportSizes, ARoundedNumberIsASizeOfMultiples) {
  const std::string text = R"(
#define TILE_SIZE 2048
__global__ void sums(const int* x, int* y, int n) {
  __shared__ int s[TILE_SIZE];
  for (int i = threadIdx.x; i < TILE_SIZE; i += blockDim.x)
    s[i] = blockIdx.x * TILE_SIZE + i < n ? x[blockIdx.x * TILE_SIZE + i] : 0;
  __syncthreads();
  for (int i = threadIdx.x; i < TILE_SIZE; i += blockDim.x)
    if (blockIdx.x * TILE_SIZE + i < n) y[blockIdx.x * TILE_SIZE + i] = s[TILE_SIZE - 1 - i];
}
int main() {
  int given = 1000000;
  int padded = TILE_SIZE * ((given + TILE_SIZE - 1) / TILE_SIZE);
  int *x, *y;
  cudaMalloc(&x, padded * sizeof(int));
  cudaMalloc(&y, padded * sizeof(int));
  sums<<<padded / TILE_SIZE, 256>>>(x, y, padded);
}
)";
  const ImportReply reply = Read(text);
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:launch sums(x, y, given) grid(given / 2048)"));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "x").at("shape"), json({"given"}));
  EXPECT_EQ(task.at("cases").at("small").at("sizes").at("given").get<int>() % 2048, 0);
  // Where the kernel gets the number itself, it is that of the elements.
  std::string own = text;
  own.replace(own.find("(x, y, padded)"), 14, "(x, y, given)");
  EXPECT_THAT(Kernel(Read(own)), HasSubstr("// evo:launch sums(x, y, given) grid(2048 * ceil_div(given, 2048) / 2048)"));
}

TEST(ImportSizes, AConstantPointerHasItsElements) {
  const std::string text = R"(
__global__ void twice(const unsigned int* const x, unsigned int* const y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
int main() {
  const int n = 4096;
  unsigned int *x, *y;
  cudaMalloc(&x, n * sizeof(unsigned int));
  cudaMalloc(&y, n * sizeof(unsigned int));
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
)";
  const json task = TaskOf(Read(text));
  EXPECT_EQ(ArgumentOf(task, "x").at("dtype"), "u32");
  EXPECT_EQ(ArgumentOf(task, "y").at("dtype"), "u32");
}

// What each block leaves is an argument: blocks of another size would leave more or fewer of them.
TEST(ImportSizes, ABlockSizeInAShapeIsNoParameter) {
  const std::string text = R"(
#define BLOCK_SIZE 256
__global__ void sums(const float* x, float* y, int n) {
  __shared__ float s[BLOCK_SIZE];
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = BLOCK_SIZE / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
int main() {
  const int n = 4096;
  const int blocks = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, blocks * sizeof(float));
  sums<<<blocks, BLOCK_SIZE>>>(x, y, n);
}
)";
  const ImportReply reply = Read(text);
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "y").at("shape"), json({"ceil_div(n, 256)"}));
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("grid(ceil_div(n, 256)) block(256)"), Not(HasSubstr("evo:param"))));
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("BLOCK_SIZE stays 256")));
  const ImportReply chosen = Read(text, {}, {{"BLOCK_SIZE.values", "128 256"}, {"y.shape", "ceil_div(n, 128)"}});
  EXPECT_THAT(Kernel(chosen), HasSubstr("evo:param BLOCK_SIZE 128 256"));
  // A variable of the host is a parameter in capitals; the note says what it would be called.
  std::string local = text;
  local.replace(local.find("#define BLOCK_SIZE 256"), 22, "constexpr int kSide = 256;");
  for (std::size_t at = local.find("BLOCK_SIZE"); at != std::string::npos; at = local.find("BLOCK_SIZE"))
    local.replace(at, 10, at > local.find("int main") ? "block" : "kSide");
  local.replace(local.find("const int n = 4096;"), 19, "const int n = 4096, block = 256;");
  EXPECT_THAT(Read(local).notes, testing::Contains(HasSubstr("--set BLOCK.values")));
  EXPECT_THAT(Kernel(Read(local, {}, {{"BLOCK.values", "128 256"}, {"y.shape", "ceil_div(n, 128)"}})),
              HasSubstr("evo:param BLOCK 128 256"));
}

TEST(ImportSizes, SizesDoNotGrowBeyondWhatABlockHas) {
  const ImportReply reply = Read(R"(
__global__ void scan(float* x, int n) {
  int i = threadIdx.x;
  for (int d = 1; d < n; d *= 2) {
    float v = i >= d && i < n ? x[i - d] : 0.0f;
    __syncthreads();
    if (i < n) x[i] += v;
    __syncthreads();
  }
}
int main() {
  const int n = 512;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scan<<<1, n>>>(x, n);
}
)");
  EXPECT_EQ(TaskOf(reply).at("cases").at("search").at(0).at("sizes").at("n"), 1024);
}

TEST(ImportSizes, SizesDoNotGrowBeyondWhatABlocksMemoryHas) {
  const std::string text = R"(
__global__ void count(const int* x, int* y, int n, int bins) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s[x[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&y[i], s[i]);
}
int main() {
  int n, bins;
  n = 4096, bins = 256;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, bins * sizeof(int));
  cudaMemset(y, 0, bins * sizeof(int));
  count<<<(n + 255) / 256, 256, bins * sizeof(int)>>>(x, y, n, bins);
}
)";
  const ImportReply reply = Read(text);
  const json sizes = TaskOf(reply).at("cases").at("search").at(0).at("sizes");
  EXPECT_LE(sizes.at("bins"), 48 * 1024 / 4);
  EXPECT_GE(sizes.at("n"), 1 << 20);
  EXPECT_EQ(QuestionOf(reply, "bins").guess, "256") << "the second of two values at once";
}

TEST(ImportSizes, LoopsOverWholeTilesWantWholeTiles) {
  const ImportReply reply = Read(R"(
__global__ void mmul(const float* a, const float* b, float* c, int ds) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x + 16 * blockIdx.x, y = threadIdx.y + 16 * blockIdx.y;
  if (x < ds && y < ds) {
    float sum = 0;
    for (int i = 0; i < ds / 16; i++) {
      as[threadIdx.y][threadIdx.x] = a[y * ds + i * 16 + threadIdx.x];
      bs[threadIdx.y][threadIdx.x] = b[(i * 16 + threadIdx.y) * ds + x];
      __syncthreads();
      for (int k = 0; k < 16; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
      __syncthreads();
    }
    c[y * ds + x] = sum;
  }
}
int main() {
  const int ds = 512;
  float *a, *b, *c;
  cudaMalloc(&a, ds * ds * sizeof(float));
  cudaMalloc(&b, ds * ds * sizeof(float));
  cudaMalloc(&c, ds * ds * sizeof(float));
  dim3 block(16, 16), grid((ds + 15) / 16, (ds + 15) / 16);
  mmul<<<grid, block>>>(a, b, c, ds);
}
)");
  const json cases = TaskOf(reply).at("cases");
  EXPECT_EQ(cases.at("small").at("sizes").at("ds").get<int>() % 16, 0);
  EXPECT_EQ(cases.at("held_out").at(0).at("sizes").at("ds").get<int>() % 16, 0);
}

// What a template gets must be a number when it is compiled, and a macro may not have the name of the template's parameter.
TEST(ImportSizes, SizesOfTemplatesAreCompiledIn) {
  const ImportReply reply = Read(R"(
template <int D, int W> __global__ void rows(const float* x, float* y, int n) {
  float own[D];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  for (int i = 0; i < D; i++) own[i] = x[row * D + i];
  for (int i = 0; i < D; i++) y[row * D + i] = own[D - 1 - i] * W;
}
int main() {
  const int n = 5000, WIDTH = 1000;
  constexpr int D = 128;
  float *x, *y;
  cudaMalloc(&x, n * D * WIDTH * sizeof(float));
  cudaMalloc(&y, n * D * WIDTH * sizeof(float));
  rows<D, WIDTH><<<(n + 255) / 256, 256>>>(x, y, n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:size D_SIZE = D\n"));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:size WIDTH\n"));
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch rows<D_SIZE, WIDTH>(x, y, n)"));
  EXPECT_THAT(Kernel(reply), HasSubstr("#ifndef D_SIZE\n#define D_SIZE 128\n#endif\n"));
  const json cases = TaskOf(reply).at("cases");
  EXPECT_EQ(cases.at("small").at("sizes").at("D"), 128) << "threads have arrays of so many elements";
  EXPECT_EQ(cases.at("search").at(0).at("sizes").at("D"), 128);
}

}  // namespace
}  // namespace evo
