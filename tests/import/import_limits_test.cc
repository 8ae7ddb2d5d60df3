// What evo init must not follow for ever, must not take for less than it is, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTwice = R"(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
)";

std::string TwiceProgram(const std::string& before, const std::string& launch) {
  return kTwice + before +
         "int main() {\n  int n = 1000;\n  float *x, *y, h[1000];\n  cudaMalloc(&x, n * sizeof(float));\n  cudaMalloc(&y, n * "
         "sizeof(float));\n" +
         launch + "}\n";
}

TEST(ImportLimits, FunctionsAndMacrosThatReachThemselvesEnd) {
  const std::string loop = "  int l = F(n);\n  for (int s = 0; s < l; s++) k<<<(n + 255) / 256, 256>>>(x, y, l + s);\n";
  for (const char* before :
       {"int F(int n) { return n <= 1 ? 0 : 1 + F(n / 2); }\n",
        "int G(int n);\nint F(int n) { return G(n) + G(n - 1); }\nint G(int n) { return F(n) + F(n - 1); }\n",
        "#define F(a) F(a)\n", "#define F(a) G(a) + G(a)\n#define G(a) F(a) * F(a)\n"}) {
    Read(TwiceProgram(before, loop));
    Read(TwiceProgram(before, "  k<<<F(n), 256>>>(x, y, F(n));\n"));
    Read(TwiceProgram(std::string(before) + "float* make(int m) { float* p; cudaMalloc(&p, F(m) * 4); return p; }\n",
                      "  float* z = make(n);\n  k<<<4, 256>>>(x, z, n);\n"));
  }
  // Not one that calls another twice.
  const std::string fine = "int G(int n) { return n + 1; }\nint F(int n) { return G(n) + G(n); }\n";
  EXPECT_THAT(Kernel(Read(TwiceProgram(fine, "  k<<<F(n), 256>>>(x, y, n);\n"))), HasSubstr("grid(n + 1 + (n + 1))"));
  // Ten of each level.
  std::string many;
  for (int i = 11; i > 0; --i) {
    const std::string next = i == 11 ? "a" : "A" + std::to_string(i + 1) + "(a)";
    many += "int " + (i == 1 ? std::string("F") : "A" + std::to_string(i)) + "(int a) { return " + next;
    for (int j = 0; j < 9; ++j) many += " + " + next;
    many += "; }\n";
  }
  Read(TwiceProgram(many, "  k<<<F(n), 256>>>(x, y, n);\n"));
}

TEST(ImportLimits, FunctionsThatPassAStructRoundEnd) {
  const std::string program = R"(
struct S { float* x; float* y; int n; };
__global__ void kk(S s) { int i = threadIdx.x; if (i < s.n) s.y[i] = s.x[i]; }
void g(S s, int d);
void f(S s, int d) { g(s, d - 1); kk<<<4, 256>>>(s); }
void g(S s, int d) { if (d) f(s, d); }
int main() { f(S{}, 3); }
)";
  Read(program, {"kk"});
  const std::string two = "__global__ void other(float* p) { p[threadIdx.x] = 1; }\n";
  EXPECT_THAT(Read(two + program).failure, HasSubstr("calls itself"));
}

nlohmann::json CountedOf(const std::string& program, const std::string& name = "y") {
  const nlohmann::json argument = ArgumentOf(TaskOf(Read(program)), name);
  return argument.contains("counted") ? argument.at("counted") : nlohmann::json("all");
}

TEST(ImportLimits, AFewElementsThatTheHostLooksAtAreNotAll) {
  const std::string launch = "  k<<<(n + 255) / 256, 256>>>(x, y, n);\n";
  const auto copied = [&](const std::string& bytes, const std::string& more = "") {
    return CountedOf(TwiceProgram("", launch + "  cudaMemcpy(h, y, " + bytes + ", cudaMemcpyDeviceToHost);\n" + more));
  };
  EXPECT_EQ(copied("n / 2 * sizeof(float)"), "n / 2");
  for (const char* bytes : {"10 * sizeof(float)", "sizeof(float)", "500 * sizeof(float)", "n / 16 * sizeof(float)", "0"})
    EXPECT_EQ(copied(bytes), "all") << bytes;
  for (const char* more : {"  float s = thrust::reduce(thrust::device_pointer_cast(y), thrust::device_pointer_cast(y) + n);\n",
                           "  cublasSasum(handle, n, y, 1, h);\n",
                           "  float* z = y;\n  cudaMemcpy(h, z, n * sizeof(float), cudaMemcpyDeviceToHost);\n",
                           "  thrust::device_ptr<float> p(y);\n", "  float* z;\n  z = y + 1;\n", "  Table t{y, n};\n",
                           "  cudaMemcpy2D(h, 4, y, 4, 4, n, cudaMemcpyDeviceToHost);\n", "  k<<<4, 256>>>(y, z, n);\n"})
    EXPECT_EQ(copied("n / 2 * sizeof(float)", more), "all") << more;
  for (const char* more : {"  cudaFree(y);\n", "  if (y) cudaFree(y);\n", "  CHECK(cudaFree(y));\n",
                           "  k<<<(n + 255) / 256, 256>>>(x, y, n);\n", "  cudaMemset(y, 0, n * sizeof(float));\n"})
    EXPECT_EQ(copied("n / 2 * sizeof(float)", more), "n / 2") << more;
}

