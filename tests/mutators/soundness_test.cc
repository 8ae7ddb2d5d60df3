#include <gmock/gmock.h>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
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

std::string Blocks(const std::string& body, const std::string& before = "") {
  return before + "// evo:launch k(A, B, N, S) grid(ceil_div(N, 128)) block(128)\n" +
         "__global__ void k(const float* in, float* out, int n, float scale) {\n" + body + "}\n";
}

TEST(Soundness, AParameterThatTheKernelChangesIsNotAsBeforeInTheNextBlock) {
  const std::string moved = "  in += blockIdx.x * 128;\n  out[blockIdx.x * 128 + threadIdx.x] = in[threadIdx.x];\n";
  EXPECT_THAT(ChildrenOf("grid_stride", Blocks(moved)), IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Blocks("  const int i = blockIdx.x * 128 + threadIdx.x;\n  out[i] = in[i];\n")),
              SizeIs(3));
}

// A thread that goes on to the next block must not leave others waiting for it at a shuffle.
TEST(Soundness, OnlyWholeWarpsGoOnToOtherBlocks) {
  const auto sum = [](const std::string& row) {
    return Blocks("  const int i = " + row + ";\n  if (i >= n) return;\n  float s = in[i];\n" +
                  "  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);\n  out[i] = s;\n");
  };
  EXPECT_THAT(ChildrenOf("grid_stride", sum("blockIdx.x * 128 + threadIdx.x")), IsEmpty());
  EXPECT_THAT(ChildrenOf("work_per_thread", sum("blockIdx.x * 128 + threadIdx.x")), IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", sum("blockIdx.x * 4 + threadIdx.x / 32")), SizeIs(3));
  EXPECT_THAT(ChildrenOf("work_per_thread", sum("blockIdx.x * 4 + threadIdx.x / 32")), SizeIs(2));
}

TEST(Soundness, AComparisonIsNotYetAGuard) {
  const std::string index = "  const int i = blockIdx.x * 128 + threadIdx.x;\n";
  EXPECT_THAT(ChildrenOf("work_per_thread", Blocks(index + "  if (i >= n) return;\n  out[i] = in[i];\n")), SizeIs(4));
  EXPECT_THAT(ChildrenOf("work_per_thread", Blocks(index + "  if (i < n) out[i] = in[i];\n")), SizeIs(4));
  EXPECT_THAT(ChildrenOf("work_per_thread", Blocks(index + "  if (i < 5) out[i] = 0.0f;\n  out[i] = in[i];\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("work_per_thread", Blocks(index + "  const float x = in[i];\n  if (i >= n) return;\n  out[i] = x;\n")),
              IsEmpty());
  EXPECT_THAT(
      ChildrenOf("work_per_thread",
                 Blocks("  const int i = n - blockIdx.x * 128 - threadIdx.x;\n  if (i >= n) return;\n  out[i] = in[i];\n")),
      IsEmpty());
}

// In 32 bits without a sign, i - 4u + 4u is i, but a pointer that begins at in + (0 - 4u) is not.
TEST(Soundness, AnIndexThatWrapsIsNoPointer) {
  const auto loop = [](const std::string& index) {
    return Kernel("  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    if (i >= 4) s += in[" + index +
                  "];\n  }\n  out[0] = s;\n");
  };
  EXPECT_THAT(ChildrenOf("index_strength", loop("i - 4u")), IsEmpty());
  EXPECT_THAT(ChildrenOf("index_strength", loop("i - 4")), SizeIs(1));
}

TEST(Soundness, ThreadsOfARowStoreDifferentElements) {
  const auto row = [](const std::string& store) {
    return "// evo:launch k(A, B, C, N, S) grid(ceil_div(N, 128)) block(128)\n"
           "__global__ void k(const float* in, const int* at, float* out, int n, int m) {\n"
           "  const int r = blockIdx.x * 128 + threadIdx.x;\n  if (r >= n) return;\n  float* y = out + r * m;\n"
           "  for (int c = 0; c < m; ++c) {\n    " +
           store + "\n  }\n}\n";
  };
  for (const char* mutator : {"thread_per_row_to_warp", "thread_per_row_to_block"}) {
    SCOPED_TRACE(mutator);
    EXPECT_THAT(ChildrenOf(mutator, row("y[c] = in[c];")), SizeIs(1));
    EXPECT_THAT(ChildrenOf(mutator, row("const int d = m - 1 + c;\n    y[d - 3] = in[c];")), SizeIs(1));
    EXPECT_THAT(ChildrenOf(mutator, row("for (int d = 0; d < 4; ++d) y[c * 4 + d] = in[d];")), Not(IsEmpty()));
    EXPECT_THAT(ChildrenOf(mutator, row("y[at[c]] = in[c];")), IsEmpty());
    EXPECT_THAT(ChildrenOf(mutator, row("const int d = c / 2;\n    y[d] = in[c];")), IsEmpty());
    EXPECT_THAT(ChildrenOf(mutator, row("y[min(c, 7)] = in[c];")), IsEmpty());
    EXPECT_THAT(ChildrenOf(mutator, row("y[c - c] = in[c];")), IsEmpty());
  }
}

TEST(Soundness, OnlyTheTotalOfATreeMayBeRead) {
  const auto tree = [](const std::string& after) {
    return Blocks(
        "  __shared__ float p[128];\n  p[threadIdx.x] = in[threadIdx.x];\n  __syncthreads();\n"
        "  for (int s = 128 / 2; s > 0; s /= 2) {\n    if (threadIdx.x < s) p[threadIdx.x] += p[threadIdx.x + s];\n"
        "    __syncthreads();\n  }\n" +
        after);
  };
  EXPECT_THAT(ChildrenOf("warp_reduction", tree("  out[0] = p[0];\n")), SizeIs(2));
  EXPECT_THAT(ChildrenOf("warp_reduction", tree("  out[0] = p[1];\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("warp_reduction", tree("  out[threadIdx.x] = p[threadIdx.x];\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("warp_reduction", tree("  float* q = p;\n  out[0] = q[1];\n")), IsEmpty());
}

TEST(Soundness, ASumAndAMaximumOfTheSameVariableDoNotCommute) {
  const auto nest = [](const std::string& second) {
    return Kernel(
        "  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    for (int j = 0; j < n; ++j) {\n      s += in[i * n + j];\n" +
        second + "    }\n  }\n  out[0] = s;\n");
  };
  EXPECT_THAT(ChildrenOf("loop_interchange", nest("      s -= in[j];\n")), SizeIs(1));
  EXPECT_THAT(ChildrenOf("loop_interchange", nest("      s = fmaxf(s, in[j]);\n")), IsEmpty());
}

// An edit that is right because a parameter has its present value must be dropped when it gets another one.
TEST(Soundness, EditsNameTheParametersTheyRelyOn) {
  const auto needs = [](const std::string& mutator, const std::string& text) {
    const Parent parent(text);
    std::vector<Parameters> needed;
    for (const Proposal& proposal : SourceMutatorNamed(mutator).Proposals(parent.Context()))
      needed.push_back(proposal.parameters);
    return needed;
  };
  const std::string tile = "// evo:param TILE 4 5 7\n#ifndef TILE\n#define TILE 4\n#endif\n#define TWICE (2 * TILE)\n";
  const std::string pairs = "  float s = 0;\n  for (int i = 0; i < TWICE; ++i) s += __half2float(x[i]);\n  out[0] = s;\n}\n";
  const std::string halves =
      "// evo:launch k(A, B) grid(1) block(32)\n__global__ void k(const __half* x, float* out) {\n" + pairs;
  EXPECT_THAT(needs("packed_half2", "#include <cuda_fp16.h>\n" + tile + halves), ElementsAre(Parameters{{"TILE", 4}}));
  const std::string columns =
      "  __shared__ float t[8][TWICE];\n  t[threadIdx.x % 8][threadIdx.x % TWICE] = in[0];\n  out[0] = t[0][1];\n";
  EXPECT_THAT(needs("shared_swizzle", tile + Kernel(columns)), ElementsAre(Parameters{{"TILE", 4}}));
  EXPECT_THAT(
      needs("shared_swizzle", Kernel("  __shared__ float t[8][16];\n  t[0][threadIdx.x % 16] = in[0];\n  out[0] = t[0][1];\n")),
      ElementsAre(Parameters{}));
}

TEST(Soundness, ToCompareWithNullChangesNothing) {
  const Parent parent("#include <cstdio>\n" + Kernel("  out[n] = in != NULL ? in[n] : 0.0f;\n"));
  const auto choices = NodesOfKind(*parent.tree, "ConditionalOperator");
  ASSERT_THAT(choices, SizeIs(1));
  EXPECT_TRUE(IsPure(*parent.tree, choices.front()));
}

TEST(Soundness, AConstantOfAnEnumerationHasItsValue) {
  const std::string text =
      "enum { kLanes = 32, kWarps = 8, kBlock = kLanes * kWarps };\nenum State : unsigned { kInvalid, kReady };\n"
      "enum class Order { kInner, kOuter };\nenum { kFirst = 7, kNext };\n" +
      Kernel("  out[n] = in[0];\n");
  const Parent parent(text);
  EXPECT_EQ(ConstantValue(*parent.tree, "kBlock"), 256);
  EXPECT_EQ(ConstantValue(*parent.tree, "kInvalid"), 0);
  EXPECT_EQ(ConstantValue(*parent.tree, "kReady + 1"), 2);
  EXPECT_EQ(ConstantValue(*parent.tree, "kOuter"), std::nullopt) << "its name is Order::kOuter";
  EXPECT_EQ(ConstantValue(*parent.tree, "kNext"), std::nullopt);
}

// What a macro of evo:size stands for in the text is its value in one case only.
TEST(Soundness, ASizeThatIsCompiledInHasNoValue) {
  const std::string text = "#ifndef WIDTH\n#define WIDTH 8\n#endif\n#define TWICE (2 * WIDTH)\nconstexpr int kRows = TWICE;\n" +
                           Kernel("  float s = 0;\n  for (int i = 0; i < WIDTH; ++i) s += in[i] * 3;\n  out[n] = s;\n");
  EXPECT_EQ(ConstantValue(*Parent(text).tree, "kRows + 1"), 17);
  const Parent sized("// evo:size WIDTH = W\n" + text);
  EXPECT_EQ(ConstantValue(*sized.tree, "kRows + 1"), std::nullopt);
  EXPECT_TRUE(DependsOnSize(*sized.tree, "kRows + 1"));
  EXPECT_FALSE(DependsOnSize(*sized.tree, "n + 1"));
  std::size_t children = 0;
  const MutatorSet mutators;
  for (const auto& mutator : mutators.all()) {
    if (dynamic_cast<const SourceMutator*>(mutator.get()) == nullptr) continue;
    for (const std::string& child : ChildrenOf(std::string(mutator->name()), sized.rendering.source)) {
      ++children;
      EXPECT_THAT(child, testing::HasSubstr("// evo:size WIDTH = W\n#ifndef WIDTH\n#define WIDTH 8\n#endif\n"))
          << mutator->name();
    }
  }
  EXPECT_GT(children, 20U);
}

TEST(Promises, FollowFromWhatAMutatorDoes) {
  const MutatorSet mutators;
  for (const auto& mutator : mutators.all()) {
    SCOPED_TRACE(mutator->name());
    EXPECT_EQ(mutators.AllPromises().at(std::string(mutator->name())), mutator->promise());
    EXPECT_EQ(mutator->reads_source(), mutator->promise() != Promise::kInherited) << "what makes no edit inherits";
    EXPECT_TRUE(!mutator->mostly_wrong() || mutator->promise() == Promise::kUnproven);
    EXPECT_EQ(DefaultWeight(*mutator), mutator->weight() * (mutator->mostly_wrong() ? kMostlyWrongShare : 1));
  }
  EXPECT_EQ(mutators.AllPromises().size(), mutators.all().size());
}

TEST(Soundness, AStarNextToTheNameKeepsTheNameApart) {
  const std::string text = "// evo:launch k(A) grid(1) block(1)\n__global__ void k(float *a) { a[0] = 1; }\n";
  EXPECT_TRUE(AnyContains(ChildrenOf("restrict_qualifier", text), "(float *__restrict__ a)"));
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
