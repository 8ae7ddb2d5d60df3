#include <gmock/gmock.h>

#include <chrono>

#include "core/error.h"
#include "tests/syntax/parsing.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char* const kKernel = R"(#include <cuda_fp16.h>
#define N 32
#define TWICE(x) ((x) + (x))

__device__ float Square(float x) { return x * x; }

__global__ void __launch_bounds__(N) kernel(const float* in, float* out, half h) {
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < N; i += TWICE(16)) sum += in[i];
  if (sum > N * 2) out[0] = Square(-sum);
  out[1] = __half2float(h);
}
)";

TEST(SyntaxParser, ParsesCudaWithoutErrors) {
  const SyntaxTree tree = ParseSource(kKernel);
  EXPECT_THAT(tree.errors(), IsEmpty());
  EXPECT_EQ(tree.text(), kKernel);
  EXPECT_EQ(tree.node(0).kind_name, "TranslationUnit");
}

TEST(SyntaxParser, TheTreeContainsNothingFromHeaders) {
  const SyntaxTree tree = ParseSource(kKernel);
  EXPECT_THAT(tree.node(0).children, SizeIs(2));
}

TEST(SyntaxParser, FunctionsBeginWithTheirMacro) {
  const SyntaxTree tree = ParseSource(kKernel);
  const int kernel = NodeWith(tree, "FunctionDecl", "__global__ void __launch_bounds__(N) kernel(");
  ASSERT_GE(kernel, 0);
  EXPECT_EQ(tree.node(kernel).name, "kernel");
}

TEST(SyntaxParser, WhatIsBelowANodeFollowsItWithoutAGap) {
  const SyntaxTree tree = ParseSource(kKernel);
  for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
    int next = node + 1;
    for (const int child : tree.node(node).children) {
      EXPECT_EQ(child, next);
      next = tree.EndOf(child);
    }
    EXPECT_EQ(tree.EndOf(node), next);
  }
  EXPECT_EQ(tree.EndOf(0), static_cast<int>(tree.nodes().size()));
}

TEST(SyntaxParser, UsesAreThoseByNameAndThoseHiddenInMacros) {
  const SyntaxTree tree = ParseSource(
      "#define NEXT (count + 1)\n__device__ int f(int count, int other) {\n  int sum = NEXT;\n  count = other;\n  return "
      "sum;\n}");
  const auto& uses = tree.UsesOf(NodeWith(tree, "ParmDecl", "int count"));
  ASSERT_THAT(uses, SizeIs(2));
  EXPECT_EQ(tree.Text(uses[0]), "NEXT");
  EXPECT_EQ(tree.Text(uses[1]), "count");
  EXPECT_THAT(tree.UsesOf(NodeWith(tree, "VarDecl", "int sum")), SizeIs(1));
  EXPECT_THAT(tree.UsesOf(0), IsEmpty());
}

TEST(SyntaxParser, AttributesAreNodes) {
  const SyntaxTree tree = ParseSource(kKernel);
  const int bounds = NodeWith(tree, "UnexposedAttr", "__launch_bounds__(N)");
  ASSERT_GE(bounds, 0);
  EXPECT_EQ(tree.Text(bounds), "__launch_bounds__(N)");
  EXPECT_EQ(tree.Text(NodeWith(tree, "attribute(global)", "")), "__global__");
  EXPECT_EQ(tree.Text(NodeWith(tree, "attribute(device)", "")), "__device__");
}

TEST(SyntaxParser, AMacroThatEndsWithItsArgumentIsWhole) {
  const SyntaxTree tree = ParseSource("#define ADD(a, b) a + b\n__device__ int f(int i) { return ADD(i, 2); }");
  const int sum = NodeWith(tree, "BinaryOperator", "ADD");
  ASSERT_GE(sum, 0);
  EXPECT_EQ(tree.Text(sum), "ADD(i, 2)");
}

TEST(SyntaxParser, StatementsIncludeTheirSemicolon) {
  const SyntaxTree tree = ParseSource(kKernel);
  const int loop = NodeWith(tree, "ForStmt", "for");
  ASSERT_GE(loop, 0);
  EXPECT_TRUE(tree.Text(loop).ends_with("sum += in[i];"));
  EXPECT_EQ(tree.Text(tree.node(loop).children.back()), "sum += in[i];");
  EXPECT_EQ(tree.Text(NodeWith(tree, "CompoundAssignOperator", "i += ")), "i += TWICE(16)");
  EXPECT_EQ(tree.Text(NodeWith(tree, "BinaryOperator", "out[0]")), "out[0] = Square(-sum);");
}

TEST(SyntaxParser, MacroCallsAreLeaves) {
  const SyntaxTree tree = ParseSource(kKernel);
  const int product = NodeWith(tree, "BinaryOperator", "N * 2");
  ASSERT_GE(product, 0);
  const SyntaxNode& n = tree.node(tree.node(product).children.at(0));
  EXPECT_EQ(tree.Text(n.range), "N");
  EXPECT_THAT(n.children, IsEmpty());
  const int call = NodeWith(tree, "ParenExpr", "TWICE(16)");
  ASSERT_GE(call, 0);
  EXPECT_EQ(tree.Text(call), "TWICE(16)");
  EXPECT_THAT(tree.node(call).children, IsEmpty());
}