TEST(ImportLimits, WhatIsNotCopiedMayBeUsedByAnotherName) {
  const auto program = [](const std::string& more) {
    return R"(
__global__ void step(float* u, float* diff, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = u[i] * 0.5f; u[i] = v; atomicAdd(diff, v); }
}
struct Sim {
  float* u; float* d; int n;
  Sim(int m) : n(m) { cudaMalloc(&u, n * sizeof(float)); cudaMalloc(&d, sizeof(float)); }
  float run() {
    float h;
    cudaMemset(d, 0, 4);
    step<<<(n + 255) / 256, 256>>>(u, d, n);
    cudaMemcpy(&h, d, sizeof(float), cudaMemcpyDeviceToHost);
    return h;
  }
)" + more + "};\nint main() { Sim s(1 << 20); s.run(); }\n";
  };
  EXPECT_EQ(CountedOf(program(""), "u"), 0);
  for (const char* more :
       {"  void get(float* out) { float* src = u; cudaMemcpy(out, src, n * sizeof(float), cudaMemcpyDeviceToHost); }\n",
        "  float* data() { return u; }\n", "  float* data() { return this->u; }\n",
        "  void get(float* out) { CHECK(show(static_cast<void*>(u))); }\n"})
    EXPECT_EQ(CountedOf(program(more), "u"), "all") << more;
}

TEST(ImportLimits, LoopsThatGetNowhereAreRefused) {
  for (const char* head :
       {"for (int s = n; s > 0; s /= 0)", "for (int s = 0; s < n; s *= 2)", "for (int s = 1; s < n; s *= -3)",
        "for (int s = 1; s < n; s <<= 70)", "for (int s = 0; s < n; s += 0)", "for (int s = 1; s < n; s *= 1)"})
    EXPECT_THAT(Read(TwiceProgram("", "  " + std::string(head) + " k<<<(n + 255) / 256, 256>>>(x, y, s);\n")).failure,
                HasSubstr("how s changes in the loop around the launches is not understood"))
        << head;
}

TEST(ImportLimits, JumpsInLoopsAreNotLost) {
  const auto loop = [](const std::string& body) {
    return Read(TwiceProgram("", "  for (int s = 1; s < n; s += 3) {\n" + body + "  }\n"));
  };
  const std::string launch = "k<<<(n + 255) / 256, 256>>>(x, y, s);\n";
  for (const std::string& body :
       {"if (s == 64) continue;\n" + launch, launch + "if (s > 100) break;\n", "if (s > 9) { return 0; }\n" + launch,
        "if (s % 2 == 0) " + launch, "if (done) continue;\n" + launch})
    EXPECT_THAT(loop(body).failure, HasSubstr("in the loop around the launches is not understood")) << body;
  for (const std::string& body : {launch + "if (cudaGetLastError() != cudaSuccess) return 1;\n",
                                  launch + "for (int j = 0; j < 3; ++j) { if (j > s) break; }\n",
                                  launch + "switch (s) { case 1: f(); break; }\n", launch + "if (residual < 1e-6f) break;\n"})
    EXPECT_EQ(loop(body).failure, "") << body;
  EXPECT_THAT(loop(launch + "if (residual < 1e-6f) break;\n").notes, Contains(HasSubstr("the loop runs to its end")));
}

TEST(ImportLimits, ALaunchThatWritesTheBorderIsNoVersion) {
  const auto program = [](const std::string& grid) {
    return std::string(kTwice) + R"(
__global__ void edge(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
int main() {
  int n = 1 << 20;
  float *x, *y, *h = new float[n];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, y, n);
  edge<<<)" +
           grid + R"(, 256>>>(x, y, n);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  };
  const auto taken = [&](const std::string& grid) {
    const ImportReply reply = Read(program(grid));
    return reply.failure.empty() ? Kernel(reply) : reply.failure;
  };
  EXPECT_THAT(taken("n / 256"), Not(HasSubstr("evo:launch edge")));
  const ImportReply border = Read(program("1"));
  EXPECT_TRUE(!border.failure.empty() || Kernel(border).find("evo:launch edge") != std::string::npos ||
              !testing::Value(border.notes, Contains(HasSubstr("versions of it"))))
      << border.failure;
}

// Each argument of a task has a name of its own: a pointer without one, and a size that is called like a buffer.
TEST(ImportLimits, NamesOfArgumentsAreTheirOwn) {
  const ImportReply unnamed = Read(R"(
__global__ void add(const float* x, const float*, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
)");
  EXPECT_THAT(Kernel(unnamed), HasSubstr("evo:launch add(x, unnamed, y, n)"));
  const ImportReply same = Read(R"(
struct Shape { int h, w; };
__global__ void add(const float* x, const float* w, float* y, Shape shape) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < shape.h * shape.w) y[i] = x[i] + w[i];
}
)");
  EXPECT_THAT(Kernel(same), HasSubstr("evo:launch add(x, w, y, {h, w_})"));
}

