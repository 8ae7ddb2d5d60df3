#include "core/search_space.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"

namespace evo {
namespace {

SearchSpace Example() {
  SearchSpace space;
  space.parameters = {{"BLOCK", {32, 64, 128}, 64}, {"UNROLL", {1, 2, 4}, 1}};
  space.constraints = {Expression::Parse("BLOCK * UNROLL <= 128"), Expression::Parse("BLOCK % 32 == 0")};
  return space;
}

TEST(SearchSpace, DefaultsAreTheInitialValues) { EXPECT_EQ(Example().Defaults(), (Parameters{{"BLOCK", 64}, {"UNROLL", 1}})); }

TEST(SearchSpace, NamesTheFirstConstraintThatIsNotMet) {
  EXPECT_EQ(Example().Violated({{"BLOCK", 64}, {"UNROLL", 2}}), std::nullopt);
  EXPECT_EQ(Example().Violated({{"BLOCK", 64}, {"UNROLL", 4}}), "BLOCK * UNROLL <= 128");
}

TEST(SearchSpace, AConstraintWithoutItsParameterIsAnError) { EXPECT_THROW(Example().Violated({{"BLOCK", 64}}), Error); }

TEST(SearchSpace, DrawsEveryAssignmentThatMeetsTheConstraintsAndNoOther) {
  const SearchSpace space = Example();
  Rng rng(3);
  std::set<Parameters> drawn;
  for (int i = 0; i < 500; ++i) {
    const auto values = space.Draw(rng);
    ASSERT_TRUE(values.has_value());
    EXPECT_EQ(space.Violated(*values), std::nullopt);
    drawn.insert(*values);
  }
  EXPECT_EQ(drawn.size(), 6u);  // (32; 1, 2, 4), (64; 1, 2), (128; 1)
}

TEST(SearchSpace, DrawFailsIfNothingIsLegal) {
  SearchSpace space = Example();
  space.constraints.push_back(Expression::Parse("0"));
  Rng rng(3);
  EXPECT_EQ(space.Draw(rng), std::nullopt);
}

TEST(SearchSpace, WithoutParametersDrawsTheEmptyAssignment) {
  Rng rng(3);
  EXPECT_EQ(SearchSpace{}.Draw(rng), Parameters{});
}

}  // namespace
}  // namespace evo
