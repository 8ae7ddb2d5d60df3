#include "evaluator/session/baseline_program.h"

#include <fmt/format.h>

#include <utility>

#include "evaluator/gate/gate.h"
#include "evaluator/gate/infrastructure_failure.h"

namespace evo {

BaselineProgram::BaselineProgram(Device& device, const Task& task, AttachedProgram program)
    : device_(device), task_(task), program_(std::move(program)) {}

Program& BaselineProgram::Loaded() {
  if (loaded_) return *loaded_;
  auto loaded = LoadProgram(device_, program_.source, program_.program);
  if (const auto* failure = std::get_if<Failure>(&loaded))
    throw InfrastructureFailure(fmt::format("the baseline of task {} cannot be loaded: {}", task_.name, failure->message));
  return loaded_.emplace(std::move(std::get<Program>(loaded)));
}

// Two runs may differ by rounding here; the checks of every candidate hold it to the same bits.
std::variant<InputSet::Answer, Failure> BaselineProgram::Run(InputSet& set) {
  auto made = LaunchBinding::Make(device_, Loaded(), task_, set.sizes());
  if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
  auto ran = Gate(device_, Determinism::kTolerance).Try(BindProgram(std::get<LaunchBinding>(made), set));
  const auto* answer = std::get_if<InputSet::Answer>(&ran);
  if (answer != nullptr && !answer->violation.empty()) return Failure{Outcome::kCheating, answer->violation};
  const auto* failure = std::get_if<Failure>(&ran);
  if (failure == nullptr || !failure->sticky) return ran;
  throw InfrastructureFailure(fmt::format("the baseline crashes: {}", failure->message));
}

std::uint64_t BaselineProgram::MostBlocks(const Case& sizes) {
  const auto made = LaunchBinding::Make(device_, Loaded(), task_, sizes);
  const auto* binding = std::get_if<LaunchBinding>(&made);
  return binding == nullptr ? 0 : binding->MostBlocks();
}

}  // namespace evo
