#include "evaluator/session/answered_inputs.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/session/changed_inputs.h"

namespace evo {
namespace {

std::string NoAnswer(const Failure& failure) { return "the reference has no answer: " + failure.message; }

// Null where there is none.
std::unique_ptr<InputSet> SetOf(std::variant<std::unique_ptr<InputSet>, std::string> made) {
  auto* set = std::get_if<std::unique_ptr<InputSet>>(&made);
  return set == nullptr ? nullptr : std::move(*set);
}

}  // namespace

std::optional<std::string> AnsweredInputs::Derive(const Case& sizes, DrawnArguments& drawn) const {
  auto failure = cache_.Derive(sizes, drawn);
  if (!failure) return std::nullopt;
  return std::get<std::string>(Checked(*std::move(failure), sizes));
}

AnsweredInputs::Made AnsweredInputs::Checked(std::variant<std::unique_ptr<InputSet>, Failure> made, const Case& sizes) const {
  if (auto* set = std::get_if<std::unique_ptr<InputSet>>(&made)) return std::move(*set);
  const Failure& failure = std::get<Failure>(made);
  if (failure.of_reference) return NoAnswer(failure);
  if (failure.sticky || failure.outcome != Outcome::kResourceLimit) {
    throw InfrastructureFailure(
        fmt::format("the reference of task {} fails on case {}: {}", task_.name, sizes.name, failure.message));
  }
  return "they do not fit into the device's memory";
}

AnsweredInputs::Made AnsweredInputs::Make(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed) {
  return Checked(InputSet::Make(device_, task_, sizes, drawn, seed, cache_.TaskReference()), sizes);
}

std::unique_ptr<InputSet> AnsweredInputs::MakeUnanswered(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed) {
  return SetOf(Checked(InputSet::MakeUnanswered(device_, task_, sizes, drawn, seed), sizes));
}

InputSet* AnsweredInputs::Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed) {
  return Scratch(sizes, std::move(drawn), seed, cache_.TaskReference());
}

InputSet* AnsweredInputs::Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed, Reference& reference) {
  if (Derive(sizes, drawn)) return nullptr;
  if (scratch_ == nullptr || scratch_->sizes().sizes != sizes.sizes || scratch_->sizes().name != sizes.name) {
    scratch_ = nullptr;  // its memory may be needed
    scratch_ = SetOf(Checked(InputSet::Make(device_, task_, sizes, drawn, seed, reference), sizes));
    return scratch_.get();
  }
  std::optional<Failure> failure;
  if (DeviceStatus status = scratch_->Renew(drawn, seed); !status.ok()) failure = ToFailure(status);
  if (!failure) failure = scratch_->RunReference(reference);
  if (!failure) return scratch_.get();
  scratch_ = nullptr;
  Checked(*failure, sizes);
  return nullptr;
}

std::vector<std::vector<double>> AnsweredInputs::AnswersTo(const Case& sizes, DrawnArguments drawn, std::uint64_t seed) {
  const InputSet* set = Scratch(sizes, std::move(drawn), seed);
  return set == nullptr ? std::vector<std::vector<double>>{} : set->References();
}

std::vector<std::vector<double>> AnsweredInputs::AnswersToMagnitudes(const Case& sizes, const DrawnArguments& drawn,
                                                                     std::uint64_t seed) {
  return AnswersTo(sizes, Changed(task_, drawn, [](double value, Dtype, std::uint64_t) { return std::abs(value); }), seed);
}

}  // namespace evo
