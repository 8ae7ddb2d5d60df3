#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(SourceMutators, UnrollPragmaIsAddedChangedAndRemoved) {
  const auto put = Bodies("unroll_pragma", "  for (int i = 0; i < n; ++i) out[i] = 0;\n");
  EXPECT_THAT(put, SizeIs(6));
  EXPECT_THAT(put, testing::Contains("  #pragma unroll 4\n  for (int i = 0; i < n; ++i) out[i] = 0;\n"));
  const auto changed = Bodies("unroll_pragma", "#pragma unroll 4\n  for (int i = 0; i < n; ++i) out[i] = 0;\n");
  EXPECT_THAT(changed, SizeIs(6));
  EXPECT_THAT(changed, testing::Contains("#pragma unroll\n  for (int i = 0; i < n; ++i) out[i] = 0;\n"));
  EXPECT_THAT(changed, testing::Contains("  for (int i = 0; i < n; ++i) out[i] = 0;\n"));
  EXPECT_TRUE(AnyContains(Bodies("unroll_pragma", "  if (n > 2) for (int i = 0; i < n; ++i) out[i] = 0;\n"),
                          "  if (n > 2)\n    #pragma unroll 2\n    for ("));
  EXPECT_THAT(Bodies("unroll_pragma", "  while (n > 0) out[--n] = 0;\n"), IsEmpty());
}

TEST(SourceMutators, LaunchBoundsFollowTheLaunchLine) {
  const std::string text =
      "// evo:param W 1 2 4\n// evo:launch k(A) grid(1) block(32 * W, 2)\n#ifndef W\n#define W 2\n#endif\n__global__ void "
      "k(float* a) { a[0] = 1; }\n";
  const auto children = ChildrenOf("launch_bounds", text);
  EXPECT_THAT(children, SizeIs(5));
  EXPECT_TRUE(AnyContains(children, "__global__ __launch_bounds__((32 * W) * (2)) void k(") ||
              AnyContains(children, "__global__ __launch_bounds__((32 * W) * 2) void k("));
  EXPECT_TRUE(AnyContains(children, ", 3) void k("));
  // The block depends on a size of the case: no bound can be computed, but an existing one can be removed.
  EXPECT_THAT(ChildrenOf("launch_bounds", "// evo:launch k(A) grid(1) block(S)\n__global__ void k(float* a) { a[0] = 1; }\n"),
              IsEmpty());
  const auto removed = ChildrenOf(
      "launch_bounds", "// evo:launch k(A) grid(1) block(S)\n__global__ void __launch_bounds__(64) k(float* a) { a[0] = 1; }\n");
  ASSERT_THAT(removed, SizeIs(1));
  EXPECT_EQ(removed[0].find("__launch_bounds__"), std::string::npos);
}

TEST(SourceMutators, ReadOnlyLoadTakesOnlyMemoryThatIsNotWritten) {
  const auto children = Bodies("read_only_load", "  const float* x = in + n;\n  out[0] = in[n] + x[1] + out[2];\n");
  EXPECT_TRUE(AnyContains(children, "__ldg(&in[n]) + x[1] + out[2]"));
  EXPECT_TRUE(AnyContains(children, "in[n] + __ldcg(&x[1]) + out[2]"));
  EXPECT_FALSE(AnyContains(children, "(&out"));
  EXPECT_TRUE(AnyContains(Bodies("read_only_load", "  out[0] = *(in + 2);\n"), "__ldg(in + 2)"));
  EXPECT_TRUE(
      AnyContains(Bodies("read_only_load", "  float4 v;\n  v = *reinterpret_cast<const float4*>(in + n);\n  out[0] = v.x;\n"),
                  "v = __ldg(reinterpret_cast<const float4*>(in + n));"));
  EXPECT_THAT(Bodies("read_only_load", "  float4 v;\n  *reinterpret_cast<float4*>(out) = v;\n"), IsEmpty());
  EXPECT_THAT(Bodies("read_only_load", "  out[0] = __ldg(&in[0]);\n"),
              testing::ElementsAre("  out[0] = __ldcg(&in[0]);\n", "  out[0] = __ldcs(&in[0]);\n"));
  EXPECT_THAT(Bodies("read_only_load", "  __shared__ float tile[32];\n  const float* t = tile;\n  out[0] = t[n];\n"), IsEmpty());
  // A buffer that is passed twice may be written under its other name.
  EXPECT_THAT(
      ChildrenOf("read_only_load",
                 "// evo:launch k(A, A) grid(1) block(1)\n__global__ void k(const float* a, float* b) { b[0] = a[1]; }\n"),
      IsEmpty());
}

