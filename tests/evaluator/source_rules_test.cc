#include "evaluator/compiler/rules/source_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "kernel_templates/text_file.h"
#include "platform/installation.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

constexpr char kKernel[] = "__global__ void k(float* y) { y[0] = 1; }\n";

std::string Why(const std::string& source) {
  const auto objection = CheckSource(source);
  return objection ? ToString(*objection) : "";
}

TEST(SourceRules, AnHonestKernelPasses) {
  EXPECT_EQ(Why(R"(// evo:param BLOCK 32 64
// evo:launch k(x) grid(ceil_div(N, BLOCK)) \
//   block(BLOCK)
#include <cuda_fp16.h>
#include <cooperative_groups/reduce.h>
#pragma nv_hdrstop
#ifndef BLOCK
#define BLOCK 32   // it's a comment
#endif
#define TWICE BLOCK > 32
#if TWICE && !defined(BLOCK) || BLOCK == 0x20
#define SHOW(n) "%" #n
#else
#define SHOW(n) #n
#endif
#define EACH(...) f(__VA_ARGS__)
constexpr int kMany = 1'000'000;
[[nodiscard]] __host__ __device__ inline float f(float x) { return __expf(x) + .5f + 1e-5f; }
__global__ void __launch_bounds__(BLOCK) k(float* __restrict__ x) {
  alignas(16) __shared__ float tile[BLOCK];
  constexpr int kUnroll = 4;
  __builtin_assume(blockDim.x == BLOCK);
  #pragma unroll kUnroll
  for (int i = 0; i < 4; ++i) tile[i] = x[i] > 'a' ? f(x[i]) : EACH(x[i]);
#pragma unroll (2 * kUnroll)
  for (int i = 0; i < 4; ++i) x[i] = [&](int j) { return tile[j]; }(i);
  asm volatile("{ .reg .pred p; }" ::: "memory");
}
)"),
            "");
}

TEST(SourceRules, ConditionsNameOnlyMacrosOfTheSource) {
  EXPECT_THAT(Why("#define A 1\n#ifdef __CUDACC_RTC__\n#endif\n"), HasSubstr("line 2: `#ifdef` on `__CUDACC_RTC__`"));
  EXPECT_THAT(Why("#if CUDART_VERSION > 3\n#endif\n"), HasSubstr("CUDART_VERSION"));
  EXPECT_THAT(Why("#define A 1\n#if A\n#elif defined(NDEBUG)\n#endif\n"), HasSubstr("line 3"));
  EXPECT_THAT(Why("#if __has_include(<x>)\n#endif\n"), HasSubstr("__has_include"));
  EXPECT_THAT(Why("#if 'a' > 3\n#endif\n"), HasSubstr("'a'"));
  EXPECT_THAT(Why("#ifndef __CUDACC__\n#define __CUDACC__\n#endif\n"), HasSubstr("__CUDACC__"));
}

// NVRTC has a macro of this name, the others a function.
TEST(SourceRules, PowIsNoMacroOfTheSource) {
  EXPECT_THAT(Why("#ifndef pow\n#define pow 1\n#endif\n"), HasSubstr("line 1: `#ifndef` of `pow`"));
  EXPECT_THAT(Why("#define A 1\n#define pow(a, b) a\n"), HasSubstr("line 2: `#define` of `pow`"));
  EXPECT_THAT(Why("#undef pow\n"), HasSubstr("line 1: `#undef` of `pow`"));
  EXPECT_THAT(Why("#define pow 1\n#if 1 && defined(pow)\n#endif\n"), HasSubstr("`pow`"));
  EXPECT_EQ(Why("#define SQUARE(x) pow(x, 2)\n__device__ float f(float x) { return SQUARE(x); }\n"), "");
}

TEST(SourceRules, NamesOfTheCompilersAreRefusedEverywhere) {
  for (const char* name : {"__CUDA_ARCH__",
                           "__CUDACC__",
                           "__GNUC__",
                           "__FILE__",
                           "__LINE__",
                           "__COUNTER__",
                           "__TIME__",
                           "__cplusplus",
                           "__builtin_constant_p",
                           "__builtin_ia32_rdtsc",
                           "_GLIBCXX_JOIN",
                           "__linux__",
                           "__x86_64__",
                           "__func__",
                           "thread_local",
                           "__thread",
                           "__attribute__",
                           "__declspec",
                           "_Pragma",
                           "__asm__",
                           "__host__",
                           "__managed__",
                           "evo_cpu_launch",
                           "pthread_create",
                           "system",
                           "fopen",
                           "syscall",
                           "__annotate__"}) {
    EXPECT_THAT(Why(std::string(kKernel) + "int x = " + name + ";\n"), HasSubstr(std::string("line 2: `") + name)) << name;
    EXPECT_NE(Why(std::string("#define MINE ") + name + "\n"), "") << name;
    EXPECT_EQ(Why(std::string("// ") + name + "\nconst char* s = \"" + name + "\"; /* " + name + " */\n"), "") << name;
  }
}

TEST(SourceRules, ALineThatIsContinuedHidesNothing) {
  EXPECT_THAT(Why("int a;\nint x = __CUDA_\\\nARCH__;\n"), HasSubstr("line 2: `__CUDA_ARCH__`"));
  EXPECT_THAT(Why("#if\\\ndef __CUDACC__\n#endif\n"), HasSubstr("`#ifdef` on"));
  EXPECT_THAT(Why("// evo \\ \nint x;\n"), HasSubstr("line 1: a backslash with blanks"));
  EXPECT_THAT(Why("/* a */ # /* b */ ifdef UNKNOWN\n#endif\n"), HasSubstr("`#ifdef` on `UNKNOWN`"));
  EXPECT_EQ(Why("// evo \\\n int x = __CUDA_ARCH__;\n"), "") << "still a comment";
}

