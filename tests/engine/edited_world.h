#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/digest.h"
#include "engine/minimisation.h"
#include "tests/engine/edited_kernels.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo::testing {

// A run whose champion is its second template, which has 12 edits: e3 and e9 make it faster, e9 needs e2, e5 needs e3.
struct EditedWorld : World {
  explicit EditedWorld(int generations = 3, bool minimise = true, bool check = true,
                       const Promises& promises = NumberedAreExact())
      : World(EvolutionSettings{.run = RunOf(generations),
                                .seeds = Seeds(),
                                .check_champion = check,
                                .minimise_champion = minimise,
                                .promises = promises}) {
    evaluator.evaluate = Measure;
  }
  static std::vector<Genome> Seeds() { return {GenomeAt(kStart), EditedAt(22, Numbered(12), {{"e9", "e2"}, {"e5", "e3"}})}; }
  static RunRecord RunOf(int generations) {
    RunRecord run = FakeRun();
    run.generations = generations;
    return run;
  }
  static Evaluation Measure(const Candidate& candidate) {
    const std::set<std::string> names = Names(candidate.genome);
    Evaluation evaluation = Timed(8'000.0 - (names.contains("e3") ? 1'000 : 0) - (names.contains("e9") ? 500 : 0));
    evaluation.source_digest = Digest(candidate.source);
    return evaluation;
  }
  std::vector<const Candidate*> Trials() const {
    std::vector<const Candidate*> trials;
    for (const GenerationRecord& generation : store.generations) {
      for (const Candidate& candidate : generation.candidates) {
        if (candidate.op == kMinimise) trials.push_back(&candidate);
      }
    }
    return trials;
  }
  const Candidate& Find(CandidateId id) const {
    for (const GenerationRecord& generation : store.generations) {
      for (const Candidate& candidate : generation.candidates) {
        if (candidate.id == id) return candidate;
      }
    }
    throw std::out_of_range("no such candidate");
  }
};

inline void ExpectMinimised(const EditedWorld& world) {
  ASSERT_FALSE(world.store.minimised.empty());
  const auto& variant = world.store.minimised.back();
  EXPECT_EQ(variant.champion, 2);
  EXPECT_THAT(Names(world.Find(variant.candidate).genome), ::testing::ElementsAre("e2", "e3", "e9"));
  EXPECT_THAT(world.Find(variant.candidate).parents, ::testing::ElementsAre(2));
  ASSERT_THAT(variant.without, ::testing::SizeIs(3));
  EXPECT_THAT(Names(world.Find(variant.without[0]).genome), ::testing::ElementsAre("e3")) << "e9 needs e2 and goes with it";
  EXPECT_EQ(world.evolution.progress().best, variant.candidate);
}

}  // namespace evo::testing
