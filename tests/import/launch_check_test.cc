#include "import/launch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/syntax/parsing.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

constexpr char kTask[] = R"({
  "name": "axpy", "summary": "s", "sizes": ["N", "M"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["N"], "generators": ["normal"]},
    {"name": "H", "role": "in", "dtype": "f16", "shape": ["N"], "generators": ["normal"]},
    {"name": "I", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["index<N"]},
    {"name": "B", "role": "in", "dtype": "u8", "shape": ["N"], "generators": ["index<2"]},
    {"name": "Y", "role": "inout", "dtype": "f32", "shape": ["N"], "generators": ["normal"], "check": {"l2": 1e-6, "max": 1e-5}},
    {"name": "a", "role": "scalar", "dtype": "f32", "value": 1.5},
    {"name": "big", "role": "scalar", "dtype": "i64", "value": "N"},
    {"name": "flag", "role": "scalar", "dtype": "bool", "value": 1}
  ],
  "cases": {
    "small": {"name": "s", "sizes": {"N": 1000, "M": 2}},
    "search": [{"name": "a", "sizes": {"N": 1000, "M": 2}}], "search_cpu": [{"name": "b", "sizes": {"N": 1000, "M": 2}}],
    "held_out": [{"name": "c", "sizes": {"N": 1001, "M": 2}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 1001, "M": 2}}]
  },
  "baseline": "k", "reference": "reference.py", "bytes": "N", "operations": "N"
})";

const Task& TheTask() {
  static const Task task = ParseTask(kTask, "def reference(X):\n  return X\n", "axpy");
  return task;
}

// The objection to a template: its directives, then the code. Empty if there is none.
std::string Objection(const std::string& directives, const std::string& code) {
  const KernelTemplate one = ParseTemplate("k", directives + "\n" + code);
  auto objection = CheckNames(one, TheTask());
  if (!objection) objection = CheckLaunches(one, TheTask(), ReadSignatures(one.text, SharedParser()));
  return objection ? std::to_string(objection->line) + ": " + objection->what : "";
}

std::string Launch(const std::string& arguments, const std::string& parameters, const std::string& before = "") {
  return Objection("// evo:launch k(" + arguments + ") grid(N) block(32)", before + "__global__ void k(" + parameters + ") {}\n");
}

TEST(LaunchCheck, WhatFitsIsTaken) {
  EXPECT_EQ(Launch("X, Y, a, N", "const float* __restrict__ x, float *y, float a, int n"), "");
  EXPECT_EQ(Launch("X, N", "const float x[], const unsigned n"), "");
  EXPECT_EQ(Launch("X, i64(N), big", "float4* x, long long n, size_t m"), "");
  EXPECT_EQ(
      Launch("H, H, H, H", "const __half* a, const half2* b, const uint4* c, const unsigned* d", "#include <cuda_fp16.h>\n"), "");
  EXPECT_EQ(Launch("H, H", "const float4* a, const unsigned short* d"), "");
  EXPECT_EQ(Launch("I, I, B, B, B", "const unsigned* a, const int2* i, const bool* b, const int* packed, const void* c"), "");
  EXPECT_EQ(Launch("flag, bool(N), f64(a), f32(N)", "bool f, bool g, double a, float b"), "");
  EXPECT_EQ(Launch("X, N", "const real* x, count n", "typedef float real;\nusing count = int;\n"), "");
  EXPECT_EQ(Launch("X, 1", "const real* x, Mode mode", "#define real float\nenum Mode { kA, kB };\n"), "");
  EXPECT_EQ(Launch("X", "const Pixel* x", "struct Pixel { float r, g, b; };\n"), "");
  EXPECT_EQ(Launch("big, i64(N), u64(N)", "int64_t a, std::size_t b, uint64_t c", "#include <cstdint>\n"), "");
}

