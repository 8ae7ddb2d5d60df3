#include "evaluator/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

// Answers up to this size are looked at after every candidate.
constexpr std::size_t kSmallBytes = 1 << 20;

}  // namespace

BoundProgram BindProgram(const LaunchBinding& binding, InputSet& inputs) {
  const auto place_of = [&](const std::string& name) { return inputs.PlaceOf(name); };
  return {&binding, &inputs, binding.Bind(place_of), binding.FillConstants(place_of)};
}

Preparation PrepareRun(const BoundProgram& bound, const Poison& poison, std::span<const DeviceCopy> contents) {
  Preparation preparation = bound.inputs->Prepare(poison);
  const std::vector<DevicePoison> workspaces = bound.binding->PoisonWith(poison);
  preparation.poison.insert(preparation.poison.end(), workspaces.begin(), workspaces.end());
  preparation.restore.insert(preparation.restore.end(), contents.begin(), contents.end());
  preparation.restore.insert(preparation.restore.end(), bound.constants.begin(), bound.constants.end());
  return preparation;
}

// With `reference`, the answer is made after the run.
std::optional<Failure> Gate::RunOnce(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison,
                                     Reference* reference) {
  Preparation preparation = PrepareRun(bound, poison);
  if (schedule % 2 != 0) {
    preparation.flush_bytes = 2 * device_.info().l2_bytes;
    preparation.displace_code = true;
  }
  if (reference != nullptr) bound.inputs->HideAnswer(preparation);
  if (DeviceStatus status = device_.Prepare(preparation); !status.ok()) return ToFailure(status);
  // Where the answer exists, what the program wrote is looked at next, which waits for it.
  LoadedProgram& loaded = *bound.binding->image().loaded;
  const DeviceStatus status =
      reference != nullptr ? device_.Run(loaded, bound.sequence, schedule) : device_.Start(loaded, bound.sequence, schedule);
  if (!status.ok()) return ToFailure(status);
  return reference != nullptr ? bound.inputs->RunReference(*reference) : std::nullopt;
}

// `ran_last`: no other inputs have been in the `__constant__` variables since.
InputSet::Look Gate::WhatToSee(const BoundProgram& bound, bool ran_last) {
  for (const auto& one : bound.inputs->Protected()) protected_.insert(one);
  std::vector<Inspection> state = bound.binding->image().state;
  if (ran_last) {
    for (const DeviceCopy& filled : bound.constants)
      state.push_back({Inspection::Kind::kEqual, filled.to, filled.from, filled.bytes});
  }
  return bound.inputs->WhatToInspect(bound.binding, state);
}

InputSet::Answer Gate::AnswerOf(const BoundProgram& bound, const InputSet::Look& look, const Inspected& inspected) {
  InputSet::Answer answer = bound.inputs->AnswerOf(bound.binding, look, inspected);
  if (answer.state.size() <= bound.binding->image().state.size()) return answer;
  const auto first = answer.state.begin() + static_cast<std::ptrdiff_t>(bound.binding->image().state.size());
  if (std::any_of(first, answer.state.end(), [](std::uint64_t different) { return different > 0; }) && answer.violation.empty())
    answer.violation = "changed a __constant__ variable that evo:constant fills";
  answer.state.erase(first, answer.state.end());
  return answer;
}

InputSet::Answer Gate::Look(const BoundProgram& bound, bool ran_last) {
  const InputSet::Look look = WhatToSee(bound, ran_last);
  return AnswerOf(bound, look, device_.Inspect(look.inspections));
}