// The compiler hoists __ldg of a bfloat16 out of the condition in its loop (nvcc 13.0, memcheck on an H200).
TEST(SourceMutators, ReadOnlyLoadLeavesElementsOf16BitsAlone) {
  for (const char* type : {"half", "half2", "__nv_bfloat16", "__nv_bfloat162"}) {
    const auto with = [&](const char* element) {
      return ChildrenOf("read_only_load",
                        fmt::format("// evo:launch k(A, B) grid(1) block(128)\n#include <cuda_fp16.h>\n#include "
                                    "<cuda_bf16.h>\n__global__ void k(const {0}* a, {0}* b) {{ if "
                                    "(threadIdx.x < 9) b[threadIdx.x] = a[threadIdx.x]; }}\n",
                                    element));
    };
    EXPECT_THAT(with(type), IsEmpty()) << type;
    EXPECT_THAT(with("float"), testing::SizeIs(3));
  }
}

TEST(SourceMutators, ReadOnlyLoadFollowsDeviceFunctions) {
  const std::string function = "__device__ float First(const float* p) { return p[0]; }\n";
  EXPECT_TRUE(
      AnyContains(ChildrenOf("read_only_load", function + PlainKernel("  out[0] = First(in);\n")), "return __ldg(&p[0]);"));
  EXPECT_THAT(ChildrenOf("read_only_load", function + PlainKernel("  out[0] = First(in) + First(out);\n")), IsEmpty());
}

TEST(SourceMutators, RestrictQualifierIsAddedWhereNothingAliases) {
  const auto children = ChildrenOf("restrict_qualifier", PlainKernel("  out[0] = in[0];\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_TRUE(AnyContains(children, "(const float* __restrict__ in, float* __restrict__ out, int n"));
  EXPECT_TRUE(
      AnyContains(ChildrenOf("restrict_qualifier", PlainKernel("  out[0] = in[0];\n", "float* in, float* out, int n, float s")),
                  "(const float* in, float* out"));
  EXPECT_FALSE(AnyContains(children, "const float* out"));
  EXPECT_THAT(
      ChildrenOf("restrict_qualifier",
                 "// evo:launch k(A, A) grid(1) block(1)\n__global__ void k(const float* a, float* b) { b[0] = a[1]; }\n"),
      IsEmpty());
}

TEST(SourceMutators, RestrictQualifierTakesADeclaredKernelWhereItIsDefined) {
  const std::string launch = "// evo:launch k(A, B) grid(1) block(128)\n";
  const std::string declared = "__global__ void k(const float* in, float* out);\n";
  const std::string defined = "__global__ void k(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }\n";
  const auto children = ChildrenOf("restrict_qualifier", launch + declared + defined);
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_TRUE(AnyContains(children, declared));
  EXPECT_TRUE(AnyContains(children, "k(const float* __restrict__ in, float* __restrict__ out) {"));
}

TEST(SourceMutators, RestrictQualifierKeepsThePlaceOfTheStar) {
  const auto parameters = [](const std::string& written) {
    const std::string before = "// evo:launch k(A, B) grid(1) block(128)\n__global__ void k(";
    for (const std::string& child : ChildrenOf("restrict_qualifier", before + written + ") { *out = in[0] + in[1]; }\n")) {
      if (child.find("__restrict__") != std::string::npos) return child.substr(before.size(), child.find(") {") - before.size());
    }
    return std::string();
  };
  EXPECT_EQ(parameters("const float *in, float *out"), "const float *__restrict__ in, float *__restrict__ out");
  EXPECT_EQ(parameters("const float* in, float* out"), "const float* __restrict__ in, float* __restrict__ out");
  EXPECT_EQ(parameters("const float * in, float * out"), "const float * __restrict__ in, float * __restrict__ out");
  EXPECT_EQ(parameters("const float*in, float*out"), "const float* __restrict__ in, float* __restrict__ out");
  EXPECT_EQ(parameters("const float *const in, float *\n    out"),
            "const float *__restrict__ const in, float * __restrict__\n    out");
}

TEST(SourceMutators, HoistInvariantMovesExpressionsOutOfTheLoop) {
  const auto children =
      Bodies("hoist_invariant",
             "#pragma unroll\n  for (int i = 0; i < 8; ++i) {\n    out[i] = in[i] * expf(scale) + expf(scale);\n  }\n");
  EXPECT_THAT(children,
              testing::Contains("  const float invariant = expf(scale);\n#pragma unroll\n  for (int i = 0; i < 8; ++i) {\n"
                                "    out[i] = in[i] * invariant + invariant;\n  }\n"));
  // Written in the loop, declared in it, loaded, or an integer division that the loop may never execute.
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < 8; ++i) {\n    scale += 1.0f;\n    out[i] = scale * 2.0f;\n  }\n"),
              IsEmpty());
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < 8; ++i) {\n    const int j = i;\n    out[j * n] = 1.0f;\n  }\n"),
              IsEmpty());
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < 8; ++i) out[i] = in[0];\n"), IsEmpty());
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < 8; ++i) out[i] = 1 / n;\n"), IsEmpty());
}

