// Runs that know of structures: restructuring operators come first, and what won on a structure is combined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/engine/structured_run.h"

namespace evo {
namespace {

using testing::Change;
using testing::ChangeWithTiles;
using testing::Evaluate;
using testing::GenomeAt;
using ::testing::IsEmpty;
using testing::Spelled;
using testing::StructuredRun;
using testing::ValueOf;

TEST(StructuresFirst, TheFirstGenerationIsEachRestructuringOperatorOnce) {
  StructuredRun run;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  std::vector<std::string> operators;
  for (const Candidate& candidate : run.Generation(1).candidates) {
    operators.push_back(candidate.op);
    EXPECT_THAT(candidate.parents, ::testing::ElementsAre(1));
  }
  EXPECT_THAT(operators, ::testing::ElementsAre("tile", "rows")) << "the class expects most of tile; never does not apply";
  EXPECT_EQ(run.Generation(1).inapplicable.at("never"), 1);
}

// The baseline, 101, is apart; a template's kernel passes its deadline until it is divided anew.
std::vector<std::string> RestructuredOfLate(const std::vector<Genome>& seeds) {
  StructuredRun run({}, true, 0, seeds, true);
  run.world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = Evaluate(candidate);
    if (ValueOf(candidate.genome) == 140 && candidate.genome.edits.empty()) evaluation.outcome = Outcome::kTimeout;
    return evaluation;
  };
  EXPECT_EQ(run.Run(), RunStatus::kFinished);
  const GenerationRecord& first = run.Generation(0);
  EXPECT_EQ(first.evaluations.back().outcome, Outcome::kTimeout);
  std::vector<std::string> restructured;
  for (const Candidate& candidate : run.Generation(1).candidates) {
    if (candidate.parents.front() == first.candidates.back().id) restructured.push_back(candidate.op);
  }
  return restructured;
}

TEST(StructuresFirst, ATemplateThatPassedItsDeadlineIsRestructured) {
  EXPECT_THAT(RestructuredOfLate({GenomeAt(101), GenomeAt(140)}), ::testing::UnorderedElementsAre("tile", "rows"));
}

TEST(StructuresFirst, ItIsNotWhereAnotherTemplateIsFastEnough) {
  EXPECT_THAT(RestructuredOfLate({GenomeAt(101), GenomeAt(120), GenomeAt(140)}), IsEmpty());
}

TEST(StructuresFirst, TheSecondGenerationKnowsTheFirst) {
  StructuredRun run;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  std::set<CandidateId> parents;
  for (const Candidate& candidate : run.Generation(2).candidates)
    parents.insert(candidate.parents.begin(), candidate.parents.end());
  EXPECT_TRUE(parents.contains(2) || parents.contains(3)) << "a child of the first generation breeds already";
}

TEST(StructuresFirst, TheSecondGenerationIsEveryOperatorOnTheFastest) {
  StructuredRun run;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  const auto made_by = [&](const std::string& op) {
    const std::vector<Candidate>& first = run.Generation(1).candidates;
    return std::find_if(first.begin(), first.end(), [&](const Candidate& candidate) { return candidate.op == op; })->id;
  };
  std::vector<std::string> operators;
  for (const Candidate& candidate : run.Generation(2).candidates) {
    operators.push_back(candidate.op);
    EXPECT_EQ(candidate.parents.front(), made_by("rows")) << candidate.op;
  }
  EXPECT_THAT(operators, ::testing::UnorderedElementsAre("tile", "first", "second", "third", "parameter_step"))
      << "but rows, which has restructured it, and never, which does not apply";
  EXPECT_EQ(operators.front(), "tile") << "those that restructure come first";
  std::set<std::string> asked;
  for (const auto& batch : run.world.breeder.batches) {
    for (const BreedRequest& request : batch) {
      if (request.generation == 2) asked.insert(request.operators.front().first);
    }
  }
  EXPECT_THAT(asked, ::testing::UnorderedElementsAre("tile", "never", "first", "second", "third", "parameter_step"));
  const std::vector<Candidate>& third = run.Generation(3).candidates;
  EXPECT_TRUE(std::any_of(third.begin(), third.end(), [](const Candidate& candidate) { return candidate.op == kCombine; }))
      << "the third knows what won in the second";
}

TEST(StructuresFirst, TheSecondGenerationTriesOtherSettingsOfTheOtherStructures) {
  StructuredRun run;
  run.world.breeder.change = ChangeWithTiles;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  const std::vector<Candidate>& first = run.Generation(1).candidates;
  ASSERT_EQ(first.front().op, "tile") << "it is three times as slow as rows";
  std::size_t settings = 0;
  for (const Candidate& candidate : run.Generation(2).candidates) {
    if (candidate.parents.front() != first.front().id) continue;
    EXPECT_EQ(candidate.op, "parameter_step");
    ++settings;
  }
  EXPECT_GT(settings, 0U);
  EXPECT_LE(settings, 2U) << "one in four of eight";
}

TEST(StructuresFirst, TheSecondGenerationAsksForAnotherFormOfTheFastest) {
  StructuredRun run;
  // "rows" draws one of two forms, and the one that comes first is the slower one.
  run.world.breeder.change = [](const BreedRequest& request, BredChild& child) {
    Change(request, child);
    if (child.op != "rows") return;
    const bool other = request.generation == 2 && request.index % 2 == 1;
    child.genome->edits.back().brings = {{other ? "RING" : "TILE", {8, 16, 32}, 8}};
    child.source += other ? "// ring\n" : "// tile\n";
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  std::vector<std::string> forms;
  for (const Candidate& candidate : run.Generation(2).candidates) {
    if (candidate.op != "rows") continue;
    EXPECT_THAT(candidate.parents, ::testing::ElementsAre(1)) << "the template, not what is restructured already";
    forms.push_back(candidate.genome.edits.back().brings.front().name);
  }
  EXPECT_THAT(forms, ::testing::ElementsAre("RING")) << "the form that was drawn before is a duplicate";
}

TEST(StructuresFirst, AStructureOfWhichFewSettingsWereTriedGetsOtherOnes) {
  StructuredRun run;
  run.world.breeder.change = ChangeWithTiles;
  run.world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = Evaluate(candidate);
    for (const Edit& edit : candidate.genome.edits) evaluation.score_ns *= edit.op == "tile" ? 0.4 : 1;  // 1.2 times rows
    return evaluation;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  std::size_t settings = 0;
  for (const GenerationRecord& generation : run.world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      const std::vector<Edit>& edits = candidate.genome.edits;
      const auto rows = std::count_if(edits.begin(), edits.end(), [](const Edit& edit) { return edit.op == "rows"; });
      settings += generation.generation > 2 && rows == 0 && candidate.op == "parameter_step" ? 1 : 0;
    }
  }
  EXPECT_GE(settings, 3U) << "no survivor is of that structure";
  EXPECT_LE(settings, Standstill::kSettings + 4) << "and what two generations try at once";
}

TEST(StructuresFirst, WhatIsFarSlowerIsNotTunedAtOnce) {
  StructuredRun run;
  run.world.breeder.change = ChangeWithTiles;
  run.world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = Evaluate(candidate);
    for (const Edit& edit : candidate.genome.edits) evaluation.score_ns *= edit.op == "tile" ? 2 : 1;  // now six times rows
    return evaluation;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  const CandidateId tile = run.Generation(1).candidates.front().id;
  for (const Candidate& candidate : run.Generation(2).candidates) EXPECT_NE(candidate.parents.front(), tile);
}

TEST(StructuresFirst, TheFirstTwoGenerationsAreNotCutToTheSizeOfEarlyOnes) {
  StructuredRun run({}, true, 2);
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  EXPECT_EQ(run.Generation(2).candidates.size(), 5U);
  for (std::size_t g = 3; g < 8; ++g) EXPECT_LE(run.Generation(g).candidates.size(), 2U);
}

TEST(StructuresFirst, AGenerationIsBredAsEverWhereNoneApplies) {
  StructuredRun run;
  run.world.breeder.change = [](const BreedRequest& request, BredChild& child) {
    if (request.operators.size() == 1)
      child.genome.reset();
    else
      Change(request, child);
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  EXPECT_GT(run.Generation(1).candidates.size(), 2U);
}

TEST(StructuresFirst, WhatWonOnAStructureIsCombined) {
  StructuredRun run;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  int combined = 0;
  std::size_t most = 0;
  std::map<CandidateId, std::size_t> edits;
  for (const GenerationRecord& generation : run.world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      edits[candidate.id] = candidate.genome.edits.size();
      if (candidate.op != kCombine) continue;
      ++combined;
      EXPECT_GT(generation.generation, 2) << "nothing has won before";
      ASSERT_EQ(candidate.parents.size(), 1U);
      most = std::max(most, candidate.genome.edits.size() - edits.at(candidate.parents.front()));
    }
  }
  EXPECT_GT(combined, 0);
  EXPECT_GT(most, 1U) << "several at once";
}

TEST(StructuresFirst, WhatHasDividedTheWorkIsSeldomDrawnAgain) {
  StructuredRun run;
  run.world.evaluator.evaluate = [](const Candidate& candidate) {  // parents with and without it survive
    Evaluation evaluation = Evaluate(candidate);
    for (const Edit& edit : candidate.genome.edits) evaluation.score_ns *= edit.op == "rows" ? 2 : 1;
    return evaluation;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  const auto weight = [](const BreedRequest& request, const std::string& op) {
    const auto found =
        std::find_if(request.operators.begin(), request.operators.end(), [&](const auto& o) { return o.first == op; });
    return found->second;
  };
  int with = 0;
  std::map<std::uint64_t, double> plain;
  for (int pass = 0; pass < 2; ++pass) {
    for (const auto& batch : run.world.breeder.batches) {
      for (const BreedRequest& request : batch) {
        if (request.operators.size() < 7) continue;
        const std::vector<Edit>& edits = request.parents[0].edits;
        const bool has = std::any_of(edits.begin(), edits.end(), [](const Edit& edit) { return edit.op == "rows"; });
        if (!has) plain[request.generation] = weight(request, "rows");
        if (!has || pass == 0 || !plain.contains(request.generation)) continue;
        ++with;
        EXPECT_DOUBLE_EQ(weight(request, "rows"), 0.1 * plain.at(request.generation));
      }
    }
  }
  EXPECT_GT(with, 0);
}

// Nothing gains: after a while the fastest member is restructured again, and children begin at other structures, too.
TEST(StructuresFirst, ASearchThatStandsStillGoesOnElsewhere) {
  StructuredRun run;
  const std::set<std::string> restructuring = {"rows", "tile"};
  run.world.evaluator.evaluate = [&](const Candidate& candidate) {
    Evaluation evaluation = Evaluate(candidate);
    evaluation.score_ns = 1000;
    for (const Edit& edit : candidate.genome.edits) evaluation.score_ns *= edit.op == "rows" ? 0.7 : edit.op == "tile" ? 0.8 : 1;
    return evaluation;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  std::map<CandidateId, std::set<std::string>> structures;
  std::size_t elsewhere = 0;
  for (const GenerationRecord& generation : run.world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      for (const Edit& edit : candidate.genome.edits) {
        if (restructuring.contains(edit.op)) structures[candidate.id].insert(edit.op);
      }
      const bool late = generation.generation > 10 && !candidate.parents.empty();
      elsewhere += late && structures[candidate.parents.front()] != restructuring ? 1 : 0;
    }
  }
  for (const Individual& member : run.world.population.members()) ASSERT_EQ(structures[member.candidate.id], restructuring);
  EXPECT_GT(elsewhere, 2U) << "no member is of another structure";
  std::size_t restructured = 0, combined = 0;
  for (const auto& batch : run.world.breeder.batches) {
    for (const BreedRequest& request : batch) {
      const bool late = request.generation > 10;
      restructured += late && request.operators.size() == 1 && request.operators.front().first == "never" ? 1 : 0;
      const auto& edits = request.parents[0].edits;
      const auto has = [&](const char* op) {
        return std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) { return edit.op == op; });
      };
      combined += late && !request.alike.empty() && !(has("rows") && has("tile")) ? 1 : 0;
    }
  }
  EXPECT_EQ(restructured, 1U) << "the operator that the fastest does not have, once";
  EXPECT_GT(combined, 0U);
}

