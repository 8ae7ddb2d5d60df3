#include "engine/neutral_edits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/digest.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

Edit EditOf(const std::string& op, const std::string& place, const std::string& text) {
  Edit edit;
  edit.op = op;
  edit.anchors = {{.function = "f", .kind = "ForStmt", .tokens = place, .before = "b", .after = "a"}};
  edit.source = {{0, Placement::kReplace, text}};
  return edit;
}

const Edit kUnroll = EditOf("unroll", "loop", "#pragma unroll 2");

// NeutralEdits that know one parent, number 1 with the program "P". Tests add its children.
class NeutralEditsTest : public ::testing::Test {
 protected:
  NeutralEditsTest() { Evaluate(1, {}, {"t", "d", {{"N", 1}}, {}}, "default", "P"); }

  void Evaluate(CandidateId id, std::vector<CandidateId> parents, Genome genome, const std::string& op,
                const std::string& program, std::vector<std::string> dropped = {}) {
    GenerationRecord record;
    record.candidates.push_back(
        {id, static_cast<int>(id), 0, std::move(genome), std::move(parents), op, std::move(dropped), "source"});
    record.evaluations.emplace_back().program_digest = program;
    neutral_.Learn(record);
  }
  bool ChangesNothing(Genome genome, const std::string& op, std::vector<std::string> dropped = {}) const {
    BredChild child;
    child.genome = std::move(genome);
    child.op = op;
    child.dropped = std::move(dropped);
    return neutral_.ChangesNothing(child);
  }

  NeutralEdits neutral_;
};

TEST_F(NeutralEditsTest, AnEditThatWasNotTriedMayChangeTheProgram) {
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "unroll"));
  EXPECT_FALSE(neutral_.ChangesNothing({}));
}

TEST_F(NeutralEditsTest, ANeutralEditIsKnownAfterOtherEditsToo) {
  Evaluate(2, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  const Edit other = EditOf("peel", "loop", "x");
  EXPECT_TRUE(ChangesNothing({"t", "d", {{"N", 1}}, {other, kUnroll}}, "unroll"));
  Edit moved = kUnroll;
  moved.anchors[0].path = {3, 1};
  moved.anchors[0].ordinal = 2;
  EXPECT_TRUE(ChangesNothing({"t", "d", {{"N", 1}}, {moved}}, "unroll"));
}

TEST_F(NeutralEditsTest, ANeutralEditIsTriedOnceMoreAtOtherParameters) {
  Evaluate(2, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 4}}, {kUnroll}}, "unroll"))
      << "at N = 1 a directive may have cut its loop out of the source";
  Evaluate(3, {}, {"t", "d", {{"N", 4}}, {}}, "parameters", "Q");
  Evaluate(4, {3}, {"t", "d", {{"N", 4}}, {kUnroll}}, "unroll", "Q");
  EXPECT_TRUE(ChangesNothing({"t", "d", {{"N", 8}}, {kUnroll}}, "unroll"));
}

TEST_F(NeutralEditsTest, AnotherPlaceTextTemplateOrOperatorIsAnotherEdit) {
  Evaluate(2, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {EditOf("unroll", "another loop", "#pragma unroll 2")}}, "unroll"));
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {EditOf("unroll", "loop", "#pragma unroll 4")}}, "unroll"));
  EXPECT_FALSE(ChangesNothing({"t", "another", {{"N", 1}}, {kUnroll}}, "unroll"));
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {EditOf("peel", "loop", "#pragma unroll 2")}}, "peel"));
  Edit with_parameter = kUnroll;
  with_parameter.parameters = {{"N", 2}};
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 2}}, {with_parameter}}, "unroll"));
  Edit with_launch = kUnroll;
  with_launch.launch = {{"f", "block", "64"}};
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {with_launch}}, "unroll"));
}

TEST_F(NeutralEditsTest, AnEditThatChangedAProgramOnceIsTriedAgain) {
  Evaluate(2, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  Evaluate(3, {1}, {"t", "d", {{"N", 2}}, {kUnroll}}, "unroll", "Q");
  Evaluate(4, {1}, {"t", "d", {{"N", 3}}, {kUnroll}}, "unroll", "P");
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "unroll"));
}

TEST_F(NeutralEditsTest, ChildrenWithMoreThanOneNewEditSayNothing) {
  Evaluate(2, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "crossover", "P");
  Evaluate(3, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P", {"peel: no such loop"});
  Evaluate(4, {9}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  Evaluate(5, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "");
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "unroll"));
  Evaluate(6, {1}, {"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", "P");
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "crossover"));
  EXPECT_FALSE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "unroll", {"peel: no such loop"}));
  EXPECT_TRUE(ChangesNothing({"t", "d", {{"N", 1}}, {kUnroll}}, "unroll"));
}

// The number of candidates of each generation in a run whose children are their first parent with one more edit of operator
// `name`. Every child has a source of its own. The edits change the program if `changes`.
std::vector<int> EvaluatedIn(const std::string& name, bool changes) {
  testing::World world(testing::FakeRun());
  world.breeder.change = [&](const BreedRequest& request, BredChild& child) {
    child.genome = request.parents[0];
    child.genome->edits.push_back(EditOf(name, "loop", "x"));
    child.op = name;
    child.source = fmt::format("{}// {} {} {}\n", testing::SourceAt(testing::ValueOf(*child.genome)), name, request.generation,
                               request.index);
  };
  world.evaluator.evaluate = [&](const Candidate& candidate) {
    Evaluation evaluation = testing::EvaluationAt(testing::ValueOf(candidate.genome));
    evaluation.source_digest = Digest(candidate.source);
    if (changes) evaluation.program_digest = Digest(fmt::format("{} edits", candidate.genome.edits.size()));
    return evaluation;
  };
  world.Run();
  std::vector<int> evaluated;
  for (const GenerationRecord& generation : world.store.generations)
    evaluated.push_back(static_cast<int>(generation.candidates.size()));
  return evaluated;
}

TEST(NeutralEditsInARun, AreNotEvaluatedAgainOnceKnown) {
  // Generation 2 is bred before generation 1 is evaluated.
  const std::vector<int> evaluated = EvaluatedIn("unroll", false);
  ASSERT_GE(evaluated.size(), 4u);
  EXPECT_GT(evaluated[1], 0);
  EXPECT_GT(evaluated[2], 0);
  for (std::size_t g = 3; g < evaluated.size(); ++g) EXPECT_EQ(evaluated[g], 0) << g;
}

TEST(NeutralEditsInARun, EditsThatChangeTheProgramAreEvaluatedAgain) {
  const std::vector<int> evaluated = EvaluatedIn("unroll", true);
  ASSERT_GE(evaluated.size(), 4u);
  for (std::size_t g = 1; g < evaluated.size(); ++g) EXPECT_GT(evaluated[g], 0) << g;
}

}  // namespace
}  // namespace evo