TEST(SourceMutators, LeaveToTheCompilerWhatItDoesAnyway) {
  // Four iterations are unrolled completely by any factor of four or more.
  const std::string loop = "  float s = 0;\n  for (int i = 0; i < 4; ++i) s += in[i];\n  out[0] = s;\n";
  EXPECT_THAT(Bodies("unroll_pragma", loop), SizeIs(2));  // factors 1 and 2
  EXPECT_THAT(Bodies("strip_mine", loop), IsEmpty());
  EXPECT_THAT(Bodies("loop_peel", loop), IsEmpty());
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < n; ++i) out[i] = in[i] * (scale + 1.0f);\n"), IsEmpty());
  EXPECT_THAT(Bodies("hoist_invariant", "  for (int i = 0; i < n; ++i) out[i] = in[i] * sqrtf(scale);\n"), SizeIs(1));
  EXPECT_THAT(Bodies("statement_swap", "  float a = 1.0f;\n  float b = scale;\n  out[0] = a + b;\n"), IsEmpty());
}

TEST(SourceMutators, InlineHintIsForDeviceFunctions) {
  const auto children =
      ChildrenOf("inline_hint", "__device__ float F(float x) { return x; }\n" + PlainKernel("  out[0] = F(scale);\n"));
  EXPECT_THAT(children, SizeIs(1));
  EXPECT_TRUE(AnyContains(children, "__device__ __noinline__ float F("));
  EXPECT_TRUE(AnyContains(ChildrenOf("inline_hint", "__device__ __forceinline__ float F(float x) { return x; }\n" +
                                                        PlainKernel("  out[0] = F(scale);\n")),
                          "__device__ __noinline__ float F("));
  EXPECT_THAT(ChildrenOf("inline_hint", PlainKernel("  out[0] = 1;\n")), IsEmpty());
}

