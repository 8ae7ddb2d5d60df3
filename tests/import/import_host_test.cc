// What evo init reads from the host: fields of structs, constants, and what the device says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Fields that a struct gets by an initialiser or one by one, on the way from one launch to the next.
TEST(ImportHost, FollowsFieldsOfStructs) {
  const ImportReply reply = Read(R"(
struct Signal { int length; const float *samples; };
struct Parts { int blocks; float *sums; float *values; };
__global__ void sum_parts(Signal s, Parts p) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < s.length) p.values[i] = 2 * s.samples[i];
  if (threadIdx.x == 0) p.sums[blockIdx.x] = s.samples[i];
}
__global__ void add_parts(Signal s, Parts p) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < s.length) p.values[i] += p.sums[blockIdx.x];
}
int main() {
  int n = 100000;
  float *d_samples;
  Parts p{0, nullptr, nullptr};
  p.blocks = (n + 255) / 256;
  cudaMalloc(&d_samples, n * sizeof(float));
  cudaMalloc(&p.sums, p.blocks * sizeof(float));
  cudaMalloc(&p.values, n * sizeof(float));
  Signal s = {n, d_samples};
  sum_parts<<<p.blocks, 256>>>(s, p);
  add_parts<<<p.blocks, 256>>>(s, p);
  float *r = (float *)malloc(n * sizeof(float));
  cudaMemcpy(r, p.values, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("evo:workspace p_sums f32 [ceil_div(n, 256)]"),
                                   HasSubstr("evo:launch sum_parts({n, s_samples}, {ceil_div(n, 256), p_sums, p_values})"),
                                   HasSubstr("evo:launch add_parts({n, s_samples}, {ceil_div(n, 256), p_sums, p_values})")));
}

// What the device says, sizes of types in shared memory, and a square block that the host computes.
TEST(ImportHost, TakesWhatTheDeviceSaysForNumbers) {
  const ImportReply reply = Read(R"(
static int most_threads;
template <typename T> __global__ void scale(T *x, int n, int width) {
  extern __shared__ unsigned char bytes[];
  T *tile = reinterpret_cast<T *>(bytes);
  int i = (blockIdx.x * blockDim.y + threadIdx.y) * width + threadIdx.x;
  tile[threadIdx.y * blockDim.x + threadIdx.x] = i < n ? x[i] : T(0);
  if (i < n) x[i] = 2 * tile[threadIdx.y * blockDim.x + threadIdx.x];
}
template <typename T> void launch(T *x, int n) {
  int width = sqrt(most_threads);
  dim3 block(width, width);
  scale<T><<<(n + width * width - 1) / (width * width), block, width * width * sizeof(T)>>>(x, n, width);
}
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  most_threads = properties.maxThreadsPerBlock;
  int n = 100000;
  double *x;
  cudaMalloc(&x, n * sizeof(double));
  launch<double>(x, n);
}
)");
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel, AllOf(HasSubstr("evo:launch scale<double>("), HasSubstr("block(WIDTH, WIDTH) shared(WIDTH * WIDTH * 8)"),
                            HasSubstr("#define WIDTH 32"), Not(HasSubstr("most_threads"))));
}

// The host's own templates: what a caller gives or passes decides which kernel is launched, through several of them.
TEST(ImportHost, FollowsTheTypesOfTemplatesThroughCallers) {
  const std::string kernels = R"(
namespace lib {
template <typename T> __global__ void add(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
template <typename T> void launch(const T *x, T *y, int n) { LAUNCH<<<(n + 255) / 256, 256>>>(x, y, n); }
}
template <typename T, typename S> int test(int n, S limit) {
  T *x, *y;
  cudaMalloc(&x, n * sizeof(T));
  cudaMalloc(&y, n * sizeof(T));
  lib::launch(x, y, n);
  cudaMemcpy(host, y, n * sizeof(T), cudaMemcpyDeviceToHost);
  return 0;
}
int main() { return test<TYPE, float>(100000, 1.0f) + test<float, float>(100000, 1.0f); }
)";
  for (const std::string launched : {"add<T>", "add"}) {
    for (const auto& [type, dtype] : std::map<std::string, std::string>{{"int", "i32"}, {"double", "f64"}, {"float", "f32"}}) {
      std::string text = kernels;
      text.replace(text.find("LAUNCH"), 6, launched);
      text.replace(text.find("TYPE"), 4, type);
      const ImportReply reply = Read(text);
      EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch add<" + type + ">(x, y, n)")) << launched;
      EXPECT_EQ(ArgumentOf(TaskOf(reply), "x").at("dtype"), dtype);
    }
  }
}

