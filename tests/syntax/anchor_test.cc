#include <gtest/gtest.h>

#include "tests/syntax/parsing.h"

namespace evo {
namespace {

const char* const kSource = R"(#define N 32
__global__ void kernel(const float* in, float* out) {
  float sum = 0.0f;
#pragma unroll 4
  for (int i = 0; i < N; ++i) sum += in[i];
  for (int i = 0; i < N; ++i) {
    out[i] = sum;
  }
  sum += 1.0f;
  out[0] = sum;
  sum += 1.0f;
  out[1] = sum;
}
)";

std::string Changed(const std::string& from, const std::string& to) {
  std::string text = kSource;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The text of the node that the anchor of `node` finds in another source; "none" if it finds none.
std::string FoundIn(const std::string& changed, int node) {
  const SyntaxTree tree = ParseSource(kSource);
  const SyntaxTree other = ParseSource(changed);
  const auto found = other.Find(tree.AnchorOf(node));
  return found ? std::string(other.Text(*found)) : "none";
}

TEST(Anchor, FindsEveryNodeOfItsOwnTree) {
  const SyntaxTree tree = ParseSource(kSource);
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    EXPECT_EQ(tree.Find(tree.AnchorOf(static_cast<int>(i))), static_cast<int>(i)) << tree.Text(static_cast<int>(i));
  }
}

TEST(Anchor, HasTheDocumentedFields) {
  const SyntaxTree tree = ParseSource(kSource);
  const int second = NodeWith(tree, "CompoundAssignOperator", "sum += 1.0f", 1);
  const Anchor anchor = tree.AnchorOf(second);
  EXPECT_EQ(anchor.function, "kernel");
  EXPECT_EQ(anchor.kind, "CompoundAssignOperator");
  EXPECT_EQ(anchor.tokens.size(), 16u);
  EXPECT_EQ(anchor.ordinal, 1);
  EXPECT_EQ(tree.AnchorOf(tree.node(second).function).function, "");
}

TEST(Anchor, SurvivesAnAddedDeclaration) {
  const SyntaxTree tree = ParseSource(kSource);
  const int node = NodeWith(tree, "CompoundAssignOperator", "sum += in[i]");
  EXPECT_EQ(FoundIn(Changed("  float sum", "  const int lane = threadIdx.x;\n  float sum"), node), "sum += in[i];");
}

TEST(Anchor, SurvivesARemovedPragma) {
  const SyntaxTree tree = ParseSource(kSource);
  EXPECT_EQ(FoundIn(Changed("#pragma unroll 4\n", ""), NodeWith(tree, "ForStmt", "for")).substr(0, 3), "for");
  EXPECT_EQ(FoundIn(Changed("#pragma unroll 4\n", ""), NodeWith(tree, "CompoundAssignOperator", "sum += in[i]")),
            "sum += in[i];");
}

TEST(Anchor, NamesAPragmaByItsLoop) {
  const std::string twice =
      "__device__ void f(int* a) {\n#pragma unroll\n  for (int i = 0; i < 4; ++i) a[i] = 1;\n#pragma unroll\n  for (int i = 0; i "
      "< 8; ++i) a[i] = 2;\n}\n";
  const SyntaxTree tree = ParseSource(twice);
  const int second = NodeWith(tree, "Pragma", "#pragma unroll", 1);
  ASSERT_GE(second, 0);
  EXPECT_EQ(tree.Text(second), "#pragma unroll");
  const std::string changed = std::string(twice).erase(twice.find("#pragma unroll\n"), 15);
  const SyntaxTree other = ParseSource(changed);
  const auto found = other.Find(tree.AnchorOf(second));
  ASSERT_TRUE(found);
  EXPECT_EQ(other.node(*found).range.begin, changed.find("#pragma"));
}

TEST(Anchor, SurvivesAChangeInTheBodyOfItsLoop) {
  const SyntaxTree tree = ParseSource(kSource);
  const int loop = NodeWith(tree, "ForStmt", "for", 1);
  EXPECT_NE(FoundIn(Changed("out[i] = sum;", "out[i] = 2 * sum;"), loop).find("2 * sum"), std::string::npos);
}

TEST(Anchor, OfABlockIsLostByAChangeInIt) {
  const SyntaxTree tree = ParseSource(kSource);
  const int block = tree.node(NodeWith(tree, "ForStmt", "for", 1)).children.back();
  ASSERT_EQ(tree.node(block).kind_name, "CompoundStmt");
  EXPECT_EQ(FoundIn(Changed("out[i] = sum;", "out[i] = 2 * sum;"), block), "none");
}

TEST(Anchor, SurvivesParametersAndCommentsAndLayout) {
  const SyntaxTree tree = ParseSource(kSource);
  const int node = NodeWith(tree, "BinaryOperator", "i < N");
  EXPECT_EQ(FoundIn(Changed("#define N 32", "#define N 64"), node), "i < N");
  EXPECT_EQ(FoundIn(Changed("i < N", "i   <  /* all */ N"), node), "i   <  /* all */ N");
}

TEST(Anchor, NeighboursDistinguishEqualNodes) {
  // The first of two equal statements is removed. The anchor of the second must still find it, and that of the first must find
  // nothing.
  const SyntaxTree tree = ParseSource(kSource);
  const std::string changed = Changed("  sum += 1.0f;\n  out[0] = sum;\n", "  sum += 1.0f;\n  sum += 1.0f;\n  out[0] = sum;\n");
  const SyntaxTree other = ParseSource(changed);
  const auto found = other.Find(tree.AnchorOf(NodeWith(tree, "CompoundAssignOperator", "sum += 1.0f", 1)));
  ASSERT_TRUE(found);
  EXPECT_EQ(other.node(*found).range.begin, changed.rfind("sum += 1.0f"));
}

TEST(Anchor, ChangedTokensFunctionOrKindAreNotFound) {
  const SyntaxTree tree = ParseSource(kSource);
  const int node = NodeWith(tree, "CompoundAssignOperator", "sum += in[i]");
  EXPECT_EQ(FoundIn(Changed("sum += in[i]", "sum += 2 * in[i]"), node), "none");
  EXPECT_EQ(FoundIn(Changed("void kernel", "void other"), node), "none");
  Anchor anchor = tree.AnchorOf(node);
  anchor.kind = "CallExpr";
  EXPECT_EQ(tree.Find(anchor), std::nullopt);
}

TEST(Anchor, AmbiguousIsNotFound) {
  const SyntaxTree tree = ParseSource("__device__ void f(int& a) { a += 1; a += 1; a += 1; a += 1; a += 1; }");
  Anchor anchor = tree.AnchorOf(NodeWith(tree, "CompoundAssignOperator", "a += 1", 2));
  EXPECT_TRUE(tree.Find(anchor));
  anchor.ordinal = 9;
  anchor.path = {7, 7};
  EXPECT_EQ(tree.Find(anchor), std::nullopt);
}

TEST(Anchor, CodeThatTheParametersRemoveCannotBeAnchored) {
  const SyntaxTree with = ParseSource("#define N 1\n__device__ void f(int& a) {\n#if N\n  a = 2;\n#endif\n}\n");
  const SyntaxTree without = ParseSource("#define N 0\n__device__ void f(int& a) {\n#if N\n  a = 2;\n#endif\n}\n");
  EXPECT_EQ(without.Find(with.AnchorOf(NodeWith(with, "BinaryOperator", "a = 2"))), std::nullopt);
}

}  // namespace
}  // namespace evo
