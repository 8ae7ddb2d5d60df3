#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "core/error.h"
#include "evaluator/timer/machine_check.h"
#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

TEST_F(NvrtcCompilerTest, ImagePtxNamesAndFacts) {
  const CompileResult result = Compile(
      "template <int N> __global__ void tile(float* x) {\n"
      "  __shared__ float s[N];\n  s[threadIdx.x % N] = x[threadIdx.x];\n  __syncthreads();\n  x[threadIdx.x] = s[0];\n}\n"
      "#define BLOCK_M 32\n"
      "__global__ void plain(float* x) { x[0] = 1; }\n"
      "extern \"C\" __global__ void c_name(float* x) { x[0] = 1; }\n",
      {"tile<BLOCK_M>", "tile<2 * BLOCK_M>", "plain", "c_name"});
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
  ASSERT_EQ(result.program.kernels.size(), 4u);
  EXPECT_EQ(result.program.kernels[0].expression, "tile<BLOCK_M>");
  EXPECT_EQ(result.program.kernels[0].symbol, "_Z4tileILi32EEvPf");
  EXPECT_EQ(result.program.kernels[1].symbol, "_Z4tileILi64EEvPf");
  EXPECT_EQ(result.program.kernels[2].symbol, "_Z5plainPf");
  EXPECT_EQ(result.program.kernels[3].symbol, "c_name");
  EXPECT_EQ(result.program.image.substr(1, 3), "ELF");
  EXPECT_NE(result.program.ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_GT(result.facts.registers, 0);
  EXPECT_EQ(result.facts.static_shared_bytes, 256);
  EXPECT_EQ(result.facts.spill_bytes, 0);
  EXPECT_EQ(result.facts.local_bytes, 0);
  EXPECT_TRUE(result.message.empty());
}

TEST_F(NvrtcCompilerTest, SpillsAndStackAreSeen) {
  const CompileResult result = Compile(
      "__global__ void __launch_bounds__(1024, 2) k(float* x, int n) {\n"
      "  float a[64];\n"
      "  for (int i = 0; i < 64; ++i) a[i] = x[i * n];\n"
      "  for (int r = 0; r < n; ++r)\n"
      "    for (int i = 0; i < 64; ++i) a[(i * r) & 63] += a[i] * x[r];\n"
      "  for (int i = 0; i < 64; ++i) x[i] = a[i];\n}\n");
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_GE(result.facts.local_bytes, 256);
  EXPECT_LE(result.facts.registers, 32);
}

TEST_F(NvrtcCompilerTest, EveryArchitecture) {
  for (const char* arch : {"sm_80", "sm_90", "sm_90a"}) {
    const CompileResult result = Compile(
        "#include <cuda_fp16.h>\n#include <mma.h>\n#pragma nv_hdrstop\n__global__ void k(half* x) { x[0] = __hadd(x[1], x[2]); "
        "}\n",
        {"k"}, arch);
    EXPECT_EQ(result.outcome, Outcome::kOk) << arch << ": " << result.message;
  }
  EXPECT_THROW(Compile("__global__ void k() {}\n", {"k"}, "sm_12"), Error);
}

TEST_F(NvrtcCompilerTest, TheKernelsThatMeasureAMachine) {
  for (const char* arch : {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100"}) {
    const CompileResult result = Compile(MachineCheckSource(arch), MachineCheckKernels(arch), arch);
    EXPECT_EQ(result.outcome, Outcome::kOk) << arch << ": " << result.message;
    EXPECT_EQ(result.facts.spill_bytes, 0) << arch;
    EXPECT_EQ(result.program.ptx.find("wgmma") != std::string::npos, std::string_view(arch) == "sm_90a") << arch;
  }
}

TEST_F(NvrtcCompilerTest, StandardHeaders) {
  const CompileResult result = Compile(R"(
#include <cuda_runtime.h>
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <float.h>
#include <limits>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <type_traits>
#include <utility>
#include <cuda_fp16.h>
#pragma nv_hdrstop
template <typename T>
__global__ void k(T* x, std::int64_t n, uint32_t m) {
  static_assert(std::is_same<T, float>::value && std::is_same_v<std::uint8_t, uint8_t>);
  static_assert(sizeof(std::exp(1.0f)) == 4 && sizeof(std::abs(1.0f)) == 4 && sizeof(std::pow(1.0f, 1.0f)) == 4);
  static_assert(sizeof(uint64_t) == 8 && sizeof(std::size_t) == 8 && sizeof(int16_t) == 2 && sizeof(uintptr_t) == sizeof(void*));
  float y = std::min(x[0], x[1]);
  float z = 3;
  std::swap(y, z);
  x[2] = std::max(y, z) + std::numeric_limits<float>::max() + INFINITY + FLT_MAX + DBL_EPSILON + INT_MAX + M_PI + NAN;
  ptrdiff_t d = m;
  x[3] = d + CHAR_BIT + UINT32_MAX + n + std::clamp(y, 0.0f, 1.0f) + std::fmax(y, z);
  std::printf("%d", 3);
  assert(y);
  std::memcpy(x, x + 1, 4);
  x[5] = std::move(y);
}
)",
                                       {"k<float>"});
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.message << "\n" << result.log;
}

// nvcc compiles an exported kernel with the toolkit's header: what was measured must be what it makes.
TEST_F(NvrtcCompilerTest, FunctionsOfCubForABlock) {
  const CompileResult result = Compile(
      "#include <cub/block/block_reduce.cuh>\n__global__ void k(float* x) {\n  using Reduce = cub::BlockReduce<float, 128>;\n"
      "  __shared__ typename Reduce::TempStorage storage;\n  const float sum = Reduce(storage).Sum(x[threadIdx.x]);\n"
      "  if (threadIdx.x == 0) x[0] = sum;\n}\n");
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
}

TEST_F(NvrtcCompilerTest, AsynchronousCopiesAreTheToolkits) {
  const fs::path plain = fs::temp_directory_path() / fmt::format("evo_nvrtc_test_{}_plain", ::getpid());
  fs::remove_all(plain);
  fs::create_directories(plain);
  fs::copy(ShareDirectory() / "nvrtc", plain / "headers", fs::copy_options::recursive);
  ASSERT_TRUE(fs::remove(plain / "headers" / "cuda_pipeline.h"));
  NvrtcCompiler with_the_toolkits({CudaRoot().value(), plain / "headers", plain / "precompiled", {}});
  std::string body;
  for (const int size : {4, 8, 16}) {
    for (int zfill = 0; zfill <= size; ++zfill)
      body += fmt::format("  __pipeline_memcpy_async(s + {0} * i, x + {0} * i, {0}, {1});\n", size, zfill);
    body += fmt::format("  __pipeline_memcpy_async(s + {0} * i, x + {0} * i, {0});\n  __pipeline_commit();\n", size);
  }
  body += "  __pipeline_memcpy_async(s, x, 5);\n";  // traps
  body += "  __pipeline_memcpy_async(s, x, i, i / 2);\n  __pipeline_memcpy_async(s, x, 16, i);\n  __pipeline_wait_prior(i);\n";
  for (int prior = 0; prior < 10; ++prior) body += fmt::format("  __pipeline_wait_prior({});\n", prior);
  for (const char* arch : {"sm_75", "sm_80", "sm_90a"}) {
    const std::string source =
        "#include <cuda_pipeline.h>\n#pragma nv_hdrstop\n__global__ void k(char* x, int i) {\n  __shared__ __align__(16) char "
        "s[1024];\n" +
        body + "  __syncthreads();\n  x[threadIdx.x] = s[threadIdx.x];\n}\n";
    const CompileResult result = Compile(source, {"k"}, arch);
    const CompileResult expected = with_the_toolkits.Compile({source, {"k"}, arch});
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
    ASSERT_EQ(expected.outcome, Outcome::kOk) << expected.message;
    EXPECT_EQ(result.program.ptx, expected.program.ptx) << arch;
    EXPECT_EQ(result.program.ptx.find("cp.async.cg") != std::string::npos, std::string_view(arch) != "sm_75");
  }
  fs::remove_all(plain);
}

// As on a full disk. Limits of file sizes are those of this process, to which NVRTC belongs.
TEST_F(NvrtcCompilerTest, WithoutRoomForPrecompiledHeadersItCompilesWithoutThem) {
  NvrtcPaths paths = Paths();
  paths.precompiled_headers += "_full";
  NvrtcCompiler compiler(paths);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit little{1024, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  const CompileResult result = compiler.Compile(
      {"#include <cuda_fp16.h>\n#pragma nv_hdrstop\n__global__ void k(half* x) { x[0] = x[1]; }\n", {"k"}, "sm_90a"});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.message;
}

TEST_F(NvrtcCompilerTest, OnePrecompiledHeaderForAllParameterValues) {
  const auto source = [](int value) {
    return fmt::format(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#pragma nv_hdrstop\n#define N {}\n__global__ void k(half* x) {{ x[N] = "
        "x[0]; }}\n",
        value);
  };
  const std::size_t before = PrecompiledHeaders();
  for (int value = 1; value <= 4; ++value) {
    const CompileResult result = Compile(source(value));
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
    EXPECT_EQ(PrecompiledHeaders(), before + 1) << value;
  }
  // Without the marker none is made.
  ASSERT_EQ(Compile("#include <cuda_fp16.h>\n#define N 3\n__global__ void k(half* x) { x[N] = x[0]; }\n").outcome, Outcome::kOk);
  EXPECT_EQ(PrecompiledHeaders(), before + 1);
}

TEST_F(NvrtcCompilerTest, TheFirstErrorInOneLine) {
  const CompileResult result =
      Compile("#include <cuda_fp16.h>\n#pragma nv_hdrstop\n__global__ void k(float* x) {\n  x[0] = nope;\n  y = 3;\n}\n");
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_EQ(result.message, "line 4: identifier \"nope\" is undefined");
  EXPECT_NE(result.log.find("x[0] = nope;"), std::string::npos);
  EXPECT_TRUE(result.program.image.empty());
  const CompileResult missing = Compile("#include <nothing.h>\n#pragma nv_hdrstop\n__global__ void k() {}\n");
  EXPECT_EQ(missing.message, "line 1: cannot open source file \"nothing.h\"");
}

TEST_F(NvrtcCompilerTest, TheLogIsCapped) {
  std::string source = "__global__ void k(float* x) {\n";
  for (int i = 0; i < 90; ++i) source += fmt::format("  undeclared_{}_{} = 1;\n", std::string(200, 'u'), i);
  const CompileResult result = Compile(source + "}\n");
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_LE(result.log.size(), 16u * 1024);
}

TEST_F(NvrtcCompilerTest, OnlyKernelsCanBeLaunched) {
  const std::string source =
      "__device__ float variable;\n__device__ float helper(float x) { return x; }\n__global__ void k(float* x) { x[0] = "
      "helper(variable); }\n";
  EXPECT_EQ(Compile(source).outcome, Outcome::kOk);
  for (const char* expression : {"variable", "&variable", "helper", "absent", "k<3>", "", ")(", "3"}) {
    const CompileResult result = Compile(source, {expression});
    EXPECT_EQ(result.outcome, Outcome::kCompileError) << expression;
    EXPECT_FALSE(result.message.empty()) << expression;
  }
}

TEST_F(NvrtcCompilerTest, TooMuchStaticSharedMemoryIsAResourceLimit) {
  const std::string source =
      "__global__ void k(float* x) { __shared__ float s[20000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[5]; }\n";
  for (const char* arch : {"sm_80", "sm_90", "sm_90a"}) {
    const CompileResult result = Compile(source, {"k"}, arch);
    EXPECT_EQ(result.outcome, Outcome::kResourceLimit) << arch;
    EXPECT_NE(result.message.find("shared"), std::string::npos) << result.message;
  }
}

TEST_F(NvrtcCompilerTest, HostFunctionsAreUnsupported) {
  const CompileResult result = Compile("__global__ void k() {}\n\nint main() { return 0; }\n");
  EXPECT_EQ(result.outcome, Outcome::kUnsupported);
  EXPECT_EQ(result.message.substr(0, 23), "line 3: a host function") << result.message;
  EXPECT_EQ(Compile("__host__ void h() {}\n__global__ void k() {}\n").outcome, Outcome::kUnsupported);
}

TEST_F(NvrtcCompilerTest, ClocksLaunchesAndHeapsAreRefused) {
  const CompileResult clock = Compile("__global__ void k(long long* x) { x[0] = clock64(); }\n");
  EXPECT_EQ(clock.outcome, Outcome::kCheating);
  EXPECT_EQ(clock.message, "reads the clock (%clock64)");
  EXPECT_TRUE(clock.program.image.empty());
  EXPECT_EQ(
      Compile("__global__ void k(unsigned* x) { asm volatile(\"mov.u32 %0, %%globaltimer_lo;\" : \"=r\"(x[0])); }\n").outcome,
      Outcome::kCheating);
  EXPECT_EQ(Compile("__global__ void child() {}\n__global__ void k() { child<<<1, 1>>>(); }\n").outcome, Outcome::kCheating);
  EXPECT_EQ(Compile("__global__ void k(void** x) { x[0] = malloc(4); }\n").outcome, Outcome::kUnsupported);
}

TEST_F(NvrtcCompilerTest, ABadCandidateDoesNotSpoilTheNext) {
  for (const char* bad : {"", "}", "__global__ void k(", "#error stop\n", "#include __FILE__\n",
                          "__global__ void k() { asm(\"malformed;\"); }\n"}) {
    const CompileResult result = Compile(bad);
    EXPECT_EQ(result.outcome, Outcome::kCompileError) << bad;
    EXPECT_FALSE(result.message.empty());
    EXPECT_EQ(result.message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(Compile("__global__ void k() {}\n").outcome, Outcome::kOk);
}

TEST(NvrtcCompilerPaths, WhatIsMissingIsSaid) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("evo_nvrtc_paths_{}", ::getpid());
  EXPECT_THROW(NvrtcCompiler({CudaRoot().value(), "/nowhere", folder, {}}), Error);
  EXPECT_THROW(NvrtcCompiler({"/nowhere", ShareDirectory() / "nvrtc", folder, {}}), Error);
  EXPECT_THROW(SharedLibrary("a library", {"/nowhere"}, {"libevo_absent.so.1"}, "install it"), Error);
  try {
    SharedLibrary("a library", {"/nowhere"}, {"libevo_absent.so.1"}, "install it");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("install it"), std::string::npos);
  }
}

}  // namespace
}  // namespace evo