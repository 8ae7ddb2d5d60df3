#include "evaluator/gate/degenerate_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

void Require(const DeviceStatus& status) {
  if (!status.ok()) throw InfrastructureFailure(status.message);
}

std::size_t Elements(const InputSet::View& view) { return view.place.bytes / ByteSize(view.argument->dtype); }

std::vector<double> ReferenceOf(Device& device, const InputSet::View& view) {
  std::vector<double> values(Elements(view));
  Require(device.memory().Read(std::as_writable_bytes(std::span(values)), view.reference));
  return values;
}

// The mean of the finite elements, rounded to a value that the output's dtype can hold.
double Constant(Device& device, const InputSet::View& view) {
  double sum = 0;
  double count = 0;
  for (const double value : ReferenceOf(device, view)) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  const double mean = count == 0 ? 0 : sum / count;
  return IsFloating(view.argument->dtype) ? mean : std::round(mean);
}

void Write(Device& device, const InputSet::View& view, std::vector<double> values) {
  values.resize(Elements(view), 0);
  Require(device.memory().Write(view.place.address, FromDoubles(values, view.argument->dtype)));
}

// Writes an answer to one output of one set.
using Answer = std::function<void(const InputSet::View& output, std::size_t index, InputSet& set)>;

bool PassesOn(Device& device, InputSet& set, const Answer& answer) {
  Require(device.Prepare(set.Prepare({})));
  // Prepare may return before it is done, and reading waits for it.
  static_cast<void>(set.Inspect(nullptr));
  std::size_t index = 0;
  for (const InputSet::View& view : set.Views()) {
    if (view.reference != 0) answer(view, index++, set);
  }
  const InputSet::Answer seen = set.Inspect(nullptr);
  Require(seen.status);
  return seen.violation.empty() && seen.difference.acceptable;
}

bool PassesOnAll(Device& device, const std::vector<InputSet*>& sets, const Answer& answer) {
  return std::all_of(sets.begin(), sets.end(), [&](InputSet* set) { return PassesOn(device, *set, answer); });
}

}  // namespace

std::string FindPassingDegenerateAnswer(Device& device, const std::vector<InputSet*>& sets) {
  if (PassesOnAll(device, sets, [](const auto&, std::size_t, InputSet&) {})) return "writes nothing";
  if (PassesOnAll(device, sets, [&](const auto& view, std::size_t, InputSet&) {
        Require(device.memory().Fill({view.place.address, view.place.bytes, 0}));
      })) {
    return "writes zeros";
  }
  std::vector<double> constants;
  std::vector<std::vector<double>> first_answer;
  std::vector<std::string> inputs;
  for (const InputSet::View& view : sets.front()->Views()) {
    if (view.reference != 0) {
      constants.push_back(Constant(device, view));
      first_answer.push_back(ReferenceOf(device, view));
    }
    if (view.argument->role == Role::kIn) inputs.push_back(view.argument->name);
  }
  const auto constant = [&](const InputSet::View& view, std::size_t index, InputSet&) {
    Write(device, view, std::vector<double>(Elements(view), constants[index]));
  };
  if (PassesOnAll(device, sets, constant)) return "writes a constant";
  const auto remembered = [&](const InputSet::View& view, std::size_t index, InputSet&) {
    Write(device, view, first_answer[index]);
  };
  if (PassesOnAll(device, sets, remembered)) return "gives the same answer to all inputs";
  for (const std::string& name : inputs) {
    const auto copied = [&](const InputSet::View& view, std::size_t, InputSet& set) {
      const BufferPlace from = set.PlaceOf(name);
      Require(device.memory().Copy({view.place.address, from.address, std::min(view.place.bytes, from.bytes)}));
    };
    if (PassesOnAll(device, sets, copied)) return fmt::format("copies {} to its output", name);
  }
  return {};
}

}  // namespace evo
