#include "engine/population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/selection.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Candidate CandidateNumber(CandidateId id) {
  Candidate candidate;
  candidate.id = id;
  candidate.genome = testing::GenomeAt(id);
  return candidate;
}

Evaluation Took(double score_ns, const std::string& image) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.score_ns = score_ns;
  evaluation.program_digest = image;
  return evaluation;
}

std::vector<CandidateId> Ids(const Population& population) {
  std::vector<CandidateId> ids;
  for (const Individual& member : population.members()) ids.push_back(member.candidate.id);
  return ids;
}

TEST(ElitistPopulation, KeepsTheFastestSortedByTime) {
  ElitistPopulation population(3);
  population.Survive({CandidateNumber(1), CandidateNumber(2)}, {Took(50, "a"), Took(40, "b")});
  EXPECT_THAT(Ids(population), ElementsAre(2, 1));
  population.Survive({CandidateNumber(3), CandidateNumber(4), CandidateNumber(5)}, {Took(60, "c"), Took(30, "d"), Took(45, "e")});
  EXPECT_THAT(Ids(population), ElementsAre(4, 2, 5));
  EXPECT_EQ(population.members().front().score_ns, 30);
}

TEST(ElitistPopulation, BreaksTiesById) {
  ElitistPopulation population(2);
  population.Survive({CandidateNumber(1), CandidateNumber(2), CandidateNumber(3)}, {Took(40, "a"), Took(40, "b"), Took(40, "c")});
  EXPECT_THAT(Ids(population), ElementsAre(1, 2));
}

TEST(ElitistPopulation, KeepsOnlyCandidatesWithStatusOk) {
  ElitistPopulation population(10);
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  for (int i = 0; i <= static_cast<int>(Outcome::kCancelled); ++i) {
    candidates.push_back(CandidateNumber(i + 1));
    evaluations.push_back(Took(10, std::to_string(i)));
    evaluations.back().outcome = static_cast<Outcome>(i);
  }
  population.Survive(candidates, evaluations);
  EXPECT_THAT(Ids(population), ElementsAre(1));
}

TEST(ElitistPopulation, HoldsEqualBinariesOnce) {
  ElitistPopulation population(4);
  population.Survive({CandidateNumber(1), CandidateNumber(2)}, {Took(50, "a"), Took(40, "a")});
  EXPECT_THAT(Ids(population), ElementsAre(1)) << "a luckier clock does not make a copy better";
  population.Survive({CandidateNumber(3)}, {Took(10, "a")});
  EXPECT_THAT(Ids(population), ElementsAre(1));
}

TEST(ElitistPopulation, RejectsACopyOfACandidateThatWasDisplaced) {
  ElitistPopulation population(1);
  population.Survive({CandidateNumber(1), CandidateNumber(2)}, {Took(50, "a"), Took(40, "b")});
  population.Survive({CandidateNumber(3)}, {Took(39, "a")});
  EXPECT_THAT(Ids(population), ElementsAre(2));
}

std::vector<Individual> Members(int count) {
  std::vector<Individual> members;
  for (int i = 1; i <= count; ++i) members.push_back({CandidateNumber(i), static_cast<double>(i)});
  return members;
}

TEST(Selection, DependsOnlyOnItsArguments) {
  const std::vector<Individual> members = Members(9);
  std::set<std::vector<CandidateId>> by_index;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const Parents once = SelectParents(members, 2, 3, 4, index);
    EXPECT_EQ(once.ids, SelectParents(members, 2, 3, 4, index).ids);
    by_index.insert(once.ids);
  }
  EXPECT_GT(by_index.size(), 10U) << "children have different parents";
}

TEST(Selection, NeverSelectsOneParentTwice) {
  for (int count : {2, 3, 9}) {
    const std::vector<Individual> members = Members(count);
    for (std::uint64_t index = 0; index < 500; ++index) {
      const Parents parents = SelectParents(members, 2, 1, 1, index);
      ASSERT_THAT(parents.ids, SizeIs(2));
      EXPECT_NE(parents.ids[0], parents.ids[1]);
      ASSERT_THAT(parents.genomes, SizeIs(2));
      EXPECT_EQ(parents.genomes[0], testing::GenomeAt(parents.ids[0]));
      EXPECT_EQ(parents.genomes[1], testing::GenomeAt(parents.ids[1]));
    }
  }
}