TEST(LaunchCheck, ANumberOfAnotherType) {
  EXPECT_EQ(Launch("X, N", "const float* x, long long n"),
            "1: evo:launch k: argument 2, 'N', is passed as int, but the kernel takes `long long n`; write i64(N) or declare an "
            "i64 scalar");
  EXPECT_EQ(Launch("N * 2", "float f"),
            "1: evo:launch k: argument 1, 'N * 2', is passed as int, but the kernel takes `float f`; write f32(N * 2) or declare "
            "an f32 scalar");
  EXPECT_EQ(Launch("a", "double d"),
            "1: evo:launch k: argument 1, 'a', is passed as f32, but the kernel takes `double d`; write f64(a), or declare it as "
            "f64 in task.json");
  EXPECT_THAT(Launch("big", "int n"), HasSubstr("is passed as i64, but the kernel takes `int n`; write i32(big)"));
  EXPECT_THAT(Launch("i64(N)", "size_t a, int n"), HasSubstr("1 argument, but the kernel takes 2: (size_t a, int n)"));
  EXPECT_THAT(Launch("N", "bool b"), HasSubstr("write bool(N)"));
  EXPECT_THAT(Launch("i64(N)", "unsigned n"), HasSubstr("is passed as i64, but the kernel takes `unsigned n`; write u32(N)"));
  EXPECT_THAT(Launch("N", "count n", "using count = long;\n"), HasSubstr("the kernel takes `count n`; write i64(N)"));
}

TEST(LaunchCheck, ABufferOfAnotherType) {
  EXPECT_EQ(Launch("X", "const double* x"),
            "1: evo:launch k: argument 1, 'X', is a buffer of f32, but the kernel takes `const double* x`; change one of the two "
            "types");
  EXPECT_THAT(Launch("I", "const long long* i"), HasSubstr("is a buffer of i32, but the kernel takes `const long long* i`"));
  EXPECT_THAT(Launch("H", "const float* h"), HasSubstr("is a buffer of f16"));
  EXPECT_THAT(Launch("I", "const float* h"), HasSubstr("is a buffer of i32"));
  EXPECT_THAT(Launch("X", "int n"), HasSubstr("is a buffer of f32, but the kernel takes `int n`"));
  EXPECT_THAT(Launch("N", "float* x"), HasSubstr("is a number, but the kernel takes `float* x`; name a buffer"));
  EXPECT_THAT(Objection("// evo:workspace w f64 [N]\n// evo:launch k(w) grid(1) block(1)", "__global__ void k(float* w) {}\n"),
              HasSubstr("2: evo:launch k: argument 1, 'w', is a buffer of f64"));
}

TEST(LaunchCheck, ThereIsNoSuchKernel) {
  EXPECT_EQ(
      Objection("// evo:launch kernle(X) grid(1) block(1)",
                "namespace lib {\n__global__ void b(float* x) {}\n}\n__device__ void c() {}\n__global__ void a(float* x) {}\n"),
      "1: evo:launch kernle: there is no kernel of this name; there are lib::b, a");
  EXPECT_EQ(Objection("// evo:launch lib::b(X) grid(1) block(1)", "namespace lib {\n__global__ void b(float* x) {}\n}\n"), "");
  EXPECT_EQ(
      Objection("// evo:launch b(X) grid(1) block(1)", "namespace lib {\n__global__ void b(float* x) {}\n}\nusing lib::b;\n"),
      "");
  EXPECT_EQ(Objection("// evo:launch k(X) grid(1) block(1)",
                      "#define KERNEL(n) __global__ void n##_(float* x) {}\nKERNEL(k)\n__global__ void q() {}\n"),
            "");
}

