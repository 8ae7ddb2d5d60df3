#include "engine/won_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/fakes.h"

namespace evo {
namespace {

using testing::EditedAt;
using ::testing::ElementsAre;
using testing::EvaluationAt;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Candidate 1 is the template, latency bound, at 1000 ns. Tests add children; "tile" restructures.
class WonEditsTest : public ::testing::Test {
 protected:
  WonEditsTest() { Add(1, {}, EditedAt(101, {}), "default", 1000); }

  void Add(CandidateId id, std::vector<CandidateId> parents, Genome genome, const std::string& op, double score_ns,
           Bottleneck bottleneck = Bottleneck::kLatency) {
    GenerationRecord record;
    record.generation = generation_++;
    record.candidates.push_back({id, record.generation, 0, std::move(genome), std::move(parents), op, {}, "source"});
    Evaluation& evaluation = record.evaluations.emplace_back();
    evaluation.outcome = score_ns > 0 ? Outcome::kOk : Outcome::kWrongResult;
    evaluation.score_ns = score_ns;
    evaluation.program_digest = std::to_string(id);
    evaluation.bottleneck = bottleneck;
    won_.Learn(record, selection_);
    selection_.Learn(record);
  }
  // A child of candidate 1 by an edit.
  void Won(CandidateId id, const std::string& op, double score_ns) { Add(id, {1}, EditedAt(101, {op}), op, score_ns); }
  std::vector<std::string> For(const Genome& genome, std::size_t turn = 0, Bottleneck bottleneck = Bottleneck::kLatency) const {
    Rng rng(turn);
    std::vector<std::string> names;
    for (const Edit& edit : won_.EditsFor(genome, bottleneck, selection_, turn, rng)) names.push_back(edit.op);
    return names;
  }

  OperatorSelection selection_{{{"a", 1}, {"b", 1}, {"c", 1}, {"tile", 1}}, {}, BottleneckKnowledge{{}, {}, {"tile"}}};
  WonEdits won_;
  int generation_ = 0;
};

TEST_F(WonEditsTest, GivesWhatWonWithTheGreatestGainsFirst) {
  Won(2, "a", 950);
  Won(3, "b", 800);
  Won(4, "c", 1100);
  Won(5, "d", 900);
  EXPECT_THAT(For(EditedAt(101, {})), ElementsAre("b", "d", "a"));
  EXPECT_THAT(For(EditedAt(101, {}), 1), ElementsAre("b", "d"));
  EXPECT_THAT(For(EditedAt(101, {"b"})), ElementsAre("d", "a")) << "not one that it has";
}

TEST_F(WonEditsTest, GivesASecondEditOfAnOperatorAtAnotherPlace) {
  Add(2, {1}, EditedAt(101, {"a"}, {{"a", "loop"}}), "a", 900);
  Add(3, {1}, EditedAt(101, {"a"}, {{"a", "other loop"}}), "a", 950);
  EXPECT_THAT(For(EditedAt(101, {})), ElementsAre("a")) << "one of each operator at a time";
  EXPECT_THAT(For(EditedAt(101, {"a"}, {{"a", "loop"}})), ElementsAre("a"));
  Add(4, {1}, EditedAt(101, {"tile"}, {{"tile", "kernel"}}), "tile", 500);
  Add(5, {4}, EditedAt(101, {"tile", "tile"}, {{"tile", "other kernel"}}), "tile", 400);
  EXPECT_THAT(For(EditedAt(101, {"tile"}, {{"tile", "kernel"}})), IsEmpty()) << "it restructures";
}

TEST_F(WonEditsTest, DrawsAPartOnLaterTurns) {
  for (int i = 0; i < 8; ++i) Won(2 + i, "op" + std::to_string(i), 800);
  std::set<std::vector<std::string>> drawn;
  for (std::size_t turn = 2; turn < 12; ++turn) {
    const std::vector<std::string> some = For(EditedAt(101, {}), turn);
    EXPECT_FALSE(some.empty());
    EXPECT_EQ(some, For(EditedAt(101, {}), turn));
    drawn.insert(some);
  }
  EXPECT_GT(drawn.size(), 4U);
}

TEST_F(WonEditsTest, KeepsStructuresApart) {
  Won(2, "tile", 500);
  Won(3, "a", 900);
  Add(4, {2}, EditedAt(101, {"tile", "b"}), "b", 450);
  EXPECT_THAT(For(EditedAt(101, {})), ElementsAre("tile", "a"));
  EXPECT_THAT(For(EditedAt(101, {"tile"})), ElementsAre("b"));
  EXPECT_THAT(For(EditedAt(101, {"c", "tile"})), ElementsAre("b")) << "edits that do not restructure make no difference";
}

TEST_F(WonEditsTest, ExpectsHalfAsMuchOfAnotherBottleneck) {
  Won(2, "a", 900);
  Won(3, "b", 980);
  Add(4, {}, EditedAt(103, {}), "default", 1000, Bottleneck::kDram);
  Add(5, {4}, EditedAt(103, {"c"}), "c", 940);
  EXPECT_THAT(For(EditedAt(101, {})), ElementsAre("a", "c", "b"));
  EXPECT_THAT(For(EditedAt(101, {}), 0, Bottleneck::kDram), ElementsAre("c", "a", "b"));
}

TEST_F(WonEditsTest, ForgetsWhatWonByChance) {
  Won(2, "a", 960);
  EXPECT_THAT(For(EditedAt(101, {})), ElementsAre("a"));
  Won(3, "a", 1010);
  Won(4, "a", 1010);
  EXPECT_THAT(For(EditedAt(101, {})), IsEmpty());
  Won(5, "b", 800);
  Won(6, "b", 0);
  EXPECT_THAT(For(EditedAt(101, {})), IsEmpty()) << "it was wrong";
}

TEST_F(WonEditsTest, LearnsFromChildrenOfASingleEditOnly) {
  Add(2, {1}, EditedAt(101, {"a", "b"}), "combine", 500);
  Add(3, {1}, EditedAt(102, {"a"}), "parameter_step", 500);
  Add(4, {99}, EditedAt(101, {"a"}), "a", 500);
  Won(5, "c", 990);
  EXPECT_THAT(For(EditedAt(101, {})), IsEmpty());
}

TEST_F(WonEditsTest, BroughtParametersHaveTheValuesWithWhichTheyWon) {
  Genome genome = EditedAt(101, {"a"});
  genome.edits[0].brings = {{"TILE", {8, 16, 32}, 8}};
  genome.parameters["TILE"] = 32;
  Add(2, {1}, genome, "a", 800);
  Rng rng(0);
  const std::vector<Edit> edits = won_.EditsFor(EditedAt(101, {}), Bottleneck::kLatency, selection_, 0, rng);
  ASSERT_THAT(edits, SizeIs(1));
  EXPECT_EQ(edits[0].brings[0].initial, 32);
}

TEST_F(WonEditsTest, KeepsTheBestOfManyEdits) {
  const int many = static_cast<int>(WonEdits::kMostEdits) + 20;
  for (int i = 0; i < many; ++i) Won(2 + i, "op" + std::to_string(i), 900 - i);
  const std::vector<std::string> kept = For(EditedAt(101, {}));
  EXPECT_THAT(kept, SizeIs(WonEdits::kMostEdits));
  EXPECT_EQ(kept.front(), "op" + std::to_string(many - 1));
}

}  // namespace
}  // namespace evo
