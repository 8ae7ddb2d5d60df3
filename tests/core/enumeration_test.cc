#include "core/enumeration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "core/error.h"

namespace evo {
namespace {

SearchSpace Space(std::vector<Parameter> parameters, const std::vector<std::string>& constraints) {
  SearchSpace space;
  space.parameters = std::move(parameters);
  for (const std::string& constraint : constraints) space.constraints.push_back(Expression::Parse(constraint));
  return space;
}

// All legal assignments in the documented order, each checked when complete.
std::vector<Parameters> BruteForce(const SearchSpace& space) {
  std::vector<Parameters> all{{}};
  for (const Parameter& parameter : space.parameters) {
    std::vector<Parameters> longer;
    for (const Parameters& begun : all) {
      for (const std::int64_t value : parameter.values) {
        longer.push_back(begun);
        longer.back()[parameter.name] = value;
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Parameters& values) { return space.Violated(values).has_value(); });
  return all;
}

void ExpectAsBruteForce(const SearchSpace& space) {
  const Enumeration enumeration(space);
  const std::vector<Parameters> expected = BruteForce(space);
  ASSERT_EQ(enumeration.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(enumeration.At(i), expected[i]) << i;
}

TEST(Enumeration, HasEveryLegalAssignmentOnceAndInOrder) {
  const SearchSpace space =
      Space({{"TILE", {16, 32, 64, 128}, 32}, {"ITEMS", {1, 2, 4, 8}, 1}, {"VECTOR", {1, 2, 4}, 1}, {"STAGES", {1, 2, 3}, 1}},
            {"ITEMS % VECTOR == 0", "TILE / ITEMS >= 16", "TILE * STAGES <= 256", "VECTOR == 1 || STAGES > 1"});
  ExpectAsBruteForce(space);
  const Enumeration enumeration(space);
  std::set<Parameters> different;
  for (std::size_t i = 0; i < enumeration.size(); ++i) different.insert(enumeration.At(i));
  EXPECT_EQ(different.size(), enumeration.size());
  EXPECT_GT(enumeration.size(), 10u);
}

TEST(Enumeration, HandlesSpacesWithoutConstraintsParametersOrSolutions) {
  ExpectAsBruteForce(Space({{"A", {3, 5}, 3}, {"B", {7}, 7}}, {}));
  ExpectAsBruteForce(Space({{"A", {3, 5}, 3}}, {"A > 5"}));
  ExpectAsBruteForce(Space({{"A", {3, 5}, 3}}, {"1 > 2"}));
  const Enumeration none(Space({}, {}));
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none.At(0), Parameters{});
}

// The parameters of the second constraint have values first, but it must not be evaluated before the first one, which guards it.
TEST(Enumeration, AConstraintGuardsLaterOnes) {
  ExpectAsBruteForce(Space({{"A", {0, 1, 2}, 1}, {"B", {0, 1}, 1}}, {"A > B", "4 / A == 4"}));
  ExpectAsBruteForce(Space({{"A", {0, 1, 2}, 1}, {"B", {0, 1}, 1}}, {"A == 0 || 4 / A == 4"}));
}

TEST(Enumeration, AConstraintThatCannotBeEvaluatedIsAnError) {
  EXPECT_THROW(Enumeration(Space({{"A", {0, 1}, 1}}, {"4 / A == 4"})), Error);
  EXPECT_THROW(Enumeration(Space({{"A", {0, 1}, 1}}, {"NOSUCH > 0"})), Error);
}

std::vector<Parameter> Many(int count, int values) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < count; ++i) {
    Parameter parameter{"P" + std::to_string(i), {}, 1};
    for (int v = 1; v <= values; ++v) parameter.values.push_back(v);
    parameters.push_back(parameter);
  }
  return parameters;
}

TEST(Enumeration, RefusesSpacesTooLargeToSweep) {
  EXPECT_THROW(Enumeration(Space(Many(20, 16), {})), Error);
  EXPECT_THROW(Enumeration(Space(Many(14, 4), {})), Error);
}

// 2^40 combinations of which 41 are legal. All others are pruned by their first parameters.
TEST(Enumeration, PrunesIllegalPrefixes) {
  std::vector<std::string> ascending;
  for (int i = 1; i < 40; ++i) ascending.push_back("P" + std::to_string(i - 1) + " <= P" + std::to_string(i));
  EXPECT_EQ(Enumeration(Space(Many(40, 2), ascending)).size(), 41u);
}

TEST(Enumeration, AMillionTakesSeconds) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Enumeration(Space(Many(6, 10), {"P0 > 0", "P4 + P5 > 0"})).size(), 1'000'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace evo
