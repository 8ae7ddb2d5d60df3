#include "evaluator/adversary/input_mutator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "evaluator/adversary/reduction.h"
#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/mixed_task.h"

namespace evo {
namespace {

constexpr int kPrograms = 3000;

Task MixedTask() { return ParseTask(kMixedTask, kMixedReference, "mixed"); }

// Throws if the program is no input of the task.
void ExpectLegal(const Task& task, const InputProgram& program) {
  const std::string text = ToText(program);
  EXPECT_EQ(ToText(ParseInputProgram(text, program.seed, task)), text);
  const DrawnArguments drawn = DrawArguments(task, task.small, program);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (const double value : ToDoubles(drawn[i], task.arguments[i].dtype)) {
      ASSERT_FALSE(std::isnan(value)) << text;
      const std::string& name = task.arguments[i].name;
      ASSERT_TRUE(name != "i" || (value >= 0 && value < 24)) << text;
      ASSERT_TRUE(name != "o" || (value >= 0 && value <= 12)) << text;
    }
  }
}

TEST(InputMutator, MakesOnlyLegalPrograms) {
  const Task task = MixedTask();
  const InputMutator mutator(task, task.small);
  Rng rng(1);
  InputProgram parent = mutator.Random(rng);
  for (int i = 0; i < kPrograms; ++i) {
    const InputProgram fresh = mutator.Random(rng);
    ExpectLegal(task, fresh);
    parent = i % 50 == 0 ? fresh : mutator.Mutate(parent, fresh, rng);
    ExpectLegal(task, parent);
    if (i % 5 == 0) ExpectLegal(task, mutator.SetElements(parent, rng));
  }
}

TEST(InputMutator, UsesEveryChangeAndEveryDistribution) {
  const Task task = MixedTask();
  const InputMutator mutator(task, task.small);
  Rng rng(1);
  std::set<InputChange::Kind> changes;
  std::set<Generator::Kind> bases;
  std::set<std::size_t> inputs;
  for (int i = 0; i < kPrograms; ++i) {
    const InputProgram program = mutator.Random(rng);
    inputs.insert(program.arguments.size());
    for (const auto& [name, argument] : program.arguments) {
      bases.insert(argument.base.kind);
      for (const InputChange& change : argument.changes) changes.insert(change.kind);
    }
  }
  EXPECT_EQ(changes.size(), ChangeForms().size());
  EXPECT_EQ(bases.size(), 10U);
  EXPECT_TRUE(inputs.contains(1)) << "one input alone";
  EXPECT_TRUE(inputs.contains(3)) << "all real-valued inputs";
}

TEST(InputMutator, ChangesItsParentAndFollowsFromItsSeed) {
  const Task task = MixedTask();
  const InputMutator mutator(task, task.small);
  const InputProgram parent = ParseInputProgram("x: normal | scale(30) | spike(200,1)", 5, task);
  const auto children = [&](std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(ToText(mutator.Mutate(parent, mutator.Random(rng), rng)));
    return texts;
  };
  EXPECT_EQ(children(1), children(1));
  const std::vector<std::string> texts = children(2);
  EXPECT_GT(std::set<std::string>(texts.begin(), texts.end()).size(), 60U);
  EXPECT_EQ(ToText(parent), "x: normal(0,1) | scale(30) | spike(200,1)");
}

TEST(InputMutator, VariesSeedsWhereThereIsNoInput) {
  Task task = MixedTask();
  std::erase_if(task.arguments, [](const Argument& argument) { return argument.role != Role::kOut; });
  const InputMutator mutator(task, task.small);
  Rng rng(1);
  const InputProgram program = mutator.Random(rng);
  EXPECT_EQ(ToText(program), "");
  EXPECT_NE(mutator.Mutate(program, program, rng).seed, program.seed);
}

TEST(NumberMutation, StaysLegal) {
  Rng rng(1);
  const ChangeScope scope{{300, 100}, true, 1};
  for (const ChangeForm& form : ChangeForms()) {
    InputChange change{form.kind, {}};
    for (const NumberRole role : form.numbers) change.numbers.push_back(DrawNumber(role, form.kind, scope, rng));
    for (int i = 0; i < 500; ++i) {
      for (std::size_t j = 0; j < change.numbers.size(); ++j)
        change.numbers[j] = PerturbNumber(change.numbers[j], form.numbers[j], form.kind, scope, rng);
      ASSERT_EQ(Fault(change), "");
    }
  }
}

TEST(NumberMutation, RoundsToDigits) {
  EXPECT_EQ(RoundToDigits(212.345, 2), 210);
  EXPECT_EQ(RoundToDigits(-0.0123, 1), -0.01);
  EXPECT_EQ(RoundToDigits(-std::numeric_limits<double>::infinity(), 1), -std::numeric_limits<double>::infinity());
}

// ---- reduction ----

std::string ReducedText(const std::string& text, const std::function<bool(const InputProgram&)>& still_fails, int most = 100) {
  const Task task = MixedTask();
  return ToText(Reduced(ParseInputProgram(text, 1, task), task, still_fails, most));
}

// Fails if x has a value above 100.
bool HasLarge(const InputProgram& program) {
  const Task task = MixedTask();
  for (const double value : ToDoubles(DrawArguments(task, task.small, program).front(), Dtype::kF32))
    if (value > 100) return true;
  return false;
}

TEST(Reduction, LeavesOutWhatIsNotNeeded) {
  EXPECT_EQ(ReducedText("h: cauchy(1) | abs ; i: index<N * 2 | all_largest ; x: log_uniform(1e-3,10) | spike(212.7,2) | reverse",
                        HasLarge),
            "x: normal(0,1) | spike(200,2)");
  EXPECT_EQ(ReducedText("x: log_uniform(1e-3,10) | shift(104.7) | scale(1)", HasLarge), "x: normal(0,1) | shift(100)");
}

TEST(Reduction, KeepsWhatFailsAndAsksNoMoreThanItMay) {
  const std::string text = "h: cauchy(1) | abs ; x: normal(0,1) | spike(212.7,2)";
  int asked = 0;
  EXPECT_EQ(ReducedText(
                text,
                [&](const InputProgram&) {
                  ++asked;
                  return false;
                },
                3),
            text);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace evo
