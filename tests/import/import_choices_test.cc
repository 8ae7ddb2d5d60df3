// What evo init chooses where the host leaves a choice: extents, types, function objects, runs of several sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// Nothing says how many threads a block has along each axis; 1024 would be too many.
TEST(ImportChoices, AnUnknownExtentOfBlocks) {
  const ImportReply reply = Read(R"(
__global__ void sums(const float* x, float* y, int n) {
  extern __shared__ float part[];
  int i = (blockIdx.z * blockDim.z + threadIdx.z) * n * n + (blockIdx.y * blockDim.y + threadIdx.y) * n +
          blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2.f * x[i];
}
int main() {
  int n, T;
  scanf("%d %d", &n, &T);
  float *x, *y, *sums_of_blocks;
  cudaMalloc(&x, n * n * n * sizeof(float));
  cudaMalloc(&y, (n / T) * (n / T) * T * T * n * sizeof(float));
  dim3 block(T, T, T), grid(n / T, n / T, n / T);
  sums<<<grid, block>>>(x, y, n);
}
)");
  const json task = TaskOf(reply);
  const auto text = task.at("cases").dump();
  EXPECT_THAT(text, HasSubstr("\"T\":8"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"T\":1024")));
}

// `int n_ = 0;` of a class only declares what a method sets.
TEST(ImportObjects, MembersThatAMethodSets) {
  const ImportReply reply = Read(std::string(kRows) + R"(
class Summer {
 public:
  void prepare(int height, int width) {
    height_ = height;
    width_ = width;
    cudaMalloc(&x_, height_ * width_ * sizeof(float));
    cudaMalloc(&y_, height_ * sizeof(float));
  }
  void run() { rows<<<(height_ + 127) / 128, 128>>>(x_, y_, height_, width_); }

 private:
  int height_ = 0, width_ = 0;
  float *x_ = nullptr, *y_ = nullptr;
};
int main() {
  int tall = 5000, wide = 800;
  Summer summer;
  summer.prepare(tall, wide);
  summer.run();
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("rows(x, y, tall, wide) grid(ceil_div(tall, "));
  EXPECT_EQ(ShapeOf(reply, "x"), json({"tall", "wide"}));
}

// A function object without fields is a variable of the kernel.
TEST(ImportChoices, FunctionObjects) {
  const std::string program = R"(
struct Twice { __device__ float operator()(float v) const { return 2 * v; } };
struct Relu { __device__ float operator()(float v) const { return v > 0 ? v : 0; } };
template <class Act>
__global__ void apply(const float* x, float* y, int n, Act act) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = act(x[i]);
}
template <class Act>
void run(const float* x, float* y, int n, Act act) {
  apply<<<(n + 127) / 128, 128>>>(x, y, n, act);
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  run(x, y, n, Relu{});
}
)";
  const std::string kernel = Kernel(Read(program));
  EXPECT_THAT(kernel, AllOf(HasSubstr("evo:launch apply<Relu>(x, y, n) "), HasSubstr("float* y, int n) { Act act{};"),
                            HasSubstr("struct Relu")));
  // One that is no functor, since it has a value of its own.
  std::string scaled = program;
  scaled.replace(scaled.find("struct Relu { "), 14, "struct Relu { float a; ");
  EXPECT_THAT(Kernel(Read(scaled)), testing::Not(HasSubstr("Act act{};")));
}

// Several function objects, of which a template deduces the types.
TEST(ImportChoices, SeveralFunctionObjects) {
  const std::string kernel = Kernel(Read(R"(
struct Square { __device__ float operator()(float v) const { return v * v; } };
struct Plus { __device__ float operator()(float a, float b) const { return a + b; } };
template <int kBlock, typename Op, typename Map>
__global__ void apply(const float* x, float* y, int n, Op op, Map map) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) y[i] = op(map(x[i]), 1.f);
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  apply<128><<<(n + 127) / 128, 128>>>(x, y, n, Plus{}, Square());
}
)"));
  EXPECT_THAT(kernel, AllOf(HasSubstr("evo:launch apply<128, Plus, Square>(x, y, n) "),
                            HasSubstr("float* y, int n) { Op op{}; Map map{};")));
}