TEST(SourceMutators, StatementSwapKeepsDependences) {
  EXPECT_THAT(Bodies("statement_swap", "  const float a = in[0];\n  const float b = in[1];\n  out[0] = a + b;\n"),
              testing::ElementsAre("  const float b = in[1];\n  const float a = in[0];\n  out[0] = a + b;\n"));
  for (const char* body :
       {"  float a = in[0];\n  a += 1.0f;\n", "  out[0] = 1.0f;\n  out[n] = 2.0f;\n", "  out[0] = 1.0f;\n  __syncthreads();\n",
        "  const float a = in[0];\n  const float b = a;\n  out[0] = b;\n", "  out[0] = 1.0f;\n  scale = in[0];\n"}) {
    EXPECT_THAT(Bodies("statement_swap", body), IsEmpty()) << body;
  }
}

TEST(SourceMutators, StatementDeleteRemovesTheLineButNeverABarrier) {
  EXPECT_THAT(
      Bodies("statement_delete", "  out[0] = 1.0f;\n  __syncthreads();   // all\n  const int i = n;\n  if (i > 0) return;\n"),
      testing::ElementsAre("  __syncthreads();   // all\n  const int i = n;\n  if (i > 0) return;\n"));
}

TEST(SourceMutators, StatementDeleteLeavesStatementsCutByThePreprocessor) {
  EXPECT_THAT(Bodies("statement_delete", "  out[0] = 1.0f +\n#if 1\n  2.0f;\n#else\n  3.0f;\n#endif\n"), SizeIs(0));
}

TEST(SourceMutators, ConstantPerturbChangesSpelledIntegers) {
  const auto children = ChildrenOf("constant_perturb", "#define N 7\n" + PlainKernel("  out[4] = N + 0xff + 2.0f;\n"));
  EXPECT_THAT(children, SizeIs(4));
  EXPECT_TRUE(AnyContains(children, "out[3] = N"));
  EXPECT_TRUE(AnyContains(children, "out[8] = N"));
}

TEST(SourceMutators, ConstantPerturbLeavesConstantExpressions) {
  const std::string helper =
      "template <int N>\n__device__ float Sum(const float (&x)[2]) { return *x; }\n"
      "__device__ constexpr int Half(int n) { return n / 2; }\n";
  EXPECT_THAT(
      ChildrenOf("constant_perturb", helper + PlainKernel("  float own[2];\n  const int length = 6;\n  float more[length];\n"
                                                          "  const float* none = 0;\n  if constexpr (sizeof(int) > 3) return;\n"
                                                          "  switch (n) { case 5: return; }\n  Sum<7>(own);\n")),
      SizeIs(0));
  EXPECT_THAT(ChildrenOf("constant_perturb", PlainKernel("  const int length = 6;\n  out[0] = length * 2;\n")), SizeIs(8));
}

TEST(SourceMutators, ConstantPerturbKeepsLoopsFinite) {
  const auto loop = [](const std::string& head) { return Bodies("constant_perturb", "  for (" + head + ") out[i] = n;\n"); };
  EXPECT_FALSE(AnyContains(loop("int i = n; i < 9; i += 1"), "i += 0"));
  EXPECT_TRUE(AnyContains(loop("int i = n; i < 9; i += 1"), "i += 2"));
  EXPECT_FALSE(AnyContains(loop("int i = n; i < 9; i += 1 * n"), "i += 0"));
  EXPECT_TRUE(AnyContains(loop("int i = n; i < 9; i += 1 + n"), "i += 0 + n"));
  EXPECT_FALSE(AnyContains(loop("int i = n; i > 0; i >>= 1"), ">>= 0"));
  EXPECT_FALSE(AnyContains(loop("int i = n; i > 0; i /= 2"), "/= 1"));
  EXPECT_TRUE(AnyContains(loop("int i = n; i > 0; i /= 2"), "/= 4"));
  EXPECT_FALSE(AnyContains(loop("int i = n; i >= 1; i /= 2"), ">= 0"));
  EXPECT_FALSE(AnyContains(loop("int i = n; i != 8; i += 2"), "!= 9"));
  EXPECT_TRUE(AnyContains(Bodies("constant_perturb", "  for (int i = 0; i < n; ++i) out[i] *= 1;\n"), "*= 0"));
}

}  // namespace
}  // namespace evo
