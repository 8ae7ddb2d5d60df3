#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/installation.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

using ::testing::IsEmpty;

const char* const kSource = R"(#include <cuda_fp16.h>
#pragma nv_hdrstop
#ifndef N
#define N 8
#endif
#define TWICE(x) ((x) + (x))
__device__ float Scale(float v) { return v * 2.0f; }
template <int B>
__global__ void kernel(const float* in, float* out, int n) {
  const int i = blockIdx.x * B + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    sum += Scale(in[i * N + k]);
  }
  if (i < n) {
    out[i] = sum;
    out[i] = sum;
  }
  sum = TWICE(sum);
  __syncthreads();
}
)";

SyntaxParser& Parser() {
  static SyntaxParser parser({*CudaRoot(), ShareDirectory() / "clang", ShareDirectory() / "syntax"});
  return parser;
}

std::vector<int> Having(const SyntaxTree& tree, const std::string& kind, const std::string& text) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(tree.nodes().size()); ++i) {
    if (tree.node(i).kind_name == kind && tree.Text(i) == text) found.push_back(i);
  }
  return found;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SyntaxTree, ParsesACudaKernelWithoutErrors) {
  const SyntaxTree tree = Parser().Parse(kSource);
  EXPECT_THAT(tree.errors(), IsEmpty());
  const auto loops = Having(tree, "ForStmt", "for (int k = 0; k < N; ++k) {\n    sum += Scale(in[i * N + k]);\n  }");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(tree.node(tree.node(loops[0]).function).name, "kernel");
  EXPECT_TRUE(tree.node(loops[0]).is_statement);
}

TEST(SyntaxTree, ReachesOverTheSemicolonOfAStatement) {
  const SyntaxTree tree = Parser().Parse(kSource);
  const auto statements = Having(tree, "CompoundAssignOperator", "sum += Scale(in[i * N + k]);");
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_EQ(tree.node(statements[0]).type, "float");
}

TEST(SyntaxTree, KnowsWhatANameRefersTo) {
  const SyntaxTree tree = Parser().Parse(kSource);
  const auto uses = Having(tree, "DeclRefExpr", "n");
  ASSERT_EQ(uses.size(), 1u);
  ASSERT_GE(tree.node(uses[0]).refers_to, 0);
  EXPECT_EQ(tree.node(tree.node(uses[0]).refers_to).kind_name, "ParmDecl");
}

TEST(SyntaxTree, HasNoNodesFromMacroBodies) {
  const SyntaxTree tree = Parser().Parse(kSource);
  EXPECT_EQ(Having(tree, "ParenExpr", "TWICE(sum)").size(), 1u);
  for (const int i : Having(tree, "BinaryOperator", "TWICE(sum)")) FAIL() << "node " << i << " comes from a macro's body";
}

TEST(SyntaxTree, ReportsErrorsOfTheSource) { EXPECT_FALSE(Parser().Parse("__global__ void k() { undeclared = 1; }\n").errors().empty()); }

TEST(Anchor, IsFoundAgainAfterEditsElsewhere) {
  const SyntaxTree tree = Parser().Parse(kSource);
  const int loop = Having(tree, "ForStmt", "for (int k = 0; k < N; ++k) {\n    sum += Scale(in[i * N + k]);\n  }").at(0);
  const Anchor anchor = tree.AnchorOf(loop);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"  float sum = 0;", "  int added = 3;\n  float sum = 0;"},
      {"#pragma unroll\n", ""},
      {"#define N 8", "#define N 16"},
      {"out[i] = sum;", "out[i] = sum + 1;"},
      {"  for (int k = 0; k < N; ++k) {", "  for (int k = 0;\n       k < N; ++k) {  // spaced"},
  };
  for (const auto& [from, to] : changes) {
    const SyntaxTree changed = Parser().Parse(Replaced(kSource, from, to));
    const auto found = changed.Find(anchor);
    ASSERT_TRUE(found) << from;
    EXPECT_EQ(changed.node(*found).kind_name, "ForStmt") << from;
  }
}

TEST(Anchor, TellsEqualStatementsApartByTheirNeighbours) {
  const SyntaxTree tree = Parser().Parse(kSource);
  const auto twins = Having(tree, "BinaryOperator", "out[i] = sum;");
  ASSERT_EQ(twins.size(), 2u);
  EXPECT_EQ(tree.Find(tree.AnchorOf(twins[0])), twins[0]);
  EXPECT_EQ(tree.Find(tree.AnchorOf(twins[1])), twins[1]);
}

TEST(Anchor, IsNotFoundWhenGoneOrAmbiguous) {
  const SyntaxTree tree = Parser().Parse(kSource);
  const Anchor anchor = tree.AnchorOf(Having(tree, "BinaryOperator", "out[i] = sum;").at(1));
  EXPECT_EQ(Parser().Parse(Replaced(Replaced(kSource, "out[i] = sum;", "out[i] = 1;"), "out[i] = sum;", "out[i] = 2;")).Find(anchor), std::nullopt);
  const SyntaxTree several = Parser().Parse(Replaced(kSource, "  if (i < n) {\n    out[i] = sum;\n    out[i] = sum;\n",
                                                     "  if (i < n) {\n    sum = 1; out[i] = sum; sum = 2; out[i] = sum; sum = 3;\n"));
  EXPECT_EQ(several.Find(anchor), std::nullopt);
}

TEST(SpelledTokens, IgnoresCommentsAndSpacing) {
  EXPECT_EQ(SpelledTokens("int  a /* x */ =b ;// y\n"), "int a=b;");
  EXPECT_EQ(SpelledTokens("int a=b;"), SpelledTokens("int a = b;"));
}

}  // namespace
}  // namespace evo
