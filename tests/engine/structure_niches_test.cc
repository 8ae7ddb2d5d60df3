#include "engine/structure_niches.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/digest.h"
#include "engine/population_kinds.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using ::testing::IsEmpty;

constexpr const char* kMacro = "macro";

Genome Structured(std::int64_t x, int macros) {
  Genome genome = testing::GenomeAt(x);
  for (int i = 0; i < macros; ++i) {
    Edit& edit = genome.edits.emplace_back();
    edit.op = kMacro;
    edit.brings = {{fmt::format("P{}", i), {1, 2, 4, 8, 16}, 1}};
  }
  return genome;
}

struct Generation {
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  void Add(CandidateId id, int generation, const Genome& genome, double ns, Outcome outcome = Outcome::kOk) {
    Candidate& candidate = candidates.emplace_back();
    candidate.id = id;
    candidate.generation = generation;
    candidate.genome = genome;
    Evaluation& evaluation = evaluations.emplace_back();
    evaluation.outcome = outcome;
    evaluation.score_ns = ns;
    evaluation.program_digest = std::to_string(id);
  }
};

TEST(StructureOf, IsTheTemplateAndTheEditsThatBringParameters) {
  Genome genome = Structured(3, 2);
  genome.edits.emplace_back().op = "small";
  EXPECT_EQ(StructureOf(genome), "x+macro+macro");
  Genome other = Structured(7, 2);
  other.edits[0].brings[0].initial = 8;
  EXPECT_EQ(StructureOf(other), StructureOf(genome)) << "numbers do not count";
}

TEST(StructureNiches, GiveANewSlowStructureHalfOfThePlacesForABudget) {
  StructureNichePopulation population(2, 3);
  Generation first;
  first.Add(1, 0, Structured(1, 0), 100);
  population.Survive(first.candidates, first.evaluations);
  EXPECT_FALSE(population.TunesParameters(1));
  Generation second;
  second.Add(2, 1, Structured(2, 0), 90);
  second.Add(3, 1, Structured(3, 1), 130);
  population.Survive(second.candidates, second.evaluations);
  EXPECT_EQ(population.members().size(), 2u);
  EXPECT_EQ(population.members().back().candidate.id, 1) << "it does not crowd out the elite";
  EXPECT_FALSE(population.TunesParameters(0));
  ASSERT_TRUE(population.TunesParameters(1));
  EXPECT_EQ(population.Mates(1).front().candidate.id, 3);
  EXPECT_EQ(population.TuningChildren(), 3u);
  Generation third;
  third.Add(4, 2, Structured(4, 1), 120);
  third.Add(5, 2, Structured(5, 1), 0, Outcome::kWrongResult);
  population.Survive(third.candidates, third.evaluations);
  EXPECT_EQ(population.Mates(1).front().candidate.id, 4);
  EXPECT_EQ(population.TuningChildren(), 1u) << "a child that failed counts";
  Generation fourth;
  fourth.Add(6, 3, Structured(6, 1), 40);
  population.Survive(fourth.candidates, fourth.evaluations);
  EXPECT_FALSE(population.TunesParameters(1)) << "the budget is spent, and the structure has no second one";
  EXPECT_EQ(population.members().front().candidate.id, 6);
}

TEST(StructureNiches, NeedNoneForTemplatesAndWhatIsFasterAtOnce) {
  StructureNichePopulation population(2, 3);
  Generation first;
  first.Add(1, 0, Structured(1, 0), 100);
  first.Add(2, 0, Structured(2, 1), 200);
  population.Survive(first.candidates, first.evaluations);
  EXPECT_EQ(population.TuningChildren(), 0u);
  Generation second;
  second.Add(3, 1, Structured(3, 2), 90);
  population.Survive(second.candidates, second.evaluations);
  EXPECT_EQ(population.TuningChildren(), 0u);
}

// A kernel with two parameters of its own, edits that gain 4% each, and one structural edit with two parameters: it makes the
// kernel 1.3 times slower at first, and 3 times faster once both have their best values.
class ValleyBreeder : public Breeder {
 public:
  std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token) override {
    std::vector<BredChild> children;
    for (const BreedRequest& request : requests) children.push_back(Child(request));
    return children;
  }

 private:
  static BredChild Child(const BreedRequest& request) {
    BredChild child;
    Genome genome = request.parents.front();
    if (!request.operators.empty()) {
      Rng rng(request.seed, request.generation, request.index);
      std::vector<double> weights;
      for (const auto& [op, weight] : request.operators) weights.push_back(weight);
      child.op = request.operators[rng.Weighted(weights)].first;
      Apply(child.op, genome, rng);
    }
    child.source = ToCanonicalJson(genome);
    child.genome = std::move(genome);
    return child;
  }

  static void Apply(const std::string& op, Genome& genome, Rng& rng) {
    const auto has = [&](const std::string& name) {
      return std::any_of(genome.edits.begin(), genome.edits.end(), [&](const Edit& edit) { return edit.op == name; });
    };
    if (op == "parameter_step") {
      auto one = genome.parameters.begin();
      std::advance(one, static_cast<std::ptrdiff_t>(rng.Below(genome.parameters.size() - 1)));  // X, the last, is of the fakes
      one->second = std::clamp<std::int64_t>(one->second + (rng.Chance(0.5) ? 1 : -1), 0, 5);
    } else if (op == kMacro && !has(kMacro)) {
      Edit& edit = genome.edits.emplace_back();
      edit.op = kMacro;
      edit.brings = {{"P", {0, 1, 2, 3, 4, 5}, 1}, {"Q", {0, 1, 2, 3, 4, 5}, 1}};
      genome.parameters["P"] = genome.parameters["Q"] = 1;
    } else if (op.starts_with("small") && !has(op)) {
      genome.edits.emplace_back().op = op;
    }
  }
};

