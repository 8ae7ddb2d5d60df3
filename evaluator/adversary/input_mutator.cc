#include "evaluator/adversary/input_mutator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernel_templates/generator.h"

namespace evo {
namespace {

using GeneratorKind = Generator::Kind;

// Longer programs are slow to reduce, and no known fault needs more.
constexpr std::size_t kMostChanges = 8;
constexpr std::size_t kMostElementsSet = 4;  // set at once

Generator Base(const std::string& text) { return ParseGenerator(text); }

double PowerOfTen(double low, double high, Rng& rng) {
  return RoundToDigits(std::pow(10, low + (high - low) * rng.Uniform()), 3);
}

// A distribution of real numbers other than the task's own.
Generator DrawReal(Rng& rng) {
  Generator base;
  const std::array<double, 7> weights{4, 2, 2, 1, 1, 1, 1};
  switch (rng.Weighted(weights)) {
    case 0:
      return Base("normal");
    case 1:
      base.kind = GeneratorKind::kLogUniform;
      base.a = PowerOfTen(-8, 0, rng);
      base.b = PowerOfTen(0.1, 8, rng);
      return base;
    case 2:
      base.kind = GeneratorKind::kCauchy;
      base.a = PowerOfTen(-2, 2, rng);
      return base;
    case 3:
      return Base("uniform(-1,1)");
    case 4:
      return Base("one_hot");
    case 5:
      base.kind = GeneratorKind::kSparse;
      base.a = PowerOfTen(-3, 0, rng);
      return base;
    default:
      base.kind = GeneratorKind::kConstant;
      base.a = rng.Chance(0.5) ? PowerOfTen(-3, 3, rng) : -PowerOfTen(-3, 3, rng);
      return base;
  }
}

// The changes that most faults need are drawn more often.
double WeightOf(InputChange::Kind kind) {
  switch (kind) {
    case InputChange::Kind::kScale:
    case InputChange::Kind::kShift:
    case InputChange::Kind::kSpike:
      return 3;
    case InputChange::Kind::kMaskFirst:
    case InputChange::Kind::kMaskSecond:
    case InputChange::Kind::kSet:
    case InputChange::Kind::kRamp:
      return 1.5;
    default:
      return 1;
  }
}

}  // namespace

InputMutator::InputMutator(const Task& task, const Case& sizes) {
  const Variables variables = CaseVariables(task, sizes);
  for (const Argument& argument : task.arguments) {
    if (argument.generators.empty()) continue;
    Input input{argument.name, argument, RowsOf(argument, variables), {}};
    for (const Generator& generator : argument.generators) input.bounds.push_back(generator.bound.EvaluateInteger(variables));
    if (IsFloating(argument.dtype)) real_.push_back(inputs_.size());
    inputs_.push_back(std::move(input));
  }
}

const InputMutator::Input& InputMutator::AnyInput(Rng& rng) const { return inputs_[rng.Below(inputs_.size())]; }

const InputMutator::Input* InputMutator::Named(const std::string& name) const {
  const auto found = std::ranges::find(inputs_, name, &Input::name);
  return found == inputs_.end() ? nullptr : &*found;
}

ChangeScope InputMutator::ScopeOf(const Input& input, const Generator& base) const {
  ChangeScope scope{input.rows, IsFloating(input.argument.dtype), 1};
  for (std::size_t i = 0; i < input.bounds.size(); ++i) {
    if (ToText(input.argument.generators[i]) == ToText(base)) scope.bound = input.bounds[i];
  }
  return scope;
}

Generator InputMutator::DrawBase(const Input& input, Rng& rng) const {
  const std::vector<Generator>& own = input.argument.generators;
  if (!IsFloating(input.argument.dtype)) return own[rng.Below(own.size())];
  if (rng.Chance(0.4)) return own.front();
  return rng.Chance(0.2) ? own[rng.Below(own.size())] : DrawReal(rng);
}

InputChange InputMutator::DrawChange(const Input& input, const Generator& base, Rng& rng) const {
  std::vector<const ChangeForm*> fitting;
  for (const ChangeForm& form : ChangeForms())
    if (Fits(form.kind, base.kind, input.argument.dtype)) fitting.push_back(&form);
  if (fitting.empty()) return {};
  std::vector<double> weights;
  for (const ChangeForm* form : fitting) weights.push_back(WeightOf(form->kind));
  const ChangeForm& form = *fitting[rng.Weighted(weights)];
  InputChange change{form.kind, {}};
  const bool shortened = form.optional >= 0 && rng.Chance(0.5);
  const ChangeScope scope = ScopeOf(input, base);
  for (std::size_t i = 0; i < form.numbers.size(); ++i) {
    if (shortened && static_cast<int>(i) == form.optional) continue;
    change.numbers.push_back(DrawNumber(form.numbers[i], form.kind, scope, rng));
  }
  return change;
}

ArgumentProgram InputMutator::DrawArgument(const Input& input, Rng& rng) const {
  ArgumentProgram program{DrawBase(input, rng), {}};
  const std::size_t changes = 1 + rng.Below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    InputChange change = DrawChange(input, program.base, rng);
    if (Fits(change.kind, program.base.kind, input.argument.dtype)) program.changes.push_back(std::move(change));
  }
  return program;
}