// The type that a macro of the host chooses first.
TEST(ImportChoices, TypesThatAMacroChooses) {
  const ImportReply reply = Read(R"(
#define DISPATCH(kind, ...) \
  switch (kind) { case 0: { using scalar_t = double; __VA_ARGS__ break; } case 1: { using scalar_t = float; __VA_ARGS__ break; } }
template <typename scalar_t>
__global__ void twice(const scalar_t* x, scalar_t* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}
void run(const void* x, void* y, int n, int kind) {
  DISPATCH(kind, twice<scalar_t><<<(n + 127) / 128, 128>>>((const scalar_t*)x, (scalar_t*)y, n);)
}
int main() {
  int n = 1 << 20;
  double *x, *y;
  cudaMalloc(&x, n * sizeof(double));
  cudaMalloc(&y, n * sizeof(double));
  run(x, y, n, 0);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch twice<double>(x, y, n) "));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "x").at("dtype"), "f64");
}

// A choice by a name of an enum class, an exponent of 2, and a number that the host counts up.
TEST(ImportChoices, ChoicesExponentsAndCounts) {
  const ImportReply reply = Read(R"(
enum class Order { kRows, kColumns };
__global__ void scale(const float* x, float* y, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
void run(Order order, int k, const int* labels) {
  int valid = 0;
  for (int i = 0; i < 100; ++i) valid += labels[i] >= 0;
  int n = order == Order::kRows ? 1 << k : 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 127) / 128, 128>>>(x, y, n, 1.f / valid);
}
int main(int argc, char** argv) {
  int k;
  scanf("%d", &k);
  run(Order::kRows, k, nullptr);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"1 << k"}));
  EXPECT_EQ(QuestionOf(reply, "k").guess, "10");
  EXPECT_EQ(QuestionOf(reply, "by").guess, "1.5");
  const json cases = TaskOf(reply).at("cases");
  const int timed = cases.at("search").at(0).at("sizes").at("k");
  EXPECT_GT(timed, 20);
  EXPECT_LE(timed, 30);
  EXPECT_LT(cases.at("small").at("sizes").at("k").get<int>(), timed);
}

// Runs with several widths, each of which the host copies, are not steps of one.
TEST(ImportChoices, RunsWhoseResultsAreCopied) {
  const auto program = [](const std::string& input, const std::string& copy) {
    return R"(
__constant__ float w[16];
__global__ void slide(const float* x, float* y, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.f;
  for (int k = 0; k < width; ++k) if (i + k < n) sum += x[i + k] * w[k];
  y[i] = sum;
}
int main() {
  int n = 1 << 20;
  float *x, *y, h[16], *out = new float[n];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  for (int width = 3; width <= 15; width += 4) {
    cudaMemcpyToSymbol(w, h, width * sizeof(float));
    slide<<<(n + 127) / 128, 128>>>()" +
           input + ", y, n, width);\n" + copy + "  }\n}\n";
  };
  const std::string copy = "    cudaMemcpy(out, y, n * sizeof(float), cudaMemcpyDeviceToHost);\n";
  const std::string taken = Kernel(Read(program("x", copy)));
  EXPECT_THAT(taken, HasSubstr("evo:launch slide(x, y, n, 15) "));
  EXPECT_THAT(taken, testing::Not(HasSubstr("evo:repeat")));
  // What the next one reads, or what nobody looks at, belongs together.
  EXPECT_THAT(Kernel(Read(program("y", copy))), HasSubstr("evo:repeat"));
  EXPECT_THAT(Kernel(Read(program("x", ""))), HasSubstr("evo:repeat"));
}

// The ways in which programs round up.
TEST(ImportChoices, BlocksForWhatIsLeftOver) {
  const auto grid = [](const std::string& blocks) {
    const std::string kernel = Kernel(Read(R"(
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 2000011;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  )" + blocks + R"(
  scale<<<blocks, 256>>>(x, y, n);
}
)"));
    const std::size_t at = kernel.find(" grid(");
    return kernel.substr(at + 6, kernel.find(" block(") - at - 7);
  };
  for (const char* blocks :
       {"int blocks = n / 256; if (n % 256 != 0) blocks++;", "int blocks = n / 256; if (n % 256) { blocks += 1; }",
        "int blocks = n / 256; if (n % 256 > 0) ++blocks;", "int blocks = n / 256;\nif (n % 256) blocks = blocks + 1;",
        "int blocks = n % 256 == 0 ? n / 256 : n / 256 + 1;", "int blocks = (n % 256) ? (n / 256) + 1 : n / 256;",
        "int blocks = n / 256 + (n % 256 == 0 ? 0 : 1);", "int blocks = n / 256 + (n % 256 != 0);"})
    EXPECT_EQ(grid(blocks), "ceil_div(n, 256)") << blocks;
  EXPECT_EQ(grid("int blocks = n / 256; if (n > 1000) blocks++;"), "n / 256 + (n > 1000 ? 1 : 0)");
}

// What a list of the host gives as numbers are sizes, of which others are made; functions of the host are left out.
TEST(ImportChoices, NumbersOfAStruct) {
  const ImportReply reply = Read(R"(
struct Shape {
  int height, width;
  size_t count() const { return (size_t)height * width; }
  __host__ __device__ int last() const { return width - 1; }
};
__global__ void rows(const float* x, float* y, Shape s) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= s.height) return;
  float sum = 0.f;
  for (int c = 0; c <= s.last(); ++c) sum += x[r * s.width + c];
  y[r] = sum;
}
int main() {
  Shape s = {2000, 1003};
  size_t n = (size_t)s.height * s.width;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, s.height * sizeof(float));
  rows<<<(s.height + 127) / 128, 128>>>(x, y, s);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"height", "width"}));
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel, AllOf(HasSubstr("rows(x, y, {height, width}) grid(ceil_div(height, 128))"), HasSubstr("int last() const"),
                            testing::Not(HasSubstr("size_t count()"))));
}

}  // namespace
}  // namespace evo