// Mutators place kernels beside others, so that namespaces go where nothing is called the same without them.
TEST(ImportHost, NamespacesGoUnlessNamesClash) {
  const std::string program = R"(
namespace lib::inner {
constexpr int kFactor = 3;
struct Pair { float x, y; };
namespace {
__device__ float times(float v) { return v * kFactor; }
}
__global__ void scale(Pair *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i].x = lib::inner::times(x[i].y);
}
}  // namespace lib::inner
OTHER
using namespace lib::inner;
int main() {
  lib::inner::Pair *x;
  cudaMalloc(&x, 1000 * sizeof(Pair));
  lib::inner::scale<<<4, 256>>>(x, 1000);
}
)";
  const auto with = [&](const std::string& other) {
    std::string text = program;
    return Read(text.replace(text.find("OTHER"), 5, other));
  };
  const ImportReply flat = with("");
  EXPECT_THAT(Kernel(flat), AllOf(HasSubstr("evo:launch scale(x, "), HasSubstr("x[i].x = times(x[i].y);"),
                                  HasSubstr("\n__device__ float times(float v) { return v * kFactor; }\n__global__"),
                                  Not(HasSubstr("namespace")), Not(HasSubstr("lib"))));
  EXPECT_THAT(flat.notes, testing::Contains("what stands in namespaces (inner, lib) stands outside of them"));
  std::string text = program;
  text.replace(text.find("* kFactor"), 9, "* max(kFactor, 2)");
  const std::string own = "namespace lib::inner { __device__ int max(int a, int b) { return a; } }\n";
  EXPECT_THAT(Kernel(Read(own + text.replace(text.find("OTHER"), 5, ""))), HasSubstr("namespace lib::inner {"))
      << "CUDA has a function of that name";
  text = program;
  text.replace(text.find("v * kFactor"), 11, "v * ::kFactor + kFactor");
  EXPECT_THAT(Kernel(Read("constexpr int kFactor = 4;\n" + text.replace(text.find("OTHER"), 5, ""))),
              HasSubstr("namespace lib::inner {"))
      << "two of one name";
}

// Nobody calls the template: a type is taken, and said.
TEST(ImportHost, SaysWhichTypeItTakesForATemplateThatNobodyCalls) {
  const ImportReply reply = Read(R"(
template <typename T> __global__ void add(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
template <typename T> void launch(const T *x, T *y, int n) { add<T><<<(n + 255) / 256, 256>>>(x, y, n); }
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch add<float>(x, y, n)"));
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("what T of add stands for is not known; taken as float")));
}

// Numbers that are compiled in, with names for them: only what the launch names is a choice, and a size is in some argument.
// A child whose parameters have other qualifiers would be a second function of this name.
TEST(ImportHost, DeclarationsOfKernelsAreLeftOut) {
  const ImportReply reply = Read(R"(
template <int BLOCK> __global__ void twice(const float* x, float* y, int n);
__device__ float doubled(float x);
void run(const float* x, float* y, int n) { twice<256><<<(n + 255) / 256, 256>>>(x, y, n); }
template <int BLOCK> __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = doubled(x[i]);
}
__device__ float doubled(float x) { return 2 * x; }
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  run(x, y, n);
}
)");
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel, AllOf(HasSubstr("float doubled(float x);"), HasSubstr("y[i] = doubled(x[i]);")));
  EXPECT_EQ(kernel.find("void twice("), kernel.rfind("void twice("));
}

TEST(ImportHost, TellsConstantsFromSizesAndChoices) {
  const ImportReply reply = Read(R"(
constexpr int kRadius = 7;
constexpr int kParts = 64;
constexpr int kCount = 500009;
template <int Radius> __global__ void smooth(const float *x, float *parts, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) parts[blockIdx.x] = 1;
  for (; i < kCount; i += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int j = -Radius; j <= Radius; ++j) sum += i + j >= 0 && i + j < kCount ? x[i + j] : 0;
    y[i] = sum;
  }
}
__global__ void scale(const float *parts, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += kParts * blockDim.x) y[i] *= parts[blockIdx.x];
}
int main() {
  float *x, *parts, *y, *h = new float[kCount];
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMalloc(&parts, kParts * sizeof(float));
  int multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  smooth<kRadius><<<kParts, 256>>>(x, parts, y);
  scale<<<multiprocessors * 4, 256>>>(parts, y);
  cudaMemcpy(h, y, kCount * sizeof(float), cudaMemcpyDeviceToHost);
}
)");
  const std::string kernel = Kernel(reply);
  EXPECT_THAT(kernel,
              AllOf(HasSubstr("evo:launch smooth<7>(x, parts, y)"), HasSubstr("evo:launch scale(parts, y) grid(528)"),
                    HasSubstr("evo:size kCount"), Not(HasSubstr("evo:size kParts")), Not(HasSubstr("evo:param kRadius"))));
}

