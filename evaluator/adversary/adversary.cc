#include "evaluator/adversary/adversary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "evaluator/adversary/reduction.h"

namespace evo {
namespace {

// Small: most faults are found in one or two steps from a random program, and a large population keeps what is of no use.
constexpr std::size_t kPopulation = 24;
constexpr std::size_t kTournament = 3;
// Shares of new programs, and of the worst program with single elements changed.
constexpr double kNew = 0.35;
constexpr double kElements = 0.1;
constexpr int kMostReductions = 60;

// The kinds of a program without its numbers.
std::string KindsOf(const InputProgram& program) {
  std::string kinds;
  for (const auto& [name, argument] : program.arguments) {
    kinds += fmt::format("{}:{}", name, static_cast<int>(argument.base.kind));
    for (const InputChange& change : argument.changes) kinds += fmt::format("|{}", FormOf(change.kind).name);
    kinds += ';';
  }
  return kinds;
}

// An error at the bound or above it is a failure, whatever the probe calls it.
std::optional<Failure> FailureOf(const ProbeAnswer& answer) {
  if (const auto* failure = std::get_if<Failure>(&answer)) return *failure;
  const auto* right = std::get_if<RightAnswer>(&answer);
  if (right == nullptr || !(right->error >= 1)) return std::nullopt;
  return Failure{Outcome::kWrongResult, fmt::format("the error is {:.3g} times the bound", right->error)};
}

}  // namespace

Adversary::Adversary(const Task& task, const Case& sizes, std::uint64_t seed) : task_(task), mutator_(task, sizes), rng_(seed) {}

void Adversary::Seed(std::vector<InputProgram> programs) {
  for (InputProgram& program : programs) seeds_.push_back(std::move(program));
}

bool Adversary::Better(const Member& one, const Member& other) const {
  if (one.fitness != other.fitness) return one.fitness > other.fitness;
  return tried_.at(one.kinds) < tried_.at(other.kinds);
}

const Adversary::Member& Adversary::Parent() {
  const Member* best = &population_[rng_.Below(population_.size())];
  for (std::size_t i = 1; i < kTournament; ++i) {
    const Member& one = population_[rng_.Below(population_.size())];
    if (Better(one, *best)) best = &one;
  }
  return *best;
}

InputProgram Adversary::Next() {
  if (!seeds_.empty()) {
    InputProgram program = std::move(seeds_.front());
    seeds_.pop_front();
    return program;
  }
  if (population_.empty() || rng_.Chance(kNew)) return mutator_.Random(rng_);
  if (rng_.Chance(kElements)) {
    const auto worst = std::ranges::max_element(population_, {}, &Member::fitness);
    return mutator_.SetElements(worst->program, rng_);
  }
  const Member& parent = Parent();
  return mutator_.Mutate(parent.program, Parent().program, rng_);
}

void Adversary::Keep(InputProgram program, double fitness) {
  std::string kinds = KindsOf(program);
  ++tried_[kinds];
  std::string text = ToText(program);
  Member member{std::move(program), fitness, std::move(text), std::move(kinds)};
  // Two of the same text differ by their seed alone.
  const auto same = std::ranges::find(population_, member.text, &Member::text);
  if (same != population_.end()) {
    if (member.fitness > same->fitness) *same = std::move(member);
    return;
  }
  if (population_.size() < kPopulation) {
    population_.push_back(std::move(member));
    return;
  }
  const auto last =
      std::ranges::max_element(population_, [&](const Member& one, const Member& other) { return Better(one, other); });
  if (Better(member, *last)) *last = std::move(member);
}

FailingInput Adversary::Reduce(const InputProbe& probe, const InputProgram& program, const Failure& failure,
                               const std::function<bool()>& stop, AdversaryReport& report) const {
  FailingInput failing{program, program, failure};
  const auto still_fails = [&](const InputProgram& simpler) {
    if (stop()) return false;
    ++report.inputs;
    const ProbeAnswer answer = probe(simpler);
    report.illegal += std::holds_alternative<IllegalInput>(answer) ? 1 : 0;
    const std::optional<Failure> same = FailureOf(answer);
    if (!same || same->outcome != failure.outcome) return false;
    failing.failure = *same;
    return true;
  };
  // A device that must be restarted cannot answer again.
  if (!failure.sticky) failing.program = Reduced(program, task_, still_fails, kMostReductions);
  return failing;
}

AdversaryReport Adversary::Run(const InputProbe& probe, int most_inputs, const std::function<bool()>& stop) {
  AdversaryReport report;
  while (report.inputs < most_inputs && !stop()) {
    InputProgram program = Next();
    ++report.inputs;
    const ProbeAnswer answer = probe(program);
    if (const std::optional<Failure> failure = FailureOf(answer)) {
      report.failing = Reduce(probe, program, *failure, stop, report);
      return report;
    }
    if (std::holds_alternative<IllegalInput>(answer)) {
      ++report.illegal;
      continue;
    }
    const RightAnswer& right = std::get<RightAnswer>(answer);
    if (report.worst < right.error) {
      report.worst = right.error;
      report.worst_input = program;
    }
    Keep(std::move(program), std::isnan(right.fitness) ? 0 : right.fitness);
  }
  return report;
}

}  // namespace evo