std::optional<Failure> Gate::Judge(const BoundProgram& bound, const InputSet::Answer& answer, const std::optional<Poison>& poison,
                                   CheckedErrors& errors) {
  if (!answer.status.ok()) return ToFailure(answer.status);
  if (!answer.violation.empty()) return Failure{Outcome::kCheating, answer.violation};
  if (answer.state != bound.binding->image().loaded_state) {
    return Failure{Outcome::kCheating,
                   "a variable of the module differs after the launch from before: state that one launch leaves to the next"};
  }
  const Difference& difference = answer.difference;
  if (!(difference.l2 <= errors.l2)) errors.l2 = difference.l2;
  if (!(difference.max <= errors.max)) errors.max = difference.max;
  const auto [before, first_time] = answers_.try_emplace(bound.inputs->number(), Known{answer.hashes, poison});
  if (!difference.acceptable) {
    // A program that is right once and wrong later has a race, whatever the tolerance.
    if (!first_time)
      return Failure{Outcome::kNondeterministic, fmt::format("right at first, wrong in a later run: {}", difference.message)};
    answers_.erase(before);
    return Failure{Outcome::kWrongResult, difference.message};
  }
  if (determinism_ == Determinism::kBitwise && before->second.hashes != answer.hashes) {
    return Failure{Outcome::kNondeterministic, "runs on the same input gave different bits"};
  }
  return std::nullopt;
}

std::variant<InputSet::Answer, Failure> Gate::Try(const BoundProgram& bound, Reference* reference) {
  if (auto failure = RunOnce(bound, 0, bound.inputs->poisons().Next(), reference)) return *failure;
  InputSet::Answer answer = Look(bound, true);
  if (!answer.status.ok()) return ToFailure(answer.status);
  return answer;
}

// Before a program is blamed for a wrong answer, the right answer is looked at.
std::optional<Failure> Gate::Believed(const BoundProgram& bound, std::optional<Failure> failure) {
  if (!failure || (failure->outcome != Outcome::kWrongResult && failure->outcome != Outcome::kNondeterministic)) return failure;
  if (auto changed = ProtectedMemory::Check(device_, bound.inputs->Protected())) return changed;
  return failure;
}

std::optional<Failure> Gate::Inspect(const BoundProgram& bound, CheckedErrors& errors) {
  return Believed(bound, Judge(bound, Look(bound, false), std::nullopt, errors));
}

std::optional<Failure> Gate::Check(const BoundProgram& bound, int repeats, CheckedErrors& errors) {
  return Believed(bound, CheckRuns(bound, repeats, errors, nullptr));
}

std::optional<Failure> Gate::CheckBeforeReference(const BoundProgram& bound, Reference& reference, int repeats,
                                                  CheckedErrors& errors) {
  return Believed(bound, CheckRuns(bound, repeats, errors, &reference));
}

std::optional<Failure> Gate::CheckRuns(const BoundProgram& bound, int repeats, CheckedErrors& errors, Reference* reference) {
  PoisonSequence& poisons = bound.inputs->poisons();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Poison poison = repeat == 0 ? poisons.First() : poisons.Next();
    const auto schedule = static_cast<std::uint64_t>(repeat);
    if (auto failure = RunOnce(bound, schedule, poison, reference)) return failure;
    const InputSet::Answer answer = Look(bound, true);
    if (auto failure = Judge(bound, answer, poison, errors))
      return Explained(bound, std::move(*failure), answer, schedule, poison, reference);
  }
  return std::nullopt;
}

Failure Gate::Explained(const BoundProgram& bound, Failure failure, const InputSet::Answer& answer, std::uint64_t schedule,
                        const Poison& poison, Reference* reference) {
  if (failure.outcome == Outcome::kWrongResult && RunsDiffer(bound, answer, poison, reference))
    return {Outcome::kNondeterministic, fmt::format("runs disagree: {}", failure.message)};
  if (failure.outcome == Outcome::kNondeterministic && DependsOnPoison(bound, schedule, poison, reference)) {
    return {Outcome::kWrongResult,
            fmt::format("the answer depends on what memory held that the kernel had not written: {}", failure.message)};
  }
  return failure;
}

