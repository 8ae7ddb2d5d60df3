#include "engine/standstill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/fakes.h"

namespace evo {
namespace {

using testing::EditedAt;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "tile" and "rows" restructure.
class StandstillTest : public ::testing::Test {
 protected:
  // A generation of so many candidates with these edits, which take this long each; 0: they are wrong. "tile" brings a parameter.
  void Add(const std::vector<std::string>& edits, double score_ns, std::size_t count = 1, const std::string& op = "op") {
    GenerationRecord record;
    for (std::size_t i = 0; i < count; ++i) {
      record.candidates.push_back({next_id_++, 0, static_cast<int>(i), EditedAt(101, edits), {}, op, {}, "source"});
      for (Edit& edit : record.candidates.back().genome.edits) {
        if (edit.op == "tile") edit.brings = {{"TILE", {8, 16}, 8}};
      }
      Evaluation& evaluation = record.evaluations.emplace_back();
      evaluation.outcome = score_ns > 0 ? Outcome::kOk : Outcome::kWrongResult;
      evaluation.score_ns = score_ns;
    }
    standstill_.Learn(record, selection_);
  }
  static std::vector<CandidateId> IdsOf(const std::vector<const Individual*>& some) {
    std::vector<CandidateId> ids;
    for (const Individual* one : some) ids.push_back(one->candidate.id);
    return ids;
  }
  std::vector<CandidateId> Elsewhere() const { return IdsOf(standstill_.Elsewhere()); }

  OperatorSelection selection_{{{"a", 1}, {"tile", 1}, {"rows", 1}}, {}, BottleneckKnowledge{{}, {}, {"tile", "rows"}}};
  Standstill standstill_{8};
  CandidateId next_id_ = 1;
};

TEST_F(StandstillTest, BeginsAfterManyCandidatesWithoutAGain) {
  Add({}, 1000);
  Add({}, 995, Standstill::kPatience - 1);
  EXPECT_FALSE(standstill_.Stands());
  Add({}, 995);
  EXPECT_TRUE(standstill_.Stands());
  EXPECT_TRUE(standstill_.Begins());
  Add({}, 0, 3);
  EXPECT_TRUE(standstill_.Stands());
  EXPECT_FALSE(standstill_.Begins()) << "it began before";
  Add({}, 980);
  EXPECT_FALSE(standstill_.Stands());
}

TEST_F(StandstillTest, BeginsAfterTwoLargeGenerations) {
  standstill_ = Standstill(50);
  Add({}, 1000);
  Add({}, 1000, 99);
  EXPECT_FALSE(standstill_.Stands());
  Add({}, 1000);
  EXPECT_TRUE(standstill_.Stands());
}

TEST_F(StandstillTest, ABaselineApartIsNotToBeat) {
  for (const bool other_is_ok : {true, false}) {
    SCOPED_TRACE(other_is_ok);
    Standstill standstill(8);
    GenerationRecord first;
    for (const bool baseline : {true, false}) {
      first.candidates.push_back({baseline ? 1 : 2, 0, 0, EditedAt(101, {}), {}, "default", {}, "source"});
      first.candidates.back().genome.template_digest = baseline ? "baseline" : "other";
      Evaluation& evaluation = first.evaluations.emplace_back();
      evaluation.outcome = baseline || other_is_ok ? Outcome::kOk : Outcome::kWrongResult;
      evaluation.score_ns = baseline ? 900 : 1000;
    }
    standstill.Learn(first, selection_, true);
    EXPECT_THAT(standstill.Elsewhere(), IsEmpty());
    standstill.Learn(first, selection_, false);
    EXPECT_EQ(standstill.Elsewhere().size(), other_is_ok ? 1U : 0U);
  }
}

TEST_F(StandstillTest, SmallGainsThatAddUpAreAGain) {
  Add({}, 1000);
  for (std::size_t i = 0; i < Standstill::kPatience; ++i) Add({}, 1000.0 - 2.0 * static_cast<double>(i));
  EXPECT_FALSE(standstill_.Stands());
}

TEST_F(StandstillTest, KnowsTheFastestOfEachOtherStructure) {
  EXPECT_THAT(Elsewhere(), IsEmpty());
  Add({}, 1000);                // 1
  Add({"tile"}, 900);           // 2
  Add({"tile", "a"}, 800);      // 3
  Add({"rows"}, 1100);          // 4
  Add({"rows", "a"}, 1150);     // 5
  Add({"rows", "tile"}, 1601);  // 6: too slow
  Add({"rows", "tile"}, 0);     // 7: wrong
  EXPECT_THAT(Elsewhere(), ElementsAre(1, 4));
}

TEST_F(StandstillTest, KnowsOfWhichStructuresFewSettingsWereTried) {
  const auto untuned = [&] { return IdsOf(standstill_.Untuned()); };
  Add({}, 1000);        // 1
  Add({"rows"}, 900);   // 2: the fastest
  Add({"tile"}, 1100);  // 3
  EXPECT_THAT(untuned(), ElementsAre(3)) << "the template has no parameters of an edit";
  Add({"tile", "a"}, 1050);  // 4
  Add({"tile"}, 0, Standstill::kSettings - 2, "parameter_step");
  EXPECT_THAT(untuned(), ElementsAre(4)) << "the next settings begin at the fastest";
  Add({"tile"}, 1200, 1, "parameter_draw");
  EXPECT_THAT(untuned(), IsEmpty()) << "wrong ones were tried, too, and the first is one";
}

TEST_F(StandstillTest, TheFastestStructureIsTunedAnyway) {
  Add({"rows"}, 1000);
  Add({"tile"}, 900);
  EXPECT_THAT(standstill_.Untuned(), IsEmpty());
  Add({"rows"}, 400);
  EXPECT_THAT(standstill_.Untuned(), IsEmpty()) << "what takes over twice as long is left alone";
}

}  // namespace
}  // namespace evo
