#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kLoop = "  for (int i = 0; i < n; ++i) s += in[i];\n";

TEST(StatementMove, MovesPastIndependentStatements) {
  const std::string start = "  float s = 0.0f;\n";
  const std::string load = "  const float x = in[n];\n";
  const std::string other = "  const int j = n * 2;\n";
  const std::string end = "  out[j] = s + x;\n";
  const auto bodies = Bodies("statement_move", start + other + kLoop + load + end);
  EXPECT_THAT(bodies, Contains(load + start + other + kLoop + end));
  EXPECT_THAT(Bodies("statement_move", load + start + other + kLoop + end), Contains(start + other + kLoop + load + end));
}

TEST(StatementMove, MovesLoadsPastBarriers) {
  const std::string shared = "  __shared__ float t[128];\n  t[threadIdx.x] = scale;\n";
  const std::string barrier = "  __syncthreads();\n";
  const std::string load = "  const float x = in[n];\n";
  const std::string end = "  out[n] = t[n] + x;\n";
  EXPECT_THAT(Bodies("statement_move", shared + barrier + load + end), Contains(shared + load + barrier + end));
  // Before the barrier, the other threads have not stored yet.
  const std::string sees = "  const float x = t[n];\n";
  EXPECT_THAT(Bodies("statement_move", shared + barrier + sees + "  out[n] = x;\n"), IsEmpty());
}

TEST(StatementMove, MovesHarmlessVariablesOutOfConditions) {
  EXPECT_THAT(Bodies("statement_move", "  if (n > 3) {\n    const int j = n * 2;\n    out[j] = in[j];\n  }\n"),
              ElementsAre("  const int j = n * 2;\n  if (n > 3) {\n    out[j] = in[j];\n  }\n"));
  for (const char* body : {"  if (n > 3) {\n    const float x = in[n];\n    out[n] = x;\n  }\n",
                           "  if (n > 3) {\n    const int j = 9 / n;\n    out[j] = 1;\n  }\n",
                           "  int j = 0;\n  if (n > 3) {\n    const int j = n * 2;\n    out[j] = 1;\n  }\n  out[j] = 2;\n",
                           "  if (n > 3) {\n    n += 1;\n    const int j = n * 2;\n    out[j] = 1;\n  }\n"}) {
    EXPECT_THAT(Bodies("statement_move", body), IsEmpty()) << body;
  }
}

TEST(StatementMove, KeepsDependentStatementsInOrder) {
  for (const char* body : {
           "  float s = in[0];\n  s += in[1];\n  s *= 2;\n  out[0] = s;\n",
           "  out[0] = in[0];\n  out[1] = in[1];\n  out[2] = in[2];\n  out[3] = in[3];\n",
           "  const int a = n + 1;\n  const int b = n + 2;\n  const int c = n + 3;\n  out[a + b + c] = scale;\n",
           "  if (n < 0) return;\n  if (n < 1) return;\n  out[0] = in[n];\n",
       }) {
    EXPECT_THAT(Bodies("statement_move", body), IsEmpty()) << body;
  }
}

TEST(StatementMove, KeepsTypesBeforeTheirUses) {
  const std::string type = "  struct Pair {\n    float a, b;\n  };\n";
  for (const char* use : {"  Pair p = {scale, 1.0f};\n  out[n] = p.a;\n", "  const int s = sizeof(Pair);\n  out[s] = scale;\n"}) {
    EXPECT_THAT(Bodies("statement_move", type + use), IsEmpty());
    EXPECT_THAT(Bodies("statement_swap", type + use), IsEmpty());
  }
}

TEST(StatementCopy, StaysWhereItsNamesAreKnown) {
  const auto bodies =
      Bodies("statement_copy",
             "  float s = 0;\n  s += in[n];\n  float r = s;\n  r *= 2;\n  for (int i = 0; i < n; ++i) {\n    s += r;\n  }\n"
             "  out[0] = s + r;\n");
  ASSERT_THAT(bodies, Not(IsEmpty()));
  EXPECT_THAT(bodies, Contains(HasSubstr("  float r = s;\n  s += in[n];\n  r *= 2;\n")));
  EXPECT_THAT(bodies, Contains(HasSubstr("++i) {\n    s += in[n];\n    s += r;\n")));
  for (const std::string& body : bodies) EXPECT_LT(body.find("float r"), body.find("r *= 2;"));
}

TEST(StatementCopy, RepeatsBarriersOnlyWhereAllThreadsArrive) {
  const auto bodies = Bodies("statement_copy",
                             "  __syncthreads();\n  const int j = n;\n  if (j > 3) {\n    out[j] = 1;\n  }\n  out[0] = in[0];\n");
  EXPECT_THAT(bodies, Contains(HasSubstr("  __syncthreads();\n  if (j > 3) {\n    out[j] = 1;\n")));
  EXPECT_FALSE(AnyContains(bodies, "    __syncthreads();\n"));
}

