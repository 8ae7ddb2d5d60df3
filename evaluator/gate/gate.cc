#include "evaluator/gate/gate.h"

#include <fmt/format.h>

namespace evo {

BoundProgram BindProgram(Program& program, const LaunchBinding& binding, InputSet& inputs) {
  return {&program, &binding, &inputs, binding.Bind([&](const std::string& name) { return inputs.PlaceOf(name); })};
}

std::optional<Failure> Gate::RunOnce(const BoundProgram& bound, std::uint64_t schedule) {
  // 0 and 255 are the bytes that unwritten or constant results most often are; a sentinel is neither.
  const auto sentinel = static_cast<std::uint8_t>(1 + (runs_++ * 37) % 254);
  if (DeviceStatus status = bound.inputs->Reset(sentinel); !status.ok()) return ToFailure(status);
  for (const DeviceFill& fill : bound.binding->Poison()) {
    if (DeviceStatus status = device_.memory().Fill(fill); !status.ok()) return ToFailure(status);
  }
  if (DeviceStatus status = device_.Run(*bound.program->loaded, bound.sequence, schedule); !status.ok()) return ToFailure(status);
  return std::nullopt;
}

std::optional<Failure> Gate::Judge(const BoundProgram& bound, const InputSet::Answer& answer, CheckedErrors& errors) const {
  if (!answer.status.ok()) return ToFailure(answer.status);
  if (!answer.violation.empty()) return Failure{Outcome::kCheating, answer.violation};
  if (const std::string name = bound.binding->Violation(); !name.empty()) {
    return Failure{Outcome::kCheating, fmt::format("wrote outside its workspace {}", name)};
  }
  const Difference difference = bound.inputs->Judge(answer);
  if (!(difference.l2 <= errors.l2)) errors.l2 = difference.l2;
  if (!(difference.max <= errors.max)) errors.max = difference.max;
  if (!difference.acceptable) return Failure{Outcome::kWrongResult, difference.message};
  return std::nullopt;
}

std::optional<Failure> Gate::Inspect(const BoundProgram& bound, CheckedErrors& errors) {
  return Judge(bound, bound.inputs->Read(), errors);
}

std::optional<Failure> Gate::Check(const BoundProgram& bound, int repeats, CheckedErrors& errors) {
  std::vector<std::vector<std::byte>> first;
  bool differs = false;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (auto failure = RunOnce(bound, static_cast<std::uint64_t>(repeat))) return failure;
    InputSet::Answer answer = bound.inputs->Read();
    if (auto failure = Judge(bound, answer, errors)) {
      // Right once and wrong once is a race, whatever the tolerance says.
      if (repeat > 0 && failure->outcome == Outcome::kWrongResult) {
        return Failure{Outcome::kNondeterministic, fmt::format("right at first, wrong in run {}: {}", repeat + 1, failure->message)};
      }
      if (repeat == 0 && failure->outcome == Outcome::kWrongResult && RunsDiffer(bound, answer)) {
        return Failure{Outcome::kNondeterministic, fmt::format("runs disagree: {}", failure->message)};
      }
      return failure;
    }
    if (repeat == 0) first = std::move(answer.outputs);
    else differs = differs || answer.outputs != first;
  }
  if (differs && determinism_ == Determinism::kBitwise) {
    return Failure{Outcome::kNondeterministic, fmt::format("{} runs on the same input gave different bits", repeats)};
  }
  return std::nullopt;
}

// A wrong answer that changes when the program runs again, in another order, is a race rather than a wrong formula.
bool Gate::RunsDiffer(const BoundProgram& bound, const InputSet::Answer& answer) {
  for (std::uint64_t schedule = 1; schedule <= 2; ++schedule) {
    if (RunOnce(bound, schedule)) return false;
    if (bound.inputs->Read().outputs != answer.outputs) return true;
  }
  return false;
}

}  // namespace evo
