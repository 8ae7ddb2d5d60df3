// Host code in the styles of many people: classes, views, helpers, versions of a kernel, and what the host looks at afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScale = R"(
__global__ void scale(const float* x, float* y, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
)";

// A launch line passes whole buffers, so that the kernel adds what the host adds.
TEST(ImportStyles, PointersWithOffsets) {
  std::string scale(kScale);
  scale.replace(scale.find("a * x[i]"), 8, "a * x[i] / RADIUS");
  const std::string program = "#define RADIUS 3\n" + scale + R"(
int main() {
  int n = 1 << 22;
  float *x, *y, *h = new float[n + 6];
  cudaMalloc(&x, (n + 2 * RADIUS) * sizeof(float));
  cudaMalloc(&y, (n + 2 * RADIUS) * sizeof(float));
  cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 255) / 256, 256>>>(x + RADIUS, &y[1], n, 2.0f);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
)";
  const std::string kernel = Kernel(Read(program + "}\n"));
  EXPECT_THAT(kernel,
              AllOf(HasSubstr("float a) {\n    // The host passes these from here on.\n    x += RADIUS;\n    y += 1;\n  int i"),
                    HasSubstr("evo:launch scale(x, y, n, ")));
  // One that is a size is passed.
  std::string half = program + "}\n";
  half.replace(half.find("x + RADIUS"), 10, "x + n / 2");
  EXPECT_THAT(Kernel(Read(half)),
              AllOf(HasSubstr("scale(x, i64(n / 2), y, n, "), HasSubstr("x += x_begin;"), HasSubstr("y += 1;")));
}

// A kernel that uses its input as memory of its own; the host looks at the sums only.
TEST(ImportStyles, WhatTheHostDoesNotCopyDoesNotCount) {
  const std::string kernel = R"(
__global__ void fold(int* data, int* sums, int n) {
  int* own = data + blockIdx.x * blockDim.x;
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) own[threadIdx.x] += own[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = own[0];
}
int main() {
  int n = 1 << 22;
  dim3 block(512), grid((n + 511) / 512);
  int *data, *sums;
  int* h = new int[n];
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&sums, grid.x * sizeof(int));
  cudaMemcpy(data, h, n * sizeof(int), cudaMemcpyHostToDevice);
  fold<<<grid, block>>>(data, sums, n);
  cudaMemcpy(h, sums, grid.x * sizeof(int), cudaMemcpyDeviceToHost);
)";
  const json task = TaskOf(Read(kernel + "}\n"));
  EXPECT_EQ(ArgumentOf(task, "data").at("role"), "inout");
  EXPECT_EQ(ArgumentOf(task, "data").at("counted"), 0);
  EXPECT_THAT(Kernel(Read(kernel + "}\n")), HasSubstr("// evo:counted data 0\n"));
  EXPECT_FALSE(ArgumentOf(task, "sums").contains("counted"));
  // One that is copied, or that goes on to something else, counts.
  for (const char* more : {"  cudaMemcpy(h, data, n * sizeof(int), cudaMemcpyDeviceToHost);\n", "  finish(data, n);\n"})
    EXPECT_FALSE(ArgumentOf(TaskOf(Read(kernel + more + "}\n")), "data").contains("counted")) << more;
  const json first = TaskOf(Read(kernel + "  cudaMemcpy(h, data, sizeof(int), cudaMemcpyDeviceToHost);\n}\n"));
  EXPECT_EQ(ArgumentOf(first, "data").at("counted"), 1);
  // Some that are looked at are no result of their own.
  const json some = TaskOf(Read(kernel + "  cudaMemcpy(h, data, 4 * sizeof(int), cudaMemcpyDeviceToHost);\n}\n"));
  EXPECT_FALSE(ArgumentOf(some, "data").contains("counted"));
}

// As an editor that knows C++ alone writes them.
TEST(ImportStyles, BracketsOfLaunchesThatStandApart) {
  const std::string joined = kScale + std::string(R"(
int main() {
  int n = 1 << 22, most = n > 4 ? n >> 1 : n;
  std::vector<std::vector<std::vector<int>> > nested;
  float *x, *y, *h = new float[n];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<dim3((n + 255) / 256), dim3(256)>>>(x, y, n, 2.0f);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)");
  const std::string expected = Kernel(Read(joined));
  EXPECT_THAT(expected, HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, 256)) block(256)"));
  for (const auto& [opened, closed] :
       {std::pair{"<< <", ">> >"}, {" << < ", " >> > "}, {"< <<", "> >>"}, {" <<\n   <", "> > >"}}) {
    std::string apart = joined;
    apart.replace(apart.find("<<<"), 3, opened);
    apart.replace(apart.find(">>>(x"), 3, closed);
    EXPECT_EQ(Kernel(Read(apart)), expected) << opened;
  }
}

