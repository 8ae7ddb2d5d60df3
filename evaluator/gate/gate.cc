#include "evaluator/gate/gate.h"

#include <fmt/format.h>

namespace evo {

BoundProgram BindProgram(Program& program, const LaunchBinding& binding, InputSet& inputs) {
  return {&program, &binding, &inputs, binding.Bind([&](const std::string& name) { return inputs.PlaceOf(name); })};
}

std::optional<Failure> Gate::RunOnce(const BoundProgram& bound, std::uint64_t schedule) {
  // Unwritten and constant results are most often bytes of 0 or 255; a sentinel is neither.
  const auto sentinel = static_cast<std::uint8_t>(1 + (runs_++ * 37) % 254);
  Preparation preparation = bound.inputs->Prepare(sentinel);
  const std::vector<DeviceFill> workspaces = bound.binding->Poison();
  preparation.poison.insert(preparation.poison.end(), workspaces.begin(), workspaces.end());
  if (schedule % 2 != 0) {
    preparation.flush_bytes = 2 * device_.info().l2_bytes;
    preparation.displace_code = true;
  }
  if (DeviceStatus status = device_.Prepare(preparation); !status.ok()) return ToFailure(status);
  if (DeviceStatus status = device_.Run(*bound.program->loaded, bound.sequence, schedule); !status.ok()) return ToFailure(status);
  return std::nullopt;
}

InputSet::Answer Gate::Look(const BoundProgram& bound) { return bound.inputs->Inspect(bound.binding, bound.program->state); }

std::optional<Failure> Gate::Judge(const BoundProgram& bound, const InputSet::Answer& answer, CheckedErrors& errors) {
  if (!answer.status.ok()) return ToFailure(answer.status);
  if (!answer.violation.empty()) return Failure{Outcome::kCheating, answer.violation};
  if (answer.state != bound.program->loaded_state) {
    return Failure{Outcome::kCheating,
                   "a variable of the module differs after the launch from before: state that one launch leaves to the next"};
  }
  const Difference& difference = answer.difference;
  if (!(difference.l2 <= errors.l2)) errors.l2 = difference.l2;
  if (!(difference.max <= errors.max)) errors.max = difference.max;
  const auto [before, first_time] = answers_.try_emplace(bound.inputs->original(), answer.hashes);
  if (!difference.acceptable) {
    // A program that is right once and wrong later has a race, whatever the tolerance.
    if (!first_time)
      return Failure{Outcome::kNondeterministic, fmt::format("right at first, wrong in a later run: {}", difference.message)};
    answers_.erase(before);
    return Failure{Outcome::kWrongResult, difference.message};
  }
  if (determinism_ == Determinism::kBitwise && before->second != answer.hashes) {
    return Failure{Outcome::kNondeterministic, "runs on the same input gave different bits"};
  }
  return std::nullopt;
}

std::variant<InputSet::Answer, Failure> Gate::Try(const BoundProgram& bound) {
  if (auto failure = RunOnce(bound, 0)) return *failure;
  InputSet::Answer answer = Look(bound);
  if (!answer.status.ok()) return ToFailure(answer.status);
  return answer;
}

std::optional<Failure> Gate::Inspect(const BoundProgram& bound, CheckedErrors& errors) {
  return Judge(bound, Look(bound), errors);
}

std::optional<Failure> Gate::Check(const BoundProgram& bound, int repeats, CheckedErrors& errors) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (auto failure = RunOnce(bound, static_cast<std::uint64_t>(repeat))) return failure;
    const InputSet::Answer answer = Look(bound);
    auto failure = Judge(bound, answer, errors);
    if (!failure) continue;
    if (failure->outcome == Outcome::kWrongResult && RunsDiffer(bound, answer)) {
      return Failure{Outcome::kNondeterministic, fmt::format("runs disagree: {}", failure->message)};
    }
    return failure;
  }
  return std::nullopt;
}

// A wrong answer that changes when the program runs again, in another order, is a race rather than a wrong formula.
bool Gate::RunsDiffer(const BoundProgram& bound, const InputSet::Answer& answer) {
  for (std::uint64_t schedule = 1; schedule <= 2; ++schedule) {
    if (RunOnce(bound, schedule)) return false;
    if (Look(bound).hashes != answer.hashes) return true;
  }
  return false;
}

}  // namespace evo
