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

TEST(SearchSpace, OfAGenomeHasWhatItsEditsBring) {
  SearchSpace of_template;
  of_template.parameters = {{"A", {1, 2}, 1}};
  Genome genome;
  genome.edits.emplace_back().brings = {{"B", {4, 8}, 8}};
  genome.edits.back().constraints = {"A * B == 8"};
  const SearchSpace space = SpaceOf(of_template, genome);
  EXPECT_EQ(space.Defaults(), (Parameters{{"A", 1}, {"B", 8}}));
  EXPECT_EQ(space.Violated({{"A", 2}, {"B", 8}}), "A * B == 8");
  EXPECT_EQ(space.Violated({{"A", 2}, {"B", 4}}), std::nullopt);
  EXPECT_EQ(SpaceOf(of_template, {}).parameters.size(), 1u);
}

}  // namespace
}  // namespace evo
