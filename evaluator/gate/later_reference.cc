#include "evaluator/gate/later_reference.h"

#include <fmt/format.h>

#include <vector>

namespace evo {
namespace {

using View = InputSet::View;

// The name of an input that differs from what it held; empty if none does.
std::string ChangedInput(const Inspected& inspected, const std::vector<const View*>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inspected.results[i].different > 0) return inputs[i]->argument->name;
  }
  return {};
}

}  // namespace

std::optional<Failure> JudgeByLaterReference(Device& device, const BoundProgram& bound, InputSet& judge, CheckedErrors& errors) {
  const std::vector<View> written = bound.inputs->Views();
  const std::vector<View> judged = judge.Views();
  std::vector<Inspection> inspections;
  std::vector<const View*> inputs;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const BufferPlace& from = written[i].place;
    if (judged[i].reference != 0) {
      if (DeviceStatus status = device.memory().Copy({judged[i].place.address, from.address, from.bytes}); !status.ok())
        return ToFailure(status);
      continue;
    }
    inspections.push_back({Inspection::Kind::kEqual, from.address, judged[i].place.address, from.bytes, Dtype::kU8, true});
    inputs.push_back(&written[i]);
  }
  const Inspected inspected = device.Inspect(inspections);
  if (!inspected.status.ok()) return ToFailure(inspected.status);
  if (const std::string changed = ChangedInput(inspected, inputs); !changed.empty())
    return Failure{Outcome::kCheating, fmt::format("changed its input {}", changed)};
  const InputSet::Answer answer = judge.Inspect(nullptr, bound.binding->image().state);
  if (!answer.status.ok()) return ToFailure(answer.status);
  if (answer.state != bound.binding->image().loaded_state)
    return Failure{Outcome::kCheating, "a variable of the module differs after the launch from before"};
  if (!(answer.difference.l2 <= errors.l2)) errors.l2 = answer.difference.l2;
  if (!(answer.difference.max <= errors.max)) errors.max = answer.difference.max;
  if (answer.difference.acceptable) return std::nullopt;
  return Failure{Outcome::kWrongResult, fmt::format("on data that it has not seen: {}", answer.difference.message)};
}

}  // namespace evo
