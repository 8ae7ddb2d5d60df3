#include "engine/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/rng.h"
#include "engine/population_kinds.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

// Every combination of `parameters` parameters with `values` values each that has a score.
Landscape Grid(int parameters, int values, const std::function<double(const std::vector<int>&)>& score,
               FeatureKind kind = FeatureKind::kOrdinal) {
  std::vector<LandscapeParameter> declared;
  for (int d = 0; d < parameters; ++d) {
    LandscapeParameter& one = declared.emplace_back();
    one.name = std::string(1, static_cast<char>('a' + d));
    one.kind = kind;
    for (int v = 0; v < values; ++v) one.values.push_back(std::to_string(v));
  }
  std::vector<std::vector<int>> levels;
  std::vector<double> scores;
  for (int code = 0; code < std::pow(values, parameters); ++code) {
    std::vector<int> point;
    for (int rest = code, d = 0; d < parameters; ++d, rest /= values) point.push_back(rest % values);
    levels.push_back(point);
    scores.push_back(score(point));
  }
  return MakeLandscape(std::move(declared), std::move(levels), std::move(scores));
}

double Smooth(const std::vector<int>& x) {
  return 100 * std::exp(0.1 * (x[0] - 3) * (x[0] - 3) + 0.07 * (x[1] - 1) * (x[1] - 1) + 0.04 * x[2] + 0.1 * (x[3] != 2));
}

double Chance(const std::vector<int>& x) {
  std::uint64_t key = 1;
  for (const int level : x) key = 31 * key + static_cast<std::uint64_t>(level);
  return 100 * std::exp(Rng(key).Uniform());
}

double Rough(const std::vector<int>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j)
      sum += Rng(7, 10 * i + j, static_cast<std::uint64_t>(10 * x[i] + x[j])).Uniform();
  }
  return 100 * std::exp(0.4 * sum);
}

double MostlyFailing(const std::vector<int>& x) { return (x[0] + x[1] > 5 || x[2] == x[3]) ? kFailed : Smooth(x); }

LandscapeSearchOptions Options(int evaluations, bool surrogate, const std::string& kind = "elitist") {
  LandscapeSearchOptions options;
  options.evaluations = evaluations;
  options.surrogate = surrogate;
  options.population_kind = kind;
  options.stop_at_optimum = false;
  return options;
}

double MeanAt(const Landscape& landscape, LandscapeSearchOptions options, int seeds) {
  return Study(landscape, options, seeds, 2).back().mean;
}

double Random(const Landscape& landscape, int evaluations, int seeds) {
  LandscapeSearchOptions options = Options(evaluations, false);
  options.random = true;
  return MeanAt(landscape, options, seeds);
}

TEST(SearchLandscape, NeverEvaluatesAPointTwiceAndEndsWithAll) {
  const Landscape landscape = Grid(4, 3, MostlyFailing);
  for (const std::string& kind : PopulationKinds()) {
    for (const bool surrogate : {true, false}) {
      const std::vector<std::size_t> order = SearchLandscape(landscape, Options(1000, surrogate, kind));
      EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), order.size());
      EXPECT_THAT(order, SizeIs(landscape.size()));
    }
  }
}

TEST(SearchLandscape, DependsOnlyOnTheSeed) {
  const Landscape landscape = Grid(4, 6, Rough);
  for (const std::string& kind : PopulationKinds()) {
    for (const bool surrogate : {true, false}) {
      LandscapeSearchOptions options = Options(45, surrogate, kind);
      const std::vector<std::size_t> once = SearchLandscape(landscape, options);
      EXPECT_EQ(SearchLandscape(landscape, options), once);
      options.seed = 2;
      EXPECT_NE(SearchLandscape(landscape, options), once);
    }
  }
}

TEST(SearchLandscape, EndsAtTheOptimumIfAsked) {
  const Landscape landscape = Grid(4, 5, Smooth);
  LandscapeSearchOptions options = Options(600, true);
  options.stop_at_optimum = true;
  const std::vector<std::size_t> order = SearchLandscape(landscape, options);
  EXPECT_LT(order.size(), 100U);
  EXPECT_EQ(landscape.scores[order.back()], landscape.optimum);
}

