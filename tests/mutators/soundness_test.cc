#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Dangers that mutators which preserve the meaning must notice: names inside macros, variables that change without being named,
// pointers that point elsewhere. Each source looks like one that they would change.

std::string Kernel(const std::string& body, const std::string& before = "") {
  return before + "// evo:launch k(A, B, N, S) grid(1) block(128)\n" +
         "__global__ void k(const float* in, float* out, int n, float scale) {\n" + body + "}\n";
}

TEST(Soundness, AMacroMayNameTheCounter) {
  const char* const square = "#define SQUARE(x) ((x) * (x))\n";
  EXPECT_THAT(ChildrenOf("accumulator_split",
                         Kernel("  float s = 0;\n  for (int i = 0; i < n; ++i) s += SQUARE(in[i]);\n  out[0] = s;\n", square)),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("hoist_invariant",
                         Kernel("  int i = 0;\n  for (i = 0; i < n; ++i) out[i] = SQUARE(i) * scale;\n  out[0] = i;\n", square)),
              IsEmpty());
}

TEST(Soundness, AMacroMayWriteWhatItNames) {
  const char* const put = "#define PUT(x, y) x = (y)\n#define ADD(x, y) (x += (y))\n";
  EXPECT_THAT(ChildrenOf("statement_swap", Kernel("  float s;\n  PUT(s, 1.0f);\n  const float t = s;\n  out[0] = t;\n", put)),
              IsEmpty());
  const std::string loop = "  for (int i = 0; i < n; ++i) {\n    ADD(scale, 1.0f);\n    out[i] = in[i] / (scale * 2.0f);\n  }\n";
  EXPECT_THAT(ChildrenOf("hoist_invariant", Kernel(loop, put)), IsEmpty());
  EXPECT_THAT(ChildrenOf("reciprocal", Kernel(loop, put)), IsEmpty());
  // One macro call makes two statements.
  EXPECT_THAT(
      ChildrenOf("reciprocal", Kernel("  for (int i = 0; i < n; ++i) {\n    BOTH(n, scale);\n    out[i] = in[i] / scale;\n  }\n",
                                      "#define BOTH(a, b) a = 1; b = 2\n")),
      IsEmpty());
}

TEST(Soundness, AMacroOfConstantsIsAConstant) {
  const char* const constants = "#define ROWS 8\n#define ALL (ROWS * kStep)\nconstexpr int kStep = 4;\n";
  EXPECT_THAT(
      ChildrenOf("accumulator_split",
                 Kernel("  float s = 0;\n  for (int i = 0; i < ALL; ++i) s += in[i * ROWS];\n  out[0] = s;\n", constants)),
      SizeIs(3));
}

TEST(Soundness, VariablesMayChangeWithoutBeingNamed) {
  const std::string loop = "  for (int i = 0; i < n; ++i) {\n    CHANGE;\n    out[i] = in[i] / (x * 2.0f);\n  }\n";
  const auto with = [&](const std::string& declared, const std::string& change, const std::string& before = "") {
    std::string text = loop;
    return Kernel(declared + text.replace(text.find("CHANGE"), 6, change), before);
  };
  for (const std::string& source :
       {with("  float x = scale;\n  float* p = &x;\n", "*p = in[i]"), with("  float x = scale;\n  float& r = x;\n", "r = in[i]"),
        with("  float x = scale;\n  auto change = [&]() { x += 1.0f; };\n", "change()"),
        with("", "Change()", "__device__ float x;\n__device__ void Change() { x += 1.0f; }\n"),
        // Another thread writes it before the barrier.
        with("  __shared__ float x;\n  if (threadIdx.x == 0) x = in[0];\n", "__syncthreads()")}) {
    EXPECT_THAT(ChildrenOf("hoist_invariant", source), IsEmpty()) << source;
    EXPECT_THAT(ChildrenOf("reciprocal", source), IsEmpty()) << source;
  }
  EXPECT_THAT(ChildrenOf("reciprocal", with("  float x = scale;\n  x += 1.0f;\n", "out[0] = 1.0f")), SizeIs(1));
}

TEST(Soundness, StatementsMayAccessTheSameMemory) {
  for (const char* body : {"  float x = scale;\n  float* p = &x;\n  *p = 2.0f;\n  const float y = x;\n  out[0] = y;\n",
                           "  __shared__ float x;\n  x = 1.0f;\n  const float y = out[1];\n  out[0] = y;\n"}) {
    EXPECT_THAT(ChildrenOf("statement_swap", Kernel(body)), IsEmpty()) << body;
  }
}

TEST(Soundness, ASumInSharedMemoryIsNotSplit) {
  EXPECT_THAT(ChildrenOf("accumulator_split",
                         Kernel("  __shared__ float s;\n  for (int i = 0; i < n; ++i) s += in[i];\n  out[0] = s;\n")),
              IsEmpty());
}

TEST(Soundness, APointerMayPointElsewhere) {
  for (const char* move :
       {"  in = tile;\n", "  const float*& r = in;\n  r = tile;\n", "  const float** p = &in;\n  *p = tile;\n"}) {
    EXPECT_THAT(
        ChildrenOf("read_only_load", Kernel("  __shared__ float tile[128];\n" + std::string(move) + "  out[0] = in[1];\n")),
        IsEmpty())
        << move;
  }
  EXPECT_THAT(ChildrenOf("read_only_load", Kernel("  in += n;\n  out[0] = in[1];\n")), SizeIs(3));
}

TEST(Soundness, APointerThatAMacroUsesIsNotOnlyRead) {
  const std::string text =
      "#define PUT(p, i) p[i] = 1.0f\n// evo:launch k(A) grid(1) block(1)\n__global__ void k(float* __restrict__ a) { PUT(a, 0); "
      "}\n";
  EXPECT_THAT(ChildrenOf("restrict_qualifier", text), IsEmpty());
}

TEST(Templates, AreMutatedOnceForAllInstantiations) {
  const std::string text = "template <int D>\n__device__ float F(const float* p) { return expf(p[D]) / p[0]; }\n" +
                           Kernel("  out[0] = F<1>(in) + F<2>(in);\n");
  EXPECT_THAT(ChildrenOf("fast_math", text), SizeIs(2));
  EXPECT_THAT(ChildrenOf("inline_hint", text), SizeIs(1));
  EXPECT_THAT(ChildrenOf("read_only_load", text), SizeIs(6));
  // The second instantiation reads what the kernel writes.
  EXPECT_THAT(ChildrenOf("read_only_load", "template <int D>\n__device__ float F(const float* p) { return p[D]; }\n" +
                                               Kernel("  out[0] = F<1>(in) + F<2>(out);\n")),
              IsEmpty());
}

TEST(Templates, KernelsGetBoundsAndQualifiers) {
  const std::string text =
      "// evo:launch k<4>(A, B) grid(1) block(64)\ntemplate <int D>\n"
      "__global__ void k(const float* a, float* b) { b[0] = a[D]; }\n";
  EXPECT_TRUE(AnyContains(ChildrenOf("launch_bounds", text), "__global__ __launch_bounds__(64, 2) void k("));
  EXPECT_TRUE(AnyContains(ChildrenOf("restrict_qualifier", text), "(const float* __restrict__ a, float* __restrict__ b)"));
}

}  // namespace
}  // namespace evo