std::optional<Gate::FailureOf> Gate::CheckTogether(std::span<const BoundProgram* const> programs, int repeats,
                                                   CheckedErrors& errors) {
  struct Run {
    std::size_t program;
    std::uint64_t schedule;
    Poison poison;
    InputSet::Look look;
  };
  std::vector<Run> runs;
  std::optional<FailureOf> not_run;
  for (std::size_t i = 0; i < programs.size() && !not_run; ++i) {
    const BoundProgram& bound = *programs[i];
    for (int repeat = 0; repeat < repeats && !not_run; ++repeat) {
      const Poison poison = repeat == 0 ? bound.inputs->poisons().First() : bound.inputs->poisons().Next();
      const auto schedule = static_cast<std::uint64_t>(repeat);
      std::optional<Failure> failure = RunOnce(bound, schedule, poison, nullptr);
      if (!failure) {
        runs.push_back({i, schedule, poison, WhatToSee(bound, true)});
        if (DeviceStatus status = device_.BeginInspection(runs.back().look.inspections); !status.ok())
          failure = ToFailure(status);
      }
      if (failure) not_run = FailureOf{i, *failure};
    }
  }
  Inspected seen = device_.CollectInspections();
  if (!seen.status.ok()) return not_run ? not_run : FailureOf{std::nullopt, ToFailure(seen.status)};
  // All of them ran, so that all sets must learn what was done to them, also those after the first wrong answer.
  std::vector<InputSet::Answer> answers;
  std::span<const InspectionResult> left(seen.results);
  for (const Run& run : runs) {
    const auto own = left.first(run.look.inspections.size());
    left = left.subspan(own.size());
    answers.push_back(AnswerOf(*programs[run.program], run.look, {{}, {own.begin(), own.end()}}));
  }
  const auto judge = [&](std::size_t i) -> std::optional<FailureOf> {
    const Run& run = runs[i];
    const BoundProgram& bound = *programs[run.program];
    auto failure = Judge(bound, answers[i], run.poison, errors);
    if (!failure) return std::nullopt;
    Failure explained = Explained(bound, std::move(*failure), answers[i], run.schedule, run.poison, nullptr);
    return FailureOf{run.program, *Believed(bound, std::move(explained))};
  };
  // A write outside weighs more than a wrong answer before it: no other candidate is judged in this process.
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].violation.empty()) continue;
    if (auto failed = judge(i)) return failed;
  }
  if (not_run) return not_run;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (auto failed = judge(i)) return failed;
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> Gate::HashesOf(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison,
                                                         Reference* reference) {
  if (RunOnce(bound, schedule, poison, reference)) return std::nullopt;
  InputSet::Answer answer = Look(bound, true);
  if (!answer.status.ok()) return std::nullopt;
  return std::move(answer.hashes);
}

// A wrong answer that changes when the program runs again, in another order, is a race rather than a wrong formula.
bool Gate::RunsDiffer(const BoundProgram& bound, const InputSet::Answer& answer, const Poison& poison, Reference* reference) {
  for (std::uint64_t schedule = 1; schedule <= 2; ++schedule) {
    const auto hashes = HashesOf(bound, schedule, poison, reference);
    if (!hashes) return false;
    if (*hashes != answer.hashes) return true;
  }
  return false;
}

// Whether the program gives its first answer with the poison of its first run and another with this one, each in the same order.
bool Gate::DependsOnPoison(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison, Reference* reference) {
  const auto known = answers_.find(bound.inputs->number());
  if (known == answers_.end() || !known->second.poison) return false;
  const auto first = HashesOf(bound, schedule, *known->second.poison, reference);
  const auto second = HashesOf(bound, schedule, poison, reference);
  return first && second && *first == known->second.hashes && *second != known->second.hashes;
}

std::optional<Failure> Gate::CheckProtected(bool all) {
  std::vector<std::shared_ptr<const ProtectedMemory>> checked;
  for (const auto& one : protected_) {
    const auto memory = one.lock();
    if (memory && (all || memory->bytes() <= kSmallBytes)) checked.push_back(memory);
  }
  if (auto changed = ProtectedMemory::Check(device_, checked)) return changed;
  const std::vector<Inspection> unused = device_.UnusedMemory();
  if (unused.empty()) return std::nullopt;
  const Inspected seen = device_.Inspect(unused);
  if (!seen.status.ok()) return ToFailure(seen.status);
  for (const InspectionResult& result : seen.results) {
    if (result.different > 0) return Failure{Outcome::kCheating, "wrote to memory that belongs to no buffer"};
  }
  return std::nullopt;
}

}  // namespace evo
