#include "kernel_templates/generator.h"

#include <gmock/gmock.h>

#include <string>

#include "core/error.h"

namespace evo {
namespace {

std::string Failure(const std::string& text) {
  try {
    ParseGenerator(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Generator, ParsesEveryKind) {
  EXPECT_EQ(ParseGenerator("normal").kind, Generator::Kind::kNormal);
  EXPECT_EQ(ParseGenerator("normal").b, 1);
  const Generator wide = ParseGenerator("normal(-2, 4.5)");
  EXPECT_EQ(wide.a, -2);
  EXPECT_EQ(wide.b, 4.5);
  const Generator uniform = ParseGenerator("uniform(-1,1)");
  EXPECT_EQ(uniform.kind, Generator::Kind::kUniform);
  EXPECT_EQ(uniform.a, -1);
  EXPECT_EQ(uniform.b, 1);
  EXPECT_EQ(uniform.text, "uniform(-1,1)");
  EXPECT_EQ(ParseGenerator("constant(0.5)").a, 0.5);
  EXPECT_EQ(ParseGenerator("one_hot").kind, Generator::Kind::kOneHot);
  EXPECT_EQ(ParseGenerator("sparse(0.1)").a, 0.1);
  EXPECT_EQ(ParseGenerator("log_uniform(1e-3,1e3)").kind, Generator::Kind::kLogUniform);
  EXPECT_EQ(ParseGenerator("log_uniform(1e-3,1e3)").b, 1000);
  EXPECT_EQ(ParseGenerator("cauchy(2)").a, 2);
  EXPECT_EQ(ParseGenerator("permutation").kind, Generator::Kind::kPermutation);
  const Generator index = ParseGenerator("index<V * 2");
  EXPECT_EQ(index.kind, Generator::Kind::kIndex);
  EXPECT_EQ(index.bound.EvaluateInteger({{"V", Number::Integer(5)}}), 10);
  EXPECT_EQ(ParseGenerator("offsets<NNZ + 1").kind, Generator::Kind::kOffsets);
}

TEST(Generator, RejectsMalformedTexts) {
  EXPECT_THAT(Failure("gaussian"), testing::StartsWith("no generator 'gaussian'; there are normal, "));
  EXPECT_THAT(Failure("uniform"), testing::StartsWith("'uniform' is not one of normal, "));
  EXPECT_THAT(Failure("uniform(1)"), testing::StartsWith("'uniform(1)' is not one of"));
  EXPECT_THAT(Failure("normal(1)"), testing::StartsWith("'normal(1)' is not one of"));
  EXPECT_THAT(Failure("one_hot(3)"), testing::StartsWith("'one_hot(3)' is not one of"));
  EXPECT_THAT(Failure("normal()"), testing::StartsWith("'normal()' is not one of"));
  EXPECT_EQ(Failure("uniform(1,1)"), "'uniform(1,1)': low must be below high");
  EXPECT_EQ(Failure("normal(0,0)"), "'normal(0,0)': the deviation must be positive");
  EXPECT_EQ(Failure("sparse(2)"), "'sparse(2)': the share of non-zeros must be greater than 0 and at most 1");
  EXPECT_EQ(Failure("log_uniform(0,1)"), "'log_uniform(0,1)': low must be above 0 and below high");
  EXPECT_EQ(Failure("log_uniform(2,1)"), "'log_uniform(2,1)': low must be above 0 and below high");
  EXPECT_EQ(Failure("cauchy(0)"), "'cauchy(0)': the scale must be positive");
  EXPECT_EQ(Failure("index"), "'index': write index<BOUND");
  EXPECT_EQ(Failure("index<"), "expression '', column 1: a value expected, found the end");
  EXPECT_THAT(Failure("uniform(a,1)"), testing::HasSubstr("nothing is named 'a'"));
}

TEST(Generator, HasACanonicalText) {
  EXPECT_EQ(ToText(ParseGenerator("normal")), "normal(0,1)");
  EXPECT_EQ(ToText(ParseGenerator("log_uniform( 1e-3, 1e3 )")), "log_uniform(0.001,1000)");
  for (const std::string text : {"normal(-2,4.5)", "uniform(-1,1e+20)", "constant(-3)", "one_hot", "sparse(0.1)",
                                 "cauchy(1e-310)", "log_uniform(1e-06,1)", "index<V * 2", "permutation", "offsets<NNZ + 1"})
    EXPECT_EQ(ToText(ParseGenerator(text)), text);
}

TEST(Generator, FitsTheTypesOfItsKind) {
  EXPECT_TRUE(Fits(Generator::Kind::kNormal, Dtype::kBF16));
  EXPECT_FALSE(Fits(Generator::Kind::kNormal, Dtype::kI32));
  EXPECT_TRUE(Fits(Generator::Kind::kIndex, Dtype::kI32));
  EXPECT_FALSE(Fits(Generator::Kind::kIndex, Dtype::kF32));
  EXPECT_TRUE(Fits(Generator::Kind::kCauchy, Dtype::kF16));
  EXPECT_FALSE(Fits(Generator::Kind::kLogUniform, Dtype::kI32));
  EXPECT_TRUE(Fits(Generator::Kind::kOneHot, Dtype::kU8));
}

TEST(Dtype, EveryNameParsesToItsDtype) {
  for (int i = 0; i <= static_cast<int>(Dtype::kU8); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(ParseDtype(ToString(dtype)), dtype);
  }
  EXPECT_EQ(ByteSize(Dtype::kBF16), 2u);
  EXPECT_EQ(ByteSize(Dtype::kU64), 8u);
  EXPECT_TRUE(IsFloating(Dtype::kF16));
  EXPECT_FALSE(IsFloating(Dtype::kI8));
  EXPECT_EQ(ParseDtype("float"), std::nullopt);
}

}  // namespace
}  // namespace evo
