#include "mutators/analysis/thread_runs/thread_arithmetic.h"

#include <gmock/gmock.h>

#include "mutators/analysis/source/source_query.h"
#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::Pair;

// The forms and texts of what threads of a kernel compute from `n`, `row` and `threadIdx.x`.
class ThreadArithmeticTest : public testing::Test {
 protected:
  ThreadArithmeticTest()
      : parent(
            PlainKernel("  const int row = blockIdx.x * blockDim.x + threadIdx.x;\n  const int blocks = n / 4;\n  int m = n;\n  "
                        "m += 1;\n  out[row] = blocks + m;\n",
                        "float* out, int n, float scale")),
        symbols(*parent.tree, Functions(*parent.tree).front(), Declared("row")),
        arithmetic(symbols, setting, trace) {}

  int Declared(const std::string& name) const {
    for (int node = 0; node < static_cast<int>(parent.tree->nodes().size()); ++node) {
      const SyntaxNode& one = parent.tree->node(node);
      if (one.name == name && (one.kind_name == "VarDecl" || one.kind_name == "ParmDecl")) return node;
    }
    return -1;
  }
  ThreadValue Integer(const std::string& name, std::int64_t value) const {
    return ThreadValue::Integer(value, SharedForm(AffineForm::Symbol(Declared(name))));
  }

  const Parent parent;
  ThreadTrace trace;
  ThreadSymbols symbols;
  ThreadSetting setting;
  ThreadArithmetic arithmetic;
};

TEST_F(ThreadArithmeticTest, FollowsPolynomialsOfParametersAndRows) {
  const ThreadValue n = Integer("n", 7), row = Integer("row", 3);
  const ThreadValue index =
      arithmetic.Combined(IntegerOperator("+"), arithmetic.Combined(IntegerOperator("*"), row, n), ThreadValue::Integer(2));
  EXPECT_EQ(index.integer, 23);
  EXPECT_EQ(symbols.TextOf(*index.form), "2 + n * row");
  EXPECT_EQ(symbols.TextOf(*index.form, true), "2 + (long long)n * row");
  EXPECT_FALSE(symbols.IsUniform(*index.form));
  EXPECT_TRUE(symbols.IsUniform(*n.form));
}

TEST_F(ThreadArithmeticTest, NamesWhatIsNoPolynomial) {
  const ThreadValue n = Integer("n", 7), row = Integer("row", 3);
  const ThreadValue half = arithmetic.Combined(IntegerOperator("/"), n, ThreadValue::Integer(2));
  EXPECT_EQ(half.integer, 3);
  EXPECT_EQ(symbols.TextOf(*half.form), "(n / (2))");
  EXPECT_TRUE(symbols.IsUniform(*half.form));
  EXPECT_THAT(symbols.PlainSymbols(*half.form), ElementsAre(Declared("n")));
  EXPECT_FALSE(symbols.IsUniform(*arithmetic.Combined(IntegerOperator("%"), row, n).form));
  EXPECT_EQ(arithmetic.Combined(IntegerOperator("/"), n, ThreadValue::Integer(0)).kind, ThreadValue::Kind::kNone);
}

TEST_F(ThreadArithmeticTest, NotesWhatDecides) {
  EXPECT_EQ(arithmetic.Combined(IntegerOperator("<"), Integer("row", 3), Integer("n", 7)).integer, 1);
  EXPECT_THAT(trace.deciding, ElementsAre(std::min(Declared("row"), Declared("n")), std::max(Declared("row"), Declared("n"))));
  EXPECT_THAT(trace.compared, ElementsAre(Pair("n", testing::_)));
}

TEST_F(ThreadArithmeticTest, NotesByWhatDataIsMultipliedAndWhetherItIsRounded) {
  const ThreadValue data = ThreadValue::Real(0.5), scale = ThreadValue::Real(2, SharedText("scale"));
  const ThreadValue product = arithmetic.Combined(IntegerOperator("*"), data, scale);
  EXPECT_EQ(product.real, 1);
  EXPECT_EQ(product.text, nullptr);
  EXPECT_THAT(trace.factors, ElementsAre(Pair("scale", 2)));
  EXPECT_EQ(*arithmetic.Called(ThreadCallee("exp2f"), {scale}).text, "exp2f(scale)");
  EXPECT_TRUE(trace.base_two);
  EXPECT_FALSE(trace.rounded);
  arithmetic.Called(ThreadCallee("__float2half"), {product});
  EXPECT_TRUE(trace.rounded);
  EXPECT_EQ(arithmetic.Called(ThreadCallee("tanf"), {data}).kind, ThreadValue::Kind::kNone);
}

TEST_F(ThreadArithmeticTest, KnowsWhichVariablesAreConstantsOfTheBlock) {
  EXPECT_THAT(symbols.block_constants(), ElementsAre(Declared("blocks")));
}

}  // namespace
}  // namespace evo
