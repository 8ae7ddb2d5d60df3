#include <gmock/gmock.h>

#include <string>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A program that keeps the total behind the elements. `host`: between the allocation and the launch, and behind it.
std::string WithTotalBehind(const std::string& before, const std::string& after,
                            const std::string& bytes = "(LENGTH + 1) * sizeof(float)") {
  return R"(
#define LENGTH 65536
__global__ void total(const float* values, float* result) {
  __shared__ float part[256];
  part[threadIdx.x] = values[blockIdx.x * 256 + threadIdx.x];
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) atomicAdd(result, part[0]);
}
int main() {
  float* h = new float[LENGTH + 1];
  float sum;
  float* d;
  CHECK(cudaMalloc(&d, )" +
         bytes + "));\n" + before + "  total<<<LENGTH / 256, 256>>>(d, &d[LENGTH]);\n" + after + "  cudaFree(d);\n}\n";
}

constexpr const char* kCopyIn = "  cudaMemcpy(d, h, LENGTH * sizeof(float), cudaMemcpyHostToDevice);\n";
constexpr const char* kCopyOut = "  cudaMemcpy(&sum, &d[LENGTH], sizeof(float), cudaMemcpyDeviceToHost);\n";
constexpr const char* kRefused = "total gets several parts of what d points to; allocate a buffer for each of them";

// The elements and the sum behind them are two buffers, each with what the host does with it.
TEST(ImportParts, APartBehindAConstantIsABufferOfItsOwn) {
  const ImportReply reply = Read(WithTotalBehind(kCopyIn, kCopyOut));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:launch total(values, result)"));
  EXPECT_EQ(ShapeOf(reply, "values"), json({"LENGTH"}));
  EXPECT_EQ(ShapeOf(reply, "result"), json({1}));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "values").at("role"), "in");
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "result").at("role"), "inout") << "nothing sets it";
}

TEST(ImportParts, WhatSetsAPartCountsForIt) {
  const std::string part = "  cudaMemset(d + LENGTH, 0, sizeof(float));\n",
                    all = "  cudaMemset(d, 0, (LENGTH + 1) * sizeof(float));\n";
  for (const std::string& set : {part, all}) {
    const ImportReply reply = Read(WithTotalBehind(set + kCopyIn, kCopyOut));
    EXPECT_EQ(ArgumentOf(TaskOf(reply), "result").at("role"), "out") << set;
    EXPECT_THAT(Kernel(reply), HasSubstr("// evo:memset result 0")) << set;
  }
}

TEST(ImportParts, ACopyOfAllIsACopyOfEach) {
  const ImportReply reply = Read(WithTotalBehind("  cudaMemcpy(d, h, (LENGTH + 1) * sizeof(float), cudaMemcpyHostToDevice);\n",
                                                 "  cudaMemcpy(h, d, (LENGTH + 1) * sizeof(float), cudaMemcpyDeviceToHost);\n"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "values").at("role"), "in");
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "result").at("role"), "inout");
}

TEST(ImportParts, SizesOfPartsAreThoseOfTheAllocation) {
  const auto shape = [](const std::string& bytes) { return ShapeOf(Read(WithTotalBehind(kCopyIn, kCopyOut, bytes)), "result"); };
  EXPECT_EQ(shape("2 * LENGTH * sizeof(float)"), json({"LENGTH"}));
  EXPECT_EQ(shape("sizeof(float) * (4 + LENGTH)"), json({4}));
}

// A function that gets the memory passes the part behind, too, and what stands between its launches is a workspace.
TEST(ImportParts, PartsAreFollowedThroughFunctions) {
  const std::string text = R"(
#define MOST 512
__global__ void partials(const float* v, int n, float* partial) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += v[i];
  __shared__ float all[128];
  all[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 128; ++k) s += all[k];
    partial[blockIdx.x] = s;
  }
}
__global__ void last(const float* partial, int count, float* result) {
  float s = 0;
  for (int i = 0; i < count; ++i) s += partial[i];
  *result = s;
}
template <typename T>
T Total(const T* v, int n, T* scratch) {
  partials<<<MOST, 128>>>(v, n, scratch);
  last<<<1, 1>>>(scratch, MOST, scratch + MOST);
  T total;
  cudaMemcpy(&total, scratch + MOST, sizeof(T), cudaMemcpyDeviceToHost);
  return total;
}
int main() {
  int n = 1 << 20;
  float *v, *memory;
  cudaMalloc(&v, n * sizeof(float));
  cudaMalloc(&memory, (MOST + 1) * sizeof(float));
  printf("%f\n", Total(v, n, memory));
}
)";
  const ImportReply reply = Read(text);
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("launch partials(v, n, partial)"), HasSubstr(", result)"),
                                   HasSubstr("// evo:workspace partial f32 [512]"), Not(HasSubstr("memory"))));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "result").at("role"), "out");
  EXPECT_EQ(ShapeOf(reply, "result"), json({1}));
}

// Parts that may overlap, and memory of which more is done than is understood.
TEST(ImportParts, WhatIsLessClearIsRefused) {
  const std::string copies = kCopyIn;
  EXPECT_THAT(Read(WithTotalBehind(copies + "  fill(d + 3);\n", kCopyOut)).failure, HasSubstr(kRefused));
  EXPECT_THAT(Read(WithTotalBehind(copies + "  float* other = d;\n", kCopyOut)).failure, HasSubstr(kRefused));
  EXPECT_THAT(Read(WithTotalBehind("  cudaMemcpy(d, h, (LENGTH + 2) * sizeof(float), cudaMemcpyHostToDevice);\n", "",
                                   "(LENGTH + 8) * sizeof(float)"))
                  .failure,
              HasSubstr(kRefused));
  EXPECT_THAT(Read(WithTotalBehind(copies, kCopyOut, "3 * LENGTH * sizeof(float)")).failure, HasSubstr(kRefused))
      << "of a larger part behind";
}

// A kernel that goes on to a larger bound than its part has elements.
TEST(ImportParts, ALargerBoundIsRefused) {
  const auto reply = [](const std::string& bound) {
    return Read(R"(
#define EDGE 4096
__global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}
int main() {
  float* d;
  cudaMalloc(&d, 2 * EDGE * sizeof(float));
  shift<<<16, 256>>>(d, d + EDGE, )" +
                bound + ");\n}\n");
  };
  EXPECT_THAT(reply("EDGE + 1").failure, HasSubstr("several parts of what d points to"));
  EXPECT_EQ(ShapeOf(reply("EDGE"), "y"), json({"EDGE"}));
}

}  // namespace
}  // namespace evo