TEST(SourceRules, PastedNamesAreSeen) {
  const std::string join = "#define JOIN(a, b) a##b\n";
  EXPECT_THAT(Why(join + "JOIN(thread_, local) int x;\n"), HasSubstr("`thread_local`"));
  EXPECT_THAT(Why("#define T(a) a##_local\nT(thread) int x;\n"), HasSubstr("`thread_local`"));
  EXPECT_THAT(Why(join + "int x = JOIN(_, JOIN(_, CUDACC__));\n"), HasSubstr("`__...`"));
  EXPECT_THAT(Why(join + "int x = JOIN(__buil, tin_popcount)(3);\n"), HasSubstr("`__builtin_`"));
  EXPECT_THAT(Why(join + "JOIN(__attri, bute__)((optimize(3)))\n"), HasSubstr("`__attribute__`"));
  EXPECT_THAT(Why(join + "JOIN(_Pra, gma)(\"GCC optimize 3\")\n"), HasSubstr("`_Pra`"));
  EXPECT_THAT(Why("#define A thread_\n#define J(a, b) a##b\n#define JOIN(a, b) J(a, b)\nJOIN(A, local) int x;\n"),
              HasSubstr("thread_local"));
  EXPECT_THAT(Why(join + "#define CALL(f, a, b) f(a, b)\nCALL(JOIN, thread_, local) int x;\n"), HasSubstr("thread_local"));
  EXPECT_THAT(Why(join + "JOIN(a, JOIN(s, m))(\"\");\n"), HasSubstr("`asm`"));
  EXPECT_THAT(Why(join + "int x = JOIN(sys, tem)(\"true\");\n"), HasSubstr("`system`"));
  EXPECT_EQ(Why(join + "int f(int a, int s, int m) { return JOIN(th, read); }\n"), "");
  EXPECT_EQ(Why(join + "__device__ int JOIN(sum_, of)(int thread, int local) { return thread + local; }\n"), "");
}

TEST(SourceRules, PragmasAttributesAndIncludesAreThoseThatAreKnown) {
  EXPECT_THAT(Why("#pragma GCC optimize(\"O3\")\n"), HasSubstr("line 1: `#pragma GCC optimize"));
  EXPECT_THAT(Why("#pragma unroll 4) _x(\n"), HasSubstr("#pragma unroll"));
  EXPECT_THAT(Why("#pragma omp parallel\n"), HasSubstr("#pragma omp"));
  EXPECT_THAT(Why("[[gnu::optimize(3)]] void f();\n"), HasSubstr("the attribute `gnu`"));
  EXPECT_THAT(Why("[ [using gnu: hot]] void f();\n"), HasSubstr("the attribute `using`"));
  EXPECT_THAT(Why("#define HOT [[gnu::hot]]\n"), HasSubstr("the attribute `gnu`"));
  for (const char* header :
       {"<thread>", "<pthread.h>", "<unistd.h>", "</dev/stdin>", "<cuda/../x>", "\"a.cuh\"", "HEADER", "<evo_cpu/abi.h>"})
    EXPECT_THAT(Why(std::string("#include ") + header + "\n"), HasSubstr("#include")) << header;
  for (const char* word : {"line 3", "error x", "include_next <math.h>", "import <math.h>", "warning it's"})
    EXPECT_THAT(Why(std::string("#") + word + "\n"), HasSubstr("are allowed")) << word;
}

TEST(SourceRules, WhatCompilersReadDifferentlyIsRefused) {
  EXPECT_THAT(Why("%:ifdef __CUDACC__\n"), HasSubstr("`%:`"));
  EXPECT_THAT(Why("// what?\?/\nint x;\n"), HasSubstr("trigraph"));
  EXPECT_THAT(Why("int x = 1 ?\?! 2;\n"), HasSubstr("`?\?`"));
  EXPECT_THAT(Why("const char* s = R\"(\" )\";\n"), HasSubstr("raw string"));
  EXPECT_THAT(Why("int \\u0061b;\n"), HasSubstr("backslash"));
  EXPECT_THAT(Why("int \xc3\xa4;\n"), HasSubstr("not ASCII"));
  EXPECT_THAT(Why("int a;\rint b;\n"), HasSubstr("control character 13"));
  EXPECT_THAT(Why("int a; /* never\n"), HasSubstr("does not end"));
  EXPECT_THAT(Why("char* a = \"never\n"), HasSubstr("does not end"));
  EXPECT_EQ(Why("// \xc3\xa4 (why?\?)\r\nint a;\r\n"), "");
}

TEST(SourceRules, EveryShippedTemplatePasses) {
  int templates = 0;
  for (const auto& folder : FindTasks({ShareDirectory() / "kernel_templates"})) {
    for (const KernelTemplate& kernel : LoadTemplates(folder)) {
      EXPECT_EQ(Why(RenderParameters(kernel.text, {})), "") << folder << kernel.name;
      ++templates;
    }
  }
  EXPECT_GT(templates, 10);
}

}  // namespace
}  // namespace evo