TEST(SearchLandscape, SearchesOnePointAndOneOkPoint) {
  const Landscape one = MakeLandscape({}, {{}}, {5});
  EXPECT_THAT(SearchLandscape(one, Options(10, true)), ElementsAre(0));
  const Landscape few = Grid(2, 4, [](const std::vector<int>& x) { return x[0] == 3 && x[1] == 3 ? 7 : kFailed; });
  EXPECT_THAT(SearchLandscape(few, Options(16, true)), SizeIs(16));
}

TEST(BestOf, SkipsFailedPoints) {
  const Landscape landscape = MakeLandscape({}, {{0}, {1}, {2}}, {kFailed, 9, 4});
  EXPECT_EQ(BestOf(landscape, {0, 1, 2}, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(BestOf(landscape, {0, 1, 2}, 2), 9);
  EXPECT_EQ(BestOf(landscape, {0, 1, 2}, 200), 4);
}

TEST(Checkpoints, EndWithTheRequestedBudget) {
  EXPECT_THAT(Checkpoints(200), ElementsAre(20, 50, 100, 200));
  EXPECT_THAT(Checkpoints(70), ElementsAre(20, 50, 70));
  EXPECT_THAT(Checkpoints(500), ElementsAre(20, 50, 100, 200, 500));
  EXPECT_THAT(Checkpoints(7), ElementsAre(7));
}

TEST(Study, IsIndependentOfTheThreadCountAndCanBeStopped) {
  const Landscape landscape = Grid(4, 5, Rough);
  const std::vector<StudyPoint> alone = Study(landscape, Options(60, false), 9, 1),
                                together = Study(landscape, Options(60, false), 9, 4);
  ASSERT_THAT(alone, SizeIs(3));
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].mean, together[i].mean);
    EXPECT_EQ(alone[i].percentile10, together[i].percentile10);
    EXPECT_LE(alone[i].percentile10, alone[i].mean + 1e-12);
    EXPECT_EQ(alone[i].reached, together[i].reached);
  }
  EXPECT_THAT(Study(landscape, Options(60, false), 9, 2, [] { return true; }), IsEmpty());
}

TEST(Study, GivesTheStandardErrorOfTheMean) {
  const Landscape landscape = MakeLandscape({}, {{0}, {1}}, {2, 1});
  // Two of four seeds find the better point, the others get half of it.
  const auto search = [](std::uint64_t seed) { return std::vector<std::size_t>{seed % 2}; };
  const StudyPoint point = Study(landscape, 1, search, 1, 4, 1).back();
  EXPECT_THAT(point.reached, ElementsAre(1, 0.5, 1, 0.5));
  EXPECT_EQ(point.mean, 0.75);
  EXPECT_NEAR(point.standard_error, std::sqrt(4 * 0.0625 / 3 / 4), 1e-12);
  EXPECT_EQ(Study(landscape, 1, search, 1, 1, 1).back().standard_error, 0);
}

// What the search is for: better than chance wherever there is something to learn, with each population and with the surrogate
// better still.
TEST(Study, TheSurrogateImprovesOnRandomSearchOnAStructuredSpace) {
  for (const auto& score : {Smooth, Rough, MostlyFailing}) {
    const Landscape landscape = Grid(4, 6, score);
    const double random = Random(landscape, 50, 200);
    for (const std::string& kind : PopulationKinds()) {
      if (kind == "random") continue;
      EXPECT_GT(MeanAt(landscape, Options(50, false, kind), 60), random) << kind;
    }
    EXPECT_GT(MeanAt(landscape, Options(50, true), 16), random + 0.25 * (1 - random));
  }
}

TEST(Study, TheSurrogateLearnsFromCategoricalParameters) {
  const Landscape landscape = Grid(4, 5, Rough, FeatureKind::kCategorical);
  EXPECT_GT(MeanAt(landscape, Options(50, true), 16), MeanAt(landscape, Options(50, false), 100));
}

// And not worse where there is nothing.
TEST(Study, TheSurrogateIsNoWorseThanRandomSearchOnNoise) {
  const Landscape landscape = Grid(4, 6, Chance);
  EXPECT_THAT(MeanAt(landscape, Options(60, true), 40), Ge(Random(landscape, 60, 300) - 0.02));
}

}  // namespace
}  // namespace evo