InputProgram InputMutator::Random(Rng& rng) const {
  InputProgram program;
  program.seed = rng.Next();
  if (inputs_.empty()) return program;
  const std::array<double, 3> weights{4, 4, 2};
  const std::size_t how = rng.Weighted(weights);
  if (real_.empty() || how == 0) {
    const Input& input = AnyInput(rng);
    program.arguments[input.name] = DrawArgument(input, rng);
    return program;
  }
  const ArgumentProgram alike = DrawArgument(inputs_[real_.front()], rng);
  for (const std::size_t i : real_) program.arguments[inputs_[i].name] = how == 1 ? alike : DrawArgument(inputs_[i], rng);
  for (const Input& input : inputs_) {
    if (!program.arguments.contains(input.name) && rng.Chance(0.3)) program.arguments[input.name] = DrawArgument(input, rng);
  }
  return program;
}

ArgumentProgram& InputMutator::ProgramOf(const Input& input, InputProgram& program) const {
  return program.arguments.try_emplace(input.name, ArgumentProgram{input.argument.generators.front(), {}}).first->second;
}

void InputMutator::PerturbSomeNumber(const Input& input, ArgumentProgram& program, Rng& rng) const {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;  // change, number
  for (std::size_t i = 0; i < program.changes.size(); ++i)
    for (std::size_t j = 0; j < program.changes[i].numbers.size(); ++j) numbers.emplace_back(i, j);
  if (numbers.empty()) {
    program.base = DrawBase(input, rng);
    std::erase_if(program.changes,
                  [&](const InputChange& change) { return !Fits(change.kind, program.base.kind, input.argument.dtype); });
    return;
  }
  const auto [i, j] = numbers[rng.Below(numbers.size())];
  InputChange& change = program.changes[i];
  change.numbers[j] = PerturbNumber(change.numbers[j], RolesOf(change)[j], change.kind, ScopeOf(input, program.base), rng);
}

void InputMutator::MutateOnce(InputProgram& program, const InputProgram& other, Rng& rng) const {
  // One of the arguments that are changed already, most often.
  const Input* input = &AnyInput(rng);
  if (!program.arguments.empty() && rng.Chance(0.8)) {
    const auto at = std::next(program.arguments.begin(), static_cast<std::ptrdiff_t>(rng.Below(program.arguments.size())));
    input = Named(at->first);
  }
  ArgumentProgram& own = ProgramOf(*input, program);
  const std::array<double, 8> weights{4, 2, 1, 1, 1, 0.5, 1, 1};
  switch (rng.Weighted(weights)) {
    case 0:
      return PerturbSomeNumber(*input, own, rng);
    case 1: {
      InputChange change = DrawChange(*input, own.base, rng);
      if (own.changes.size() >= kMostChanges || !Fits(change.kind, own.base.kind, input->argument.dtype)) return;
      const std::size_t at = rng.Below(own.changes.size() + 1);
      own.changes.insert(own.changes.begin() + static_cast<std::ptrdiff_t>(at), std::move(change));
      return;
    }
    case 2:
      if (own.changes.empty()) return;
      own.changes.erase(own.changes.begin() + static_cast<std::ptrdiff_t>(rng.Below(own.changes.size())));
      return;
    case 3:
      if (!own.changes.empty()) own.changes[rng.Below(own.changes.size())] = DrawChange(*input, own.base, rng);
      return;
    case 4: {
      const auto from = other.arguments.find(input->name);
      if (from != other.arguments.end()) own = from->second;
      return;
    }
    case 5:
      if (own.changes.size() > 1) std::swap(own.changes[rng.Below(own.changes.size())], own.changes.front());
      return;
    case 6:
      if (!IsFloating(input->argument.dtype)) return;
      for (const std::size_t i : real_)
        if (inputs_[i].name != input->name) program.arguments[inputs_[i].name] = own;
      return;
    default:
      program.seed = rng.Next();
  }
}

InputProgram InputMutator::Mutate(const InputProgram& parent, const InputProgram& other, Rng& rng) const {
  InputProgram child = parent;
  if (inputs_.empty()) child.seed = rng.Next();
  if (inputs_.empty()) return child;
  do {
    MutateOnce(child, other, rng);
  } while (rng.Chance(0.4));
  return child;
}

InputProgram InputMutator::SetElements(const InputProgram& parent, Rng& rng) const {
  InputProgram child = parent;
  if (inputs_.empty()) return child;
  const Input& input = AnyInput(rng);
  ArgumentProgram& own = ProgramOf(input, child);
  if (!Fits(InputChange::Kind::kSet, own.base.kind, input.argument.dtype)) return Mutate(parent, parent, rng);
  const ChangeScope scope = ScopeOf(input, own.base);
  const std::size_t elements = 1 + rng.Below(kMostElementsSet);
  for (std::size_t i = 0; i < elements && own.changes.size() < kMostChanges + kMostElementsSet; ++i) {
    constexpr auto kSet = InputChange::Kind::kSet;
    own.changes.push_back(
        {kSet, {DrawNumber(NumberRole::kPlace, kSet, scope, rng), DrawNumber(NumberRole::kValue, kSet, scope, rng)}});
  }
  return child;
}

}  // namespace evo