TEST(OperandSwap, ExchangesAndRegroups) {
  EXPECT_THAT(Bodies("operand_swap", "  out[0] = in[0] + in[1] * scale;\n"), ElementsAre("  out[0] = in[1] * scale + in[0];\n"));
  EXPECT_THAT(Bodies("operand_swap", "  out[0] = in[0] * scale / n;\n"), Contains("  out[0] = in[0] * (scale / n);\n"));
  EXPECT_THAT(Bodies("operand_swap", "  out[0] = (in[0] - 1) / scale * in[2];\n"),
              Contains("  out[0] = (in[0] - 1) * (in[2] / scale);\n"));
  EXPECT_THAT(Bodies("operand_swap", "  out[0] = scale - 2.0f - in[1];\n"), ElementsAre("  out[0] = scale - (2.0f + in[1]);\n"));
  EXPECT_THAT(Bodies("operand_swap", "  out[0] = scale + (2.0f - in[1]);\n"), ElementsAre("  out[0] = scale + 2.0f - in[1];\n"));
}

TEST(OperandSwap, LeavesOperandsThatTheCompilerOrders) {
  for (const char* body : {"  out[0] = in[0] * scale;\n", "  int i = n + 2 + threadIdx.x;\n  out[i] = 1;\n"})
    EXPECT_THAT(Bodies("operand_swap", body), IsEmpty()) << body;
}

TEST(OperandSwap, LeavesOperandsWhoseOrderMatters) {
  for (const char* body : {"  out[0] = in[0] - in[1];\n", "  out[0] = in[0] / in[1];\n", "  out[n * 2 / 3] = 1;\n",
                           "  const float* p = in + n;\n  out[0] = *p;\n", "  out[0] = atomicAdd(out, 1.0f) + in[0];\n",
                           "  out[0] = in[0] * n / (n + 1);\n", "  out[0] = (long long)n * n * n;\n"}) {
    EXPECT_THAT(Bodies("operand_swap", body), IsEmpty()) << body;
  }
}

TEST(ExpressionReplace, TakesExpressionsOfTheSameType) {
  const auto bodies = Bodies("expression_replace", "  float a = in[n];\n  int k = 2;\n  float b = a * scale;\n  out[k] = b;\n");
  EXPECT_THAT(bodies, Contains(HasSubstr("  float b = scale * scale;\n")));
  EXPECT_THAT(bodies, Contains(HasSubstr("  float b = a;\n")));
  EXPECT_THAT(bodies, Contains(HasSubstr("  out[n] = b;\n")));
  EXPECT_FALSE(AnyContains(bodies, "out[a]"));
}

TEST(ExpressionReplace, KeepsLoopsFinite) {
  const auto bodies = Bodies("expression_replace", "  const int m = 3;\n  for (int i = 0; i < n; ++i) out[0] = 1;\n");
  EXPECT_THAT(bodies, IsEmpty());
}

TEST(CoalesceExchange, ExchangesThreadAndBlockIndices) {
  const std::string source =
      "// evo:launch k(A, B, N) grid(ceil_div(N, 32), N) block(32, 8)\n__global__ void k(const float* in, float* out, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  const int j = blockIdx.y * 8 + threadIdx.y;\n"
      "  if (i < n) out[j * n + i] = in[i * n + j];\n}\n";
  const auto children = ChildrenOf("coalesce_exchange", source);
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(children[0], HasSubstr("grid(ceil_div(N, 32), N) block(8, 32)"));
  EXPECT_THAT(children[0],
              HasSubstr("i = blockIdx.x * blockDim.y + threadIdx.y;\n  const int j = blockIdx.y * 8 + threadIdx.x;"));
  EXPECT_THAT(children[1], HasSubstr("grid(N, ceil_div(N, 32)) block(8, 32)"));
  EXPECT_THAT(children[1],
              HasSubstr("i = blockIdx.y * blockDim.y + threadIdx.y;\n  const int j = blockIdx.x * 8 + threadIdx.x;"));
}

TEST(CoalesceExchange, LeavesWarpOperationsAndOneDimensionalBlocks) {
  EXPECT_THAT(Bodies("coalesce_exchange", "  out[threadIdx.x] = threadIdx.y;\n"), IsEmpty());  // a block in one dimension
  const std::string head = "// evo:launch k(A) grid(1) block(32, 8)\n";
  EXPECT_THAT(ChildrenOf("coalesce_exchange", head + "__global__ void k(float* out) {\n"
                                                     "  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.y, 1);\n}\n"),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("coalesce_exchange",
                         head + "__device__ int Next(int v) { return __shfl_xor_sync(0xffffffffu, v, 1); }\n"
                                "__device__ int Top(int v) { return max(v, Next(v)); }\n__global__ void k(float* out) {\n"
                                "  out[threadIdx.x] = Top(threadIdx.y);\n}\n"),
              IsEmpty())
      << "in a function of a function";
  EXPECT_THAT(
      ChildrenOf("coalesce_exchange", head + "__device__ int Lane() { return threadIdx.x; }\n__global__ void k(float* out) {\n"
                                             "  out[Lane()] = threadIdx.x + threadIdx.y;\n}\n"),
      IsEmpty());
}

}  // namespace
}  // namespace evo
