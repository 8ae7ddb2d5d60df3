#include "evaluator/session/input_trials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "evaluator/gate/infrastructure_failure.h"

namespace evo {
namespace {

// Of inputs on which the program is right whether they are legal or not, one in so many may be looked at: that takes as long as
// trying six others. It tells the worst error, and the search leaves inputs that are not legal.
constexpr int kShare = 32;

// By the task's own bounds. Beyond them the error says little of how near a failure is, since each input has bounds of its own,
// and many of these inputs are not legal: the search stays where it can tell.
double FitnessOf(const Difference& by_task) { return by_task.ratio <= 1 ? by_task.ratio : 1 / LegalInputs::kHardInputs; }

}  // namespace

// Puts the inputs where the program finds them; why that cannot be done.
std::optional<LeftOut> InputTrials::Place(const InputProgram& inputs, const DrawnArguments& drawn) {
  if (set_ == nullptr) {
    set_ = legal_.inputs().MakeUnanswered(sizes_, drawn, inputs.seed);
    if (set_ == nullptr) return LeftOut{ToText(inputs), "they do not fit into the device's memory"};
  } else if (const DeviceStatus status = set_->Renew(drawn, inputs.seed); !status.ok()) {
    throw InfrastructureFailure("inputs cannot be written: " + status.message);
  }
  return std::nullopt;
}

std::variant<InputSet::Answer, Failure> InputTrials::Run() {
  if (!binding_) {
    auto made = LaunchBinding::Make(device_, program_, legal_.task(), sizes_);
    if (auto* failure = std::get_if<Failure>(&made)) return *failure;
    binding_.emplace(std::move(std::get<LaunchBinding>(made)));
  }
  auto ran = legal_.RunBeforeReference(BindProgram(*binding_, *set_));
  const auto* answer = std::get_if<InputSet::Answer>(&ran);
  if (answer != nullptr && !answer->violation.empty()) return Failure{Outcome::kCheating, answer->violation};
  return ran;
}

// Runs the program once more, with the bounds of these inputs. It must not have been wrong by luck.
InputTrials::Tried InputTrials::TryOnLegal(const InputSet::Answer& first) {
  auto ran = Run();
  if (auto* failure = std::get_if<Failure>(&ran)) return *failure;
  const auto& answer = std::get<InputSet::Answer>(ran);
  if (!answer.difference.acceptable) return Failure{Outcome::kWrongResult, answer.difference.message};
  const bool must_agree = legal_.task().determinism == Determinism::kBitwise || !std::isfinite(first.difference.ratio);
  if (must_agree && answer.hashes != first.hashes)
    return Failure{Outcome::kNondeterministic, "right in one of two runs on the same input: " + first.difference.message};
  worst_ = std::max(worst_, answer.difference.ratio);
  return RightAnswer{first.difference.acceptable ? first.difference.ratio : answer.difference.ratio, answer.difference.ratio};
}

InputTrials::Tried InputTrials::Try(const InputProgram& inputs) {
  const auto left_out = [&](std::string reason) { return LeftOut{ToText(inputs), std::move(reason)}; };
  const Counterexample on{sizes_.name, 0, inputs.seed, ToText(inputs)};
  if (auto reason = legal_.baseline_runs().Avoided(on)) return left_out(*reason);
  DrawnArguments drawn = DrawArguments(legal_.task(), sizes_, inputs);
  if (auto reason = legal_.inputs().Derive(sizes_, drawn)) return left_out(*reason);
  if (auto reason = legal_.bounds().OutsideDomain(sizes_, drawn)) return left_out(*reason);
  if (auto why = Place(inputs, drawn)) return *why;
  auto ran = Run();
  if (auto* failure = std::get_if<Failure>(&ran)) {
    if (failure->of_reference) return left_out("the reference has no answer: " + failure->message);
    return *failure;
  }
  const auto& first = std::get<InputSet::Answer>(ran);
  // The bounds of a legal input are so many times as wide as the task's at least.
  const double at_most = first.difference.ratio / LegalInputs::kHardInputs;
  ++tried_;
  if (at_most <= 1) {
    if (at_most <= worst_ || looked_at_ * kShare > tried_) return RightAnswer{FitnessOf(first.difference), kNoValue};
    ++looked_at_;
  }
  const auto not_legal = [&] {
    const BaselineRuns::Running running(legal_.baseline_runs(), on);
    return legal_.bounds().Set(*set_, drawn, inputs);
  }();
  return not_legal ? left_out(*not_legal) : TryOnLegal(first);
}

}  // namespace evo