TEST(ImportStyles, ClassesThatAllocateAndLaunch) {
  const std::string program = R"(
class Scaler {
 public:
  explicit Scaler(int count, float factor) : count_(count), factor_(factor) {
    this->blocks = (count + kBlock - 1) / kBlock;
    cudaMalloc(&buffer_, count_ * sizeof(float));
  }
  ~Scaler() { cudaFree(buffer_); }
  void forward(const float* x) { scale<<<blocks, kBlock>>>(x, buffer_, count_, factor_); }

 private:
  static constexpr int kBlock = 128;
  int count_, blocks;
  float factor_;
  float* buffer_ = nullptr;
};
)";
  const std::string use = R"(
int main() {
  int n = 1 << 20;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  Scaler scaler(n, 2.5f);
  scaler.forward(x);
}
)";
  const ImportReply reply = Read(kScale + program + use);
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, "));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "y").at("shape"), json({"n"}));
  EXPECT_EQ(ArgumentOf(task, "a").at("value"), 2.5);
  const std::string guarded = "#ifndef SCALER_H\n#define SCALER_H\n" + (kScale + program) + "#endif\n" + use;
  EXPECT_EQ(TaskOf(Read(guarded)).at("arguments"), task.at("arguments"));
  EXPECT_THAT(Kernel(Read(guarded)), HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, "));
}

TEST(ImportStyles, ViewsWithFunctionsAndStructsInStructs) {
  const ImportReply reply = Read(R"(
template <typename T> struct View {
  T* data;
  int rows, cols;
  __host__ __device__ T& operator()(int r, int c) const { return data[r * cols + c]; }
};
struct Job { View<float> from; View<float> to; float factor; };
template <typename T> __global__ void copy(View<T> a, View<T> b) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < a.rows && c < a.cols) b(r, c) = a(r, c);
}
__global__ void move(Job job) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < job.to.rows && c < job.to.cols) job.to.data[r * job.to.cols + c] = job.factor * job.from.data[r * job.from.cols + c];
}
int main() {
  int m = 512, n = 768;
  float *x, *y, *z;
  cudaMalloc(&x, m * n * sizeof(float));
  cudaMalloc(&y, m * n * sizeof(float));
  cudaMalloc(&z, m * n * sizeof(float));
  View<float> a{x, m, n};
  View<float> b;
  b.data = y; b.rows = m; b.cols = n;
  dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  copy<float><<<grid, block>>>(a, b);
  Job job{b, View<float>{z, m, n}, 0.5f};
  move<<<grid, block>>>(job);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("evo:launch copy<float>({a_data, m, n}, {b_data, m, n})"),
                                   HasSubstr("evo:launch move({b_data, m, n, job_to_data, m, n, job_factor})"),
                                   HasSubstr("evo:workspace b_data f32 [m, n]")));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "a_data").at("role"), "in");
  EXPECT_EQ(ArgumentOf(task, "job_to_data").at("role"), "out");
  EXPECT_EQ(ArgumentOf(task, "job_factor").at("value"), 0.5);
}

// A struct that functions get by its address, as in C.
TEST(ImportStyles, StructsByTheirAddress) {
  const ImportReply reply = Read(std::string(kScale) + R"(
typedef struct { int width; int count; float *in, *out; } State;
void init(State* s, int width) {
  s->width = width;
  s->count = width * 3;
  cudaMalloc(&s->in, s->count * sizeof(float));
  cudaMalloc((void**)&s->out, s->count * sizeof(float));
}
void run(State* state) { scale<<<(state->count + 255) / 256, 256>>>(state->in, state->out, state->count, 2.0f); }
int main() {
  State state;
  int w = 1 << 18;
  init(&state, w);
  run(&state);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch scale(x, y, w * 3, a) grid(ceil_div(w * 3, 256)) block(256)"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "y").at("shape"), json({"w * 3"}));
}

TEST(ImportStyles, HelpersThatAllocate) {
  const ImportReply reply = Read(std::string(kScale) + R"(
template <typename T> T* device_array(size_t count) { T* p = nullptr; cudaMalloc(&p, count * sizeof(T)); return p; }
void reserve(float** p, int count) { size_t bytes = count * sizeof(float); cudaMalloc(p, bytes); }
int get(int argc, char** argv, const char* name, int standard) { for (int i = 1; i < argc; ++i) {} return standard; }
int main(int argc, char** argv) {
  int n = get(argc, argv, "-n", 1 << 20);
  float* x = device_array<float>(n + 3);
  float *y, *z;
  reserve(&z, 17);
  reserve(&y, n);
  auto run = [&](float factor, int count) { scale<<<(count + 255) / 256, 256>>>(x, y, count, factor); };
  run(2.0f, n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, 256)) block(256)"));
  const json task = TaskOf(reply);
  EXPECT_EQ(ArgumentOf(task, "x").at("shape"), json({"n + 3"}));
  EXPECT_EQ(ArgumentOf(task, "y").at("shape"), json({"n"}));
  EXPECT_EQ(ArgumentOf(task, "a").at("value"), 2);
  EXPECT_EQ(QuestionOf(reply, "n").guess, "1048576");
}

TEST(ImportStyles, LaunchesByTheRuntime) {
  const std::string host = R"(
int main() {
  int n = 1 << 20;
  float a = 2.0f;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  int block = 0, least = 0;
  cudaOccupancyMaxPotentialBlockSize(&least, &block, scale, 0, 0);
  void* args[] = {&x, &y, &n, (void*)&a};
)";
  const ImportReply reply =
      Read(kScale + host + "  cudaLaunchKernel((void*)scale, dim3((n + 127) / 128), dim3(128), args, 0, nullptr);\n}\n");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, 128)) block(128)\n"),
                                   Not(HasSubstr("cooperative"))));
  const ImportReply cooperative = Read(kScale + host + "  cudaLaunchCooperativeKernel(scale, 264, 128, args);\n}\n");
  EXPECT_THAT(Kernel(cooperative), HasSubstr("grid(264) block(128) cooperative\n"));
}