// Mutators look into the parts of an element.
TEST(SyntaxParser, AMacroThatExpandsToAnElementIsNoElement) {
  const SyntaxTree tree = ParseSource(
      "#define AT(i) out[i]\n#define FOR(i, n) for (int i = 0; i < n; ++i)\n"
      "__global__ void k(float* out, int n) { FOR(j, n) AT(j) = 1.0f; out[n] = 2.0f; }\n");
  int elements = 0;
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind_name != "ArraySubscriptExpr") continue;
    ++elements;
    EXPECT_THAT(node.children, SizeIs(2));
  }
  EXPECT_EQ(elements, 1);
  EXPECT_GE(NodeWith(tree, "UnexposedExpr", "AT(j)"), 0);
}

TEST(SyntaxParser, MacroCallsListWhatTheyName) {
  const SyntaxTree tree = ParseSource(
      "#define PUT(x, y) x = (y)\n#define TWO 2\n#define FOUR (TWO * kTwo)\nconstexpr int kTwo = 2;\n"
      "__device__ int f(int a, int b) { PUT(a, b); return FOUR; }\n");
  const SyntaxNode& put = tree.node(NodeWith(tree, "BinaryOperator", "PUT"));
  EXPECT_TRUE(put.opaque);
  EXPECT_THAT(put.hidden, SizeIs(2));
  const SyntaxNode& four = tree.node(NodeWith(tree, "ParenExpr", "FOUR"));
  EXPECT_FALSE(four.opaque) << "contains only constants";
  EXPECT_THAT(four.hidden, SizeIs(1));
}

TEST(SyntaxParser, TemplatesAreOneNode) {
  const SyntaxTree tree = ParseSource(
      "template <int D>\n__device__ int F(int x) { return x * D; }\n__device__ int g(int x) { return F<1>(x) + F<2>(x); }\n");
  EXPECT_THAT(tree.node(0).children, SizeIs(2));
  EXPECT_EQ(tree.node(tree.node(NodeWith(tree, "DeclRefExpr", "F<2>")).refers_to).kind_name, "FunctionTemplate");
}

TEST(SyntaxParser, NamesReferToDeclarations) {
  const SyntaxTree tree = ParseSource(kKernel);
  const int sum = NodeWith(tree, "DeclRefExpr", "sum");
  ASSERT_GE(sum, 0);
  EXPECT_EQ(tree.Text(tree.node(sum).refers_to), "float sum = 0.0f");
  EXPECT_EQ(tree.node(tree.node(NodeWith(tree, "DeclRefExpr", "Square")).refers_to).kind_name, "FunctionDecl");
  EXPECT_EQ(tree.node(NodeWith(tree, "DeclRefExpr", "__half2float")).refers_to, -1);
}

TEST(SyntaxParser, ReadsAreMarked) {
  const SyntaxTree tree = ParseSource(kKernel);
  EXPECT_TRUE(tree.node(NodeWith(tree, "ArraySubscriptExpr", "in[i]")).converted);
  EXPECT_FALSE(tree.node(NodeWith(tree, "ArraySubscriptExpr", "out[0]")).converted);
  EXPECT_EQ(tree.node(NodeWith(tree, "ArraySubscriptExpr", "in[i]")).type, "const float");
}

TEST(SyntaxParser, OperatorsAreRead) {
  const SyntaxTree tree = ParseSource(kKernel);
  EXPECT_EQ(tree.Operator(NodeWith(tree, "CompoundAssignOperator", "sum")), "+=");
  EXPECT_EQ(tree.Operator(NodeWith(tree, "BinaryOperator", "sum > N")), ">");
  EXPECT_EQ(tree.Operator(NodeWith(tree, "UnaryOperator", "-sum")), "-");
  EXPECT_EQ(tree.Operator(NodeWith(tree, "CallExpr", "Square")), "");
  const SyntaxTree postfix = ParseSource("__device__ void f(int i) { i++; --i; }");
  EXPECT_EQ(postfix.Operator(NodeWith(postfix, "UnaryOperator", "i++")), "++");
  EXPECT_EQ(postfix.Operator(NodeWith(postfix, "UnaryOperator", "--i")), "--");
}

TEST(SyntaxParser, ErrorsHaveLineNumbersOfTheText) {
  const SyntaxTree tree = ParseSource("#include <cuda_fp16.h>\n\n__global__ void k() { nothing = 1; }\n");
  ASSERT_THAT(tree.errors(), SizeIs(1));
  EXPECT_THAT(tree.errors()[0], testing::StartsWith("3:23: "));
  EXPECT_THAT(tree.errors()[0], HasSubstr("nothing"));
  EXPECT_THAT(ParseSource("#include <no_such_header.h>\n").errors(), testing::Not(IsEmpty()));
}

TEST(SyntaxParser, BrokenTextsGiveATreeOrErrors) {
  for (const char* text : {"", "}", "__global__ void k( {", "int x = \"", "#if 1\n", "/*"}) {
    const SyntaxTree tree = ParseSource(text);
    EXPECT_FALSE(tree.nodes().empty()) << text;
  }
}

TEST(SyntaxParser, AnotherParameterCostsOnlyAReparse) {
  ParseSource(kKernel);
  const auto start = std::chrono::steady_clock::now();
  std::string text = kKernel;
  text.replace(text.find("N 32"), 4, "N 64");
  EXPECT_THAT(ParseSource("// evo:launch changed\n" + text).errors(), IsEmpty());
  // A parse takes at least 600 ms, a reparse a tenth of that. The limit leaves room for a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(550));
}

TEST(SyntaxParser, MissingHeadersAreAnError) {
  EXPECT_THROW(SyntaxParser({"/nowhere", ShareDirectory() / "clang", ShareDirectory() / "syntax"}), Error);
}

}  // namespace
}  // namespace evo