// The block decides how many bins there are, and its size comes with the program's arguments.
TEST(ImportLimits, AnUnknownBlockThatDecidesAShapeIsANumber) {
  const ImportReply reply = Read(R"(
__global__ void count(const int* data, int* hist, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&hist[data[i] % blockDim.x], 1);
}
int main(int argc, char** argv) {
  int n = 1 << 20, threadsPerBlock = atoi(argv[1]);
  int *data, *hist;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&hist, threadsPerBlock * sizeof(int));
  count<<<(n + threadsPerBlock - 1) / threadsPerBlock, threadsPerBlock>>>(data, hist, n);
}
)");
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("grid(ceil_div(n, 256)) block(256)"), Not(HasSubstr("evo:param"))));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "hist").at("shape"), nlohmann::json({256}));
}

// Two kernels that write one buffer, which the host does not copy, leave a result, and are not each other's workspace.
TEST(ImportLimits, WhatAllKernelsWriteIsAResult) {
  const nlohmann::json task = TaskOf(Read(R"(
__global__ void a(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void b(const float* x, const float* z, float* y) { y[threadIdx.x] = x[threadIdx.x] + z[threadIdx.x]; }
int main() {
  float *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  a<<<1, 256>>>(x, y);
  b<<<1, 256>>>(x, y, y);
}
)"));
  EXPECT_EQ(ArgumentOf(task, "y").at("role"), "out");
}

// Sums of blocks that the last block adds up are in a workspace, and how many blocks there are does not grow with the elements.
TEST(ImportLimits, WhatOneKernelWritesAndReadsIsAWorkspace) {
  const std::string program = R"(
__device__ unsigned done;
__global__ void sum(const float* x, float* partial, float* y, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  partial[blockIdx.x] = s;
  __threadfence();
  if (atomicAdd(&done, 1) == gridDim.x - 1) {
    for (int b = 0; b < gridDim.x; b++) s += partial[b];
    *y = s;
  }
}
void run(const float* x, float* y, int n, int blocks) {
  float* partial;
  cudaMalloc(&partial, blocks * sizeof(float));
  sum<<<blocks, 256>>>(x, partial, y, n);
}
int main() {
  int n = 1 << 20;
  float *x, *y, h;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  run(x, y, n, 100);
  cudaMemcpy(&h, y, sizeof(float), cudaMemcpyDeviceToHost);
}
)";
  const ImportReply reply = Read(program);
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace partial f32 ["));
  // What the host sets is as it was before each launch.
  std::string set = program;
  set.replace(set.find("  sum<<<"), 2, "  cudaMemset(partial, 0, blocks * sizeof(float));\n  ");
  EXPECT_THAT(Kernel(Read(set)), HasSubstr("// evo:memset partial 0\n"));
}

// Tickets that another kernel sets are a workspace, if the host copies something else alone.
TEST(ImportLimits, WhatAKernelSetsAndBlocksCountWithIsAWorkspace) {
  const auto program = [](const std::string& copied) {
    return R"(
__global__ void start(unsigned* ticket) { if (threadIdx.x == 0) *ticket = 0; }
__global__ void twice(const float* x, float* y, unsigned* ticket) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  y[tile * 256 + threadIdx.x] = 2 * x[tile * 256 + threadIdx.x];
}
int main() {
  float *x, *y, h[1024];
  unsigned *ticket, taken;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMalloc(&ticket, 4);
  start<<<1, 32>>>(ticket);
  twice<<<4, 256>>>(x, y, ticket);
  cudaMemcpy(h, y, 4096, cudaMemcpyDeviceToHost);
)" + copied +
           "}\n";
  };
  const ImportReply reply = Read(program(""));
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace ticket u32 [1]\n"));
  const nlohmann::json task = TaskOf(Read(program("  cudaMemcpy(&taken, ticket, 4, cudaMemcpyDeviceToHost);\n")));
  EXPECT_EQ(ArgumentOf(task, "ticket").at("role"), "out");
}

// Of what a launcher gets from its caller, what one kernel tells the next one is most likely nothing else; the user is asked.
TEST(ImportLimits, WhatACallerPassesForAnotherKernelIsAWorkspace) {
  const std::string program = R"(
__global__ void square(const float* x, float* squares, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) squares[i] = x[i] * x[i];
}
__global__ void add_neighbour(const float* squares, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = squares[i] + squares[(i + 1) % n];
}
void run(const float* x, float* squares, float* y, int n) {
  square<<<(n + 255) / 256, 256>>>(x, squares, n);
  add_neighbour<<<(n + 255) / 256, 256>>>(squares, y, n);
)";
  const ImportReply reply = Read(program + "}\n");
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace squares f32 [n]\n"));
  EXPECT_TRUE(QuestionOf(reply, "squares.role").unknown);
  const ImportReply read = Read(program + "  float h[4];\n  cudaMemcpy(h, squares, 16, cudaMemcpyDeviceToHost);\n}\n");
  EXPECT_EQ(ArgumentOf(TaskOf(read), "squares").at("role"), "out");
}

}  // namespace
}  // namespace evo