TEST(ImportStyles, OfVersionsTheFirstIsTaken) {
  const std::string again = R"(
__global__ void scale2(const float* x, float* y, int n, float a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i];
}
__global__ void fill(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }
void first(const float* x, float* y, int n) { scale<<<(n + 255) / 256, 256>>>(x, y, n, 2.0f); }
void second(const float* x, float* y, int n) { scale2<<<512, 256>>>(x, y, n, 2.0f); }
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  fill<<<(n + 255) / 256, 256>>>(x, n);
  for (int i = 0; i < 100; ++i) first(x, y, n);
  for (int i = 0; i < 100; ++i) second(x, y, n);
}
)";
  const ImportReply reply = Read(kScale + again);
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("evo:launch fill"), HasSubstr("evo:launch scale("), Not(HasSubstr("scale2"))));
  EXPECT_THAT(TaskOf(reply).at("notes").dump(), HasSubstr("others are versions of it"));
  EXPECT_THAT(Kernel(Read(kScale + again, {"scale2"})), HasSubstr("evo:launch scale2(x, y, n, a) grid(512) block(256)"));
}

TEST(ImportStyles, OfCasesTheOneThatIsChosenIsTaken) {
  const auto program = [](int kernel) {
    return kScale + std::string(R"(
__global__ void scale2(const float* x, float* y, int n, float a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { y[i] = a; y[i] *= x[i]; }
}
void run(int kernel, const float* x, float* y, int n) {
  switch (kernel) {
    case 1: { dim3 grid((n + 255) / 256); scale<<<grid, 256>>>(x, y, n, 2.0f); break; }
    case 2: { dim3 grid(512); scale2<<<grid, 256>>>(x, y, n, 2.0f); break; }
  }
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  int kernel = )") +
           std::to_string(kernel) + ";\n  run(kernel, x, y, n);\n}\n";
  };
  EXPECT_THAT(Kernel(Read(program(1))), HasSubstr("evo:launch scale(x, y, n, a) grid(ceil_div(n, 256))"));
  EXPECT_THAT(Kernel(Read(program(2))), HasSubstr("evo:launch scale2(x, y, n, a) grid(512)"));
}

// A mask that the host leaves out, and a second function that nothing calls.
TEST(ImportStyles, NullPointersAreAnsweredAndMainIsTaken) {
  const std::string program = R"(
__global__ void scores(const float* x, const bool* mask, float* s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mask != nullptr && !mask[i]) return;
  s[i] = mask ? 0.0f : 2.0f * x[i];
}
__global__ void half_of(const float* s, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * s[i];
}
extern "C" void for_others(const float* x, float* s, float* y, int n) {
  scores<<<(n + 255) / 256, 256>>>(x, nullptr, s, n);
  half_of<<<(n + 255) / 256, 256>>>(s, y, n);
}
int main() {
  int n = 1 << 20;
  float *x, *s, *y, *h = new float[n];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&s, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scores<<<(n + 255) / 256, 256>>>(x, nullptr, s, n);
  half_of<<<(n + 255) / 256, 256>>>(s, y, n);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  const ImportReply reply = Read(program);
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("evo:launch scores(x, mask, s, n)"), HasSubstr("evo:launch half_of(s, y, n)"),
                                   HasSubstr("if (false && !mask[i]) return;"), HasSubstr("s[i] = false ? 0.0f")));
}

}  // namespace
}  // namespace evo