TEST(LaunchCheck, Templates) {
  const std::string code = "template <typename T, int kN> __global__ void k(const T* x, T a, int n) {}\n";
  EXPECT_EQ(Objection("// evo:launch k<float, 4>(X, a, N) grid(1) block(1)", code), "");
  EXPECT_THAT(Objection("// evo:launch k<double, 4>(X, a, N) grid(1) block(1)", code),
              HasSubstr("is a buffer of f32, but the kernel takes `const T* x`"));
  EXPECT_EQ(Objection("// evo:launch k<real, 4>(X, a, N) grid(1) block(1)", "using real = float;\n" + code), "");
  EXPECT_THAT(Objection("// evo:launch k<float, 4>(X, N) grid(1) block(1)", code),
              HasSubstr("2 arguments, but the kernel takes 3"));
  EXPECT_EQ(Objection("// evo:launch k<Traits>(X) grid(1) block(1)",
                      "struct Traits { using T = float; };\ntemplate <class A> __global__ void k(const typename A::T* x) {}\n"),
            "");
}

TEST(LaunchCheck, AnyOfTheOverloadsMayFit) {
  const std::string code = "__global__ void k(double* x) {}\n__global__ void k(float* x) {}\n";
  EXPECT_EQ(Objection("// evo:launch k(X) grid(1) block(1)", code), "");
  EXPECT_THAT(Objection("// evo:launch k(I) grid(1) block(1)", code), HasSubstr("is a buffer of i32"));
}

TEST(LaunchCheck, Structs) {
  const std::string code = "struct Inner { int n; long long m; };\nstruct S { const float* x; Inner inner; float a; };\n";
  EXPECT_EQ(Launch("{X, N, i64(N), a}", "S s", code), "");
  EXPECT_THAT(Launch("{X, N, N, a}", "S s", code),
              HasSubstr("field 3, is passed as int, but the kernel takes `S s`, whose field 3 is `long long`; write i64(N)"));
  EXPECT_THAT(Launch("{X, N, i64(N)}", "S s", code), HasSubstr("has 3 fields, but the kernel takes `S s`, which has 4"));
  const std::string in_c = "typedef struct { int n; const float* x; } C;\n";
  EXPECT_EQ(Launch("{N, X}", "C c", in_c), "");
  EXPECT_THAT(Launch("{N, X, N}", "C c", in_c), HasSubstr("has 3 fields, but the kernel takes `C c`, which has 2"));
  EXPECT_THAT(Launch("{X, N}", "int n", code), HasSubstr("is a struct, but the kernel takes `int n`"));
}

TEST(LaunchCheck, NamesThatNothingHas) {
  const std::string code = "__global__ void k(float* x, int n) {}\n";
  EXPECT_EQ(Objection("// evo:launch k(Q, N) grid(1) block(1)", code),
            "1: evo:launch k: argument 1, 'Q', names nothing; there are B, H, I, X, Y, M, N, a, big, flag");
  EXPECT_EQ(Objection("// evo:launch k(X, N + Q) grid(1) block(1)", code),
            "1: evo:launch k: argument 2: 'Q' is not known; an expression knows M, N, a, big, flag");
  EXPECT_THAT(Objection("// evo:launch k(X, N) grid(ceil_div(NN, 3)) block(1)", code),
              HasSubstr("1: evo:launch k: grid: 'NN' is not known"));
  EXPECT_THAT(Objection("// evo:launch k(X, N) grid(1) block(1) shared(X)", code),
              HasSubstr("shared: 'X' is a buffer, not a number"));
  EXPECT_THAT(Objection("// evo:memset Q 0\n// evo:launch k(X, N) grid(1) block(1)", code),
              HasSubstr("1: evo:memset: there is no buffer 'Q'"));
  EXPECT_EQ(Objection("// evo:repeat S < M\n// evo:launch k(X, S) grid(S + 1) block(1)\n// evo:end", code), "");
  EXPECT_THAT(
      Objection("// evo:repeat S < M\n// evo:launch k(X, S) grid(1) block(1)\n// evo:end\n// evo:launch k(X, S) grid(1) block(1)",
                code),
      HasSubstr("4: evo:launch k: argument 2, 'S', names nothing"));
}

TEST(LaunchCheck, NothingIsSaidOfWhatTheParserDoesNotUnderstand) {
  EXPECT_EQ(Launch("X, N", "const Missing* x, long long n"), "");
  EXPECT_EQ(Launch("N", "Missing n"), "");
}

}  // namespace
}  // namespace evo