double ValleyTime(const Genome& genome) {
  const auto away = [&](const char* name, std::int64_t best) {
    return static_cast<double>(std::abs(genome.parameters.at(name) - best));
  };
  double ns = 1000 * (1 + 0.1 * away("A", 4)) * (1 + 0.1 * away("B", 1));
  for (const Edit& edit : genome.edits) {
    // From 1.3 at (1, 1) to 1/3 at (4, 4), by the same factor with each step.
    ns *= edit.op == kMacro ? std::pow(3.9, (away("P", 4) + away("Q", 4)) / 6) / 3 : 0.96;
  }
  return ns;
}

constexpr int kValleyChildren = 8;

RunRecord ValleyRun(const std::string& kind, std::uint64_t seed, int generations) {
  RunRecord run = testing::FakeRun();
  run.population_kind = kind;
  run.seed = seed;
  run.generations = generations;
  run.population = 8;
  run.children = kValleyChildren;
  run.operators = {{kMacro, 0.5}, {"parameter_step", 4}};
  for (int i = 0; i < 12; ++i) run.operators[fmt::format("small{:02}", i)] = 1;
  return run;
}

struct Valley {
  explicit Valley(const RunRecord& record)
      : settings{.run = record, .seeds = {{"x", Digest("x"), {{"A", 0}, {"B", 5}, {"X", 0}}, {}}}},
        population(MakePopulation(record.population_kind, static_cast<std::size_t>(record.population))),
        evolution(settings, {breeder, evaluator, store, observer, *population, choice, nullptr}) {
    evaluator.evaluate = [](const Candidate& candidate) {
      Evaluation evaluation = testing::EvaluationAt(testing::kStart + 1);
      evaluation.outcome = Outcome::kOk;
      evaluation.score_ns = ValleyTime(candidate.genome);
      evaluation.source_digest = evaluation.program_digest = Digest(candidate.source);
      return evaluation;
    };
  }
  double Best() const {
    double best = 1e9;
    for (const GenerationRecord& generation : store.generations) {
      for (const Evaluation& evaluation : generation.evaluations) best = std::min(best, evaluation.score_ns);
    }
    return best;
  }

  EvolutionSettings settings;
  ValleyBreeder breeder;
  testing::FakeEvaluator evaluator;
  testing::MemoryStore store;
  testing::RecordingObserver observer;
  FirstChildren choice;
  std::unique_ptr<Population> population;
  Evolution evolution;
};

TEST(StructureNiches, ResumedRunsMakeTheSameChildren) {
  const RunRecord run = ValleyRun("niches", 3, 16);
  Valley whole(run);
  ASSERT_EQ(whole.evolution.Run(StopCondition(run.generations, {}, {})), RunStatus::kFinished);
  const auto& generations = whole.store.generations;
  const bool tuned = std::any_of(generations.begin(), generations.end(), [](const GenerationRecord& generation) {
    return std::any_of(generation.candidates.begin(), generation.candidates.end(),
                       [](const Candidate& one) { return StructureOf(one.genome) != "x"; });
  });
  ASSERT_TRUE(tuned) << "there was a niche";
  for (std::size_t kept = 1; kept <= generations.size(); kept += 3) {
    Valley resumed(run);
    resumed.store.generations.assign(generations.begin(), generations.begin() + static_cast<std::ptrdiff_t>(kept));
    ASSERT_EQ(resumed.evolution.Resume(StopCondition(run.generations, {}, {})), RunStatus::kFinished);
    EXPECT_EQ(testing::Spelled(resumed.store.generations), testing::Spelled(generations)) << kept;
  }
}

// How many of `seeds` runs find the tuned structure: the parts of the time that only it reaches.
int Found(const std::string& kind, int evaluations, int seeds) {
  int found = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const RunRecord run = ValleyRun(kind, static_cast<std::uint64_t>(seed), evaluations / kValleyChildren);
    Valley valley(run);
    valley.evolution.Run(StopCondition(run.generations, {}, {}));
    found += valley.Best() < 1000 * std::pow(0.96, 12) * 0.7;
  }
  return found;
}

TEST(StructureNiches, FindWhatIsWorseUntilItIsTuned) { EXPECT_GT(Found("niches", 240, 8), Found("elitist", 240, 8)); }

// Prints the table of docs/results.md.
TEST(StructureNiches, DISABLED_Ablation) {
  for (const int evaluations : {160, 320, 640}) {
    for (const char* kind : {"elitist", "islands", "niches"}) {
      fmt::print("{} evaluations, {}: {} of 40\n", evaluations, kind, Found(kind, evaluations, 40));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace evo