TEST(Selection, SelectsTheOnlyMember) { EXPECT_THAT(SelectParents(Members(1), 2, 1, 2, 3).ids, ElementsAre(1)); }

TEST(Selection, IsUniformIfTheTournamentHasSizeOne) {
  const std::vector<Individual> members = Members(4);
  std::map<CandidateId, int> first;
  constexpr int kDraws = 4000;
  for (std::uint64_t index = 0; index < kDraws; ++index) ++first[SelectParents(members, 1, 5, 1, index).ids[0]];
  for (CandidateId id = 1; id <= 4; ++id) EXPECT_NEAR(first[id], kDraws / 4, kDraws / 40) << id;
}

TEST(RandomPopulation, KeepsEveryOkCandidateAndPrefersNone) {
  RandomPopulation population;
  EXPECT_EQ(population.TournamentSize(), 1);
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  for (std::int64_t x = 1; x <= 300; ++x) {
    Candidate candidate;
    candidate.id = x;
    candidate.genome = testing::GenomeAt(x);
    candidates.push_back(candidate);
    evaluations.push_back(testing::EvaluationAt(x));
  }
  population.Survive(candidates, evaluations);
  std::set<std::string> programs;
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.outcome == Outcome::kOk) programs.insert(evaluation.program_digest);
  }
  EXPECT_THAT(population.members(), SizeIs(programs.size()));
  EXPECT_TRUE(std::is_sorted(population.members().begin(), population.members().end(), Precedes));
}

TEST(Selection, PrefersFastMembersAndSelectsEachSometimes) {
  const std::vector<Individual> members = Members(4);
  std::map<CandidateId, int> first;
  constexpr int kDraws = 4000;
  for (std::uint64_t index = 0; index < kDraws; ++index) ++first[SelectParents(members, 2, 5, 1, index).ids[0]];
  // The best of two uniform draws among four: 7, 5, 3 and 1 sixteenths.
  const int expected[] = {7, 5, 3, 1};
  for (CandidateId id = 1; id <= 4; ++id) EXPECT_NEAR(first[id], kDraws * expected[id - 1] / 16, kDraws / 40) << id;
}

// What a child costs is about what its parent cost.
TEST(Selection, GivesMembersEqualCompileTime) {
  std::vector<Individual> members = Members(4);
  const double costs[] = {100, 400, 200, 200};  // median 200
  for (std::size_t i = 0; i < members.size(); ++i) members[i].compile_ms = costs[i];
  std::map<CandidateId, int> first, second;
  constexpr int kDraws = 9000;
  for (std::uint64_t index = 0; index < kDraws; ++index) {
    const Parents parents = SelectParents(members, 1, 5, 1, index);
    ++first[parents.ids[0]];
    ASSERT_NE(parents.ids[0], parents.ids[1]);
    if (parents.ids[0] == 3) ++second[parents.ids[1]];
  }
  const double shares[] = {2 / 4.5, 0.5 / 4.5, 1 / 4.5, 1 / 4.5};
  for (CandidateId id = 1; id <= 4; ++id) EXPECT_NEAR(first[id], kDraws * shares[id - 1], kDraws / 40) << id;
  EXPECT_NEAR(second[1], first[3] * 2 / 3.5, first[3] / 15.0);
  EXPECT_NEAR(second[2], first[3] * 0.5 / 3.5, first[3] / 15.0);
}

TEST(Selection, ReplacesAnUnknownCostByTheMedianAndLimitsThePreference) {
  std::vector<Individual> members = Members(3);
  members[0].compile_ms = 0.001;
  members[1].compile_ms = 100;  // median
  std::map<CandidateId, int> first;
  constexpr int kDraws = 8000;
  for (std::uint64_t index = 0; index < kDraws; ++index) ++first[SelectParents(members, 1, 5, 1, index).ids[0]];
  EXPECT_NEAR(first[1], kDraws * 2 / 4, kDraws / 40);
  EXPECT_NEAR(first[2], kDraws / 4, kDraws / 40);
  EXPECT_NEAR(first[3], kDraws / 4, kDraws / 40);
}

}  // namespace
}  // namespace evo