TEST(StructuresFirst, AResumedRunMakesTheSameCandidatesAtEveryBoundary) {
  for (const bool stands : {false, true}) {
    SCOPED_TRACE(stands);
    const int early_children = stands ? 3 : 0;
    const auto evaluate = [&](const Candidate& candidate) {
      Evaluation evaluation = Evaluate(candidate);
      if (stands) evaluation.score_ns = 1000 + ValueOf(candidate.genome) % 7;
      return evaluation;
    };
    StructuredRun whole({}, true, early_children);
    whole.world.evaluator.evaluate = evaluate;
    ASSERT_EQ(whole.Run(), RunStatus::kFinished);
    const std::vector<GenerationRecord>& all = whole.world.store.generations;
    for (std::size_t kept = 0; kept <= all.size(); ++kept) {
      SCOPED_TRACE(kept);
      StructuredRun resumed({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)}, true, early_children);
      resumed.world.evaluator.evaluate = evaluate;
      ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
      EXPECT_EQ(Spelled(resumed.world.store.generations), Spelled(all));
    }
  }
}

TEST(StructuresFirst, WithoutStructuresARunIsAsItWas) {
  StructuredRun run({}, false);
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  EXPECT_GT(run.Generation(1).candidates.size(), 2U);
  for (const GenerationRecord& generation : run.world.store.generations) {
    for (const Candidate& candidate : generation.candidates) EXPECT_NE(candidate.op, kCombine);
  }
  for (const auto& batch : run.world.breeder.batches) {
    for (const BreedRequest& request : batch) EXPECT_THAT(request.alike, IsEmpty());
  }
}

}  // namespace
}  // namespace evo