// A struct of a list, which a loop goes through, and what its methods compute.
TEST(ImportHost, FieldsAndMethodsOfListedStructs) {
  const std::string program = R"(
struct Shape {
  int n, c, pad;
  __host__ __device__ int wide() const { return n + 2 * pad; }
  __host__ __device__ int count(int times) const { return wide() * c * times; }
};
__global__ void k(const float* x, float* y, Shape p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.count(2)) y[i] = x[i % p.n];
}
int main() {
  Shape shapes[] = {{1000, 3, 1}, {500, 2, 0}};
  for (const auto& p : shapes) {
    float *x, *y;
    cudaMalloc(&x, p.n * sizeof(float));
    cudaMalloc(&y, p.count(2) * sizeof(float));
    k<<<(p.count(2) + 255) / 256, 256>>>(x, y, p);
  }
}
)";
  const ImportReply reply = Read(program);
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "x").at("shape"), json({"n"}));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "y").at("shape"), json({"(n + 2) * 6"}));
  EXPECT_EQ(QuestionOf(reply, "n").guess, "1000");
  // Of one element by its index.
  std::string other = program;
  other.replace(other.find("for (const auto& p : shapes)"), 28, "Shape p = shapes[1];");
  EXPECT_EQ(ArgumentOf(TaskOf(Read(other)), "x").at("shape"), json({"n"}));
  EXPECT_EQ(QuestionOf(Read(other), "n").guess, "500");
}

// A type that only a vector of Thrust says.
TEST(ImportHost, TypesOfVectorsOfThrust) {
  const ImportReply reply = Read(R"(
#include <thrust/device_vector.h>
template <typename T> __global__ void k(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
int main() {
  int n = 256;
  thrust::device_vector<double> x(n), z;
  thrust::device_vector<double> y(n);
  k<<<1, 256>>>(thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(y.data()), n);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch k<double>(x, y, "));
}

TEST(ImportHost, TheWordRegisterIsLeftOut) {
  const ImportReply reply = Read(
      "__global__ void k(float* x) { register int i = threadIdx.x; register float s = x[i]; x[i] = s; }\n"
      "int main() { float* x; cudaMalloc(&x, 1024); k<<<1, 256>>>(x); }\n");
  EXPECT_THAT(Kernel(reply), testing::AllOf(testing::Not(HasSubstr("register")), HasSubstr("int i = threadIdx.x;")));
}

// The case of a switch says what its number is, where only a run knows which one is taken.
TEST(ImportHost, ACaseSaysTheNumberOfItsSwitch) {
  const ImportReply reply = Read(R"(
template <int B> __global__ void k(const float* x, float* y, unsigned n) { 
  __shared__ float s[B];
  s[threadIdx.x] = x[0];
  y[0] = s[0];
}
void run(const float* x, float* y, unsigned n, int threads) {
  switch (threads) {
    case 512: k<512><<<64, threads, threads * sizeof(float)>>>(x, y, n); break;
    case 256: k<256><<<64, threads, threads * sizeof(float)>>>(x, y, n); break;
  }
}
int main(int argc, char** argv) {
  unsigned n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  run(x, y, n, atoi(argv[1]));
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("evo:launch k<512>(x, y, u32(n)) grid(64) block(512) shared(2048)"));
}

// Numbers and enumerators that templates of the host hand on are those of the first caller that spells them.
TEST(ImportHost, NumbersOfHostTemplatesAreTheirCallers) {
  const ImportReply reply = Read(R"(
namespace ops {
enum class Kind { kSum, kMax };
template <int W, Kind kKind> __global__ void k(const float* x, float* y) { y[threadIdx.x] = kKind == Kind::kMax ? x[0] : W; }
template <int D, Kind kOf> void inner(const float* x, float* y) { k<D, kOf><<<D / 32, D>>>(x, y); }
template <Kind kOuter> void run(const float* x, float* y) { inner<128, kOuter>(x, y); }
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  ops::run<ops::Kind::kMax>(x, y);
}
)");
  EXPECT_THAT(Kernel(reply), HasSubstr("k<128, Kind::kMax>(x, y) grid(4) block(128)"));
}

// Of a list of numbers that a loop goes through the largest is taken.
TEST(ImportHost, ALoopOverAListIsTakenWithItsLargestNumber) {
  const ImportReply reply = Read(R"(
__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = x[i]; }
int main() {
  const int sizes[] = {1, 100, 5000, 512};
  for (int n : sizes) {
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    k<<<(n + 255) / 256, 256>>>(x, y, n);
  }
}
)");
  EXPECT_EQ(QuestionOf(reply, "n").guess, "5000");
}

}  // namespace
}  // namespace evo
