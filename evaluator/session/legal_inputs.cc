#include "evaluator/session/legal_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/rng.h"
#include "evaluator/device/pattern.h"
#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/reference/ones_reference.h"
#include "evaluator/session/array_statistics.h"
#include "evaluator/session/changed_inputs.h"
#include "evaluator/session/shape_probes.h"

namespace evo {
namespace {

// 1 or -1 by chance; the same for the same seed and place.
double SignOf(std::uint64_t seed, std::uint64_t place) { return MixWord(seed, place) % 2 == 0 ? 1 : -1; }

std::string NoAnswer(const Failure& failure) { return "the reference has no answer: " + failure.message; }

// Null where there is none.
std::unique_ptr<InputSet> SetOf(std::variant<std::unique_ptr<InputSet>, std::string> made) {
  auto* set = std::get_if<std::unique_ptr<InputSet>>(&made);
  return set == nullptr ? nullptr : std::move(*set);
}

// Half the distance from 1 to the next number; 0 for types that are narrower than what kernels compute in.
double RoundOff(Dtype dtype) { return dtype == Dtype::kF64 ? 0x1p-53 : dtype == Dtype::kF32 ? 0x1p-24 : 0; }

}  // namespace

double LegalInputs::SmallestNormal(Dtype output) {
  switch (output) {
    case Dtype::kF64:
      return 0x1p-1022;
    case Dtype::kF16:
      return 0x1p-24;  // the step of its denormal numbers: kernels compute in a wider type
    default:
      return 0x1p-126;
  }
}

LegalInputs::LegalInputs(Device& device, InputCache& cache, const Task& task, AttachedProgram baseline)
    : device_(device), cache_(cache), task_(task), baseline_(std::move(baseline)) {}

Program& LegalInputs::Baseline() {
  if (loaded_) return *loaded_;
  auto loaded = LoadProgram(device_, baseline_.source, baseline_.program);
  if (const auto* failure = std::get_if<Failure>(&loaded))
    throw InfrastructureFailure(fmt::format("the baseline of task {} cannot be loaded: {}", task_.name, failure->message));
  return loaded_.emplace(std::move(std::get<Program>(loaded)));
}

std::optional<std::string> LegalInputs::OutsideDomain(const Case& sizes, const DrawnArguments& drawn) const {
  for (const DomainLimit& limit : task_.domain) {
    const auto size = sizes.sizes.find(limit.of);
    if (size != sizes.sizes.end() && !limit.Holds(static_cast<double>(size->second))) return limit.Text();
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (task_.arguments[i].name != limit.of) continue;
      for (const double value : ToDoubles(drawn[i], task_.arguments[i].dtype)) {
        if (!limit.Holds(value)) return limit.Text();
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> LegalInputs::Derive(const Case& sizes, DrawnArguments& drawn) const {
  auto failure = cache_.Derive(sizes, drawn);
  if (!failure) return std::nullopt;
  return std::get<std::string>(Checked(*std::move(failure), sizes));
}

LegalInputs::MadeSet LegalInputs::Checked(std::variant<std::unique_ptr<InputSet>, Failure> made, const Case& sizes) const {
  if (auto* set = std::get_if<std::unique_ptr<InputSet>>(&made)) return std::move(*set);
  const Failure& failure = std::get<Failure>(made);
  if (failure.of_reference) return NoAnswer(failure);
  if (failure.sticky || failure.outcome != Outcome::kResourceLimit) {
    throw InfrastructureFailure(
        fmt::format("the reference of task {} fails on case {}: {}", task_.name, sizes.name, failure.message));
  }
  return "they do not fit into the device's memory";
}

LegalInputs::MadeSet LegalInputs::MakeSet(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed,
                                          Reference& reference) {
  return Checked(InputSet::Make(device_, task_, sizes, drawn, seed, reference), sizes);
}

std::unique_ptr<InputSet> LegalInputs::MakeUnanswered(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed) {
  return SetOf(Checked(InputSet::MakeUnanswered(device_, task_, sizes, drawn, seed), sizes));
}

InputSet* LegalInputs::Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed, Reference& reference) {
  if (Derive(sizes, drawn)) return nullptr;
  if (scratch_ == nullptr || scratch_->sizes().sizes != sizes.sizes || scratch_->sizes().name != sizes.name) {
    scratch_ = nullptr;  // its memory may be needed
    scratch_ = SetOf(MakeSet(sizes, drawn, seed, reference));
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

// Two runs of one program may differ by rounding here; the checks of every candidate hold it to the same bits.
std::variant<InputSet::Answer, Failure> LegalInputs::RunBeforeReference(const BoundProgram& bound) {
  return Gate(device_, Determinism::kTolerance).Try(bound, &cache_.TaskReference());
}

std::variant<InputSet::Answer, Failure> LegalInputs::RunBaseline(InputSet& set) {
  auto made = LaunchBinding::Make(device_, Baseline(), task_, set.sizes());
  if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
  auto ran = Gate(device_, Determinism::kTolerance).Try(BindProgram(std::get<LaunchBinding>(made), set));
  const auto* answer = std::get_if<InputSet::Answer>(&ran);
  if (answer != nullptr && !answer->violation.empty()) return Failure{Outcome::kCheating, answer->violation};
  const auto* failure = std::get_if<Failure>(&ran);
  if (failure == nullptr || !failure->sticky) return ran;
  throw InfrastructureFailure(fmt::format("the baseline crashes: {}", failure->message));
}

std::vector<std::vector<double>> LegalInputs::ReferencesOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed) {
  const InputSet* set = Scratch(sizes, std::move(drawn), seed, cache_.TaskReference());
  return set == nullptr ? std::vector<std::vector<double>>{} : set->References();
}

std::vector<std::vector<double>> LegalInputs::AnswersToMagnitudes(const Case& sizes, const DrawnArguments& drawn,
                                                                  std::uint64_t seed) {
  return ReferencesOn(sizes, Changed(task_, drawn, [](double value, Dtype, std::uint64_t) { return std::abs(value); }), seed);
}

std::uint64_t LegalInputs::BaselineBlocks(const Case& sizes) {
  const auto made = LaunchBinding::Make(device_, Baseline(), task_, sizes);
  const auto* binding = std::get_if<LaunchBinding>(&made);
  return binding == nullptr ? 0 : binding->MostBlocks();
}

bool LegalInputs::BaselineIsFiniteOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed) {
  // Whether the outputs are finite does not depend on what is right, unless they have to be it exactly.
  const auto is_exact = [](const Argument& argument) {
    return argument.check.kind == OutputCheck::Kind::kExact && argument.IsOutput();
  };
  const bool exact = std::any_of(task_.arguments.begin(), task_.arguments.end(), is_exact);
  OnesReference ones;
  InputSet* set = Scratch(sizes, std::move(drawn), seed, exact ? cache_.TaskReference() : ones);
  if (set == nullptr) return true;
  const auto ran = RunBaseline(*set);
  const auto* answer = std::get_if<InputSet::Answer>(&ran);
  return answer != nullptr && std::isfinite(answer->difference.ratio);
}

bool LegalInputs::HasHeadroom(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed) {
  const auto larger = [](double value, Dtype, std::uint64_t) { return value * kHeadroom; };
  if (!BaselineIsFiniteOn(sizes, Changed(task_, drawn, larger), seed)) return false;
  // Values that cannot be larger stayed as they were, which shows nothing: then nothing may depend on how they cancel.
  if (Fits(task_, drawn, larger)) return true;
  return BaselineIsFiniteOn(sizes, Changed(task_, drawn, [](double value, Dtype, std::uint64_t) { return std::abs(value); }),
                            seed);
}

std::variant<std::vector<Allowance>, std::string> LegalInputs::AllowForInputs(InputSet& set, const DrawnArguments& drawn,
                                                                              std::uint64_t seed) {
  const auto references = set.References();
  const auto of_magnitudes = AnswersToMagnitudes(set.sizes(), drawn, seed);
  const auto rounded = [&](double v, Dtype dtype, std::uint64_t place) {
    return v * (1 + SignOf(seed, place) * RoundOff(dtype));
  };
  const auto of_rounded = ReferencesOn(set.sizes(), Changed(task_, drawn, rounded), seed);
  const std::vector<OutputCheck> checks = set.Checks();
  std::vector<Allowance> allowances;
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (!AllFinite(references[i])) return "the reference's answer is not finite";
    Allowance& allowance = allowances.emplace_back();
    allowance.largest = Largest(references[i]);
    allowance.l2 = kHardInputs * checks[i].l2;
    allowance.max = kHardInputs * checks[i].max;
    if (!of_magnitudes.empty()) allowance.scale = RootMeanSquare(of_magnitudes[i]);
    const double scale = allowance.scale = std::max(allowance.scale, RootMeanSquare(references[i]));
    if (scale == 0) continue;
    const double smallest = SmallestNormal(set.OutputDtypes()[i]) / scale;
    allowance.l2 = std::max(allowance.l2, smallest);
    allowance.max = std::max(allowance.max, smallest);
    if (of_rounded.empty()) continue;
    const std::vector<double> change = Minus(of_rounded[i], references[i]);
    const double l2 = RootMeanSquare(change) / scale;
    if (!AllFinite(change) || l2 > kUseless) return "one rounding of the inputs changes the answer";
    allowance.l2 = std::max(allowance.l2, kOfRounding * l2);
    allowance.max = std::max(allowance.max, kOfRounding * Largest(change) / scale);
  }
  return allowances;
}

void LegalInputs::AllowWhatTheBaselineDoesElsewhere(const Case& sizes, const InputProgram& inputs,
                                                    std::vector<Allowance>& allowances) {
  InputProgram other = inputs;
  for (int i = 1; i <= kOtherSeeds; ++i) {
    other.seed = MixWord(inputs.seed, static_cast<std::uint64_t>(i));
    const DrawnArguments drawn = DrawArguments(task_, sizes, other);
    if (OutsideDomain(sizes, drawn)) continue;
    InputSet* set = Scratch(sizes, drawn, other.seed, cache_.TaskReference());
    if (set == nullptr) continue;
    const auto ran = RunBaseline(*set);
    const auto* answer = std::get_if<InputSet::Answer>(&ran);
    if (answer == nullptr) continue;
    const auto references = set->References();
    for (std::size_t o = 0; o < allowances.size(); ++o) {
      const Difference& difference = answer->outputs[o];
      const double scale = RootMeanSquare(references[o]);
      if (!(difference.l2 <= kUseless) || allowances[o].scale == 0) continue;
      allowances[o].l2 = std::max(allowances[o].l2, kOfBaseline * difference.l2 * scale / allowances[o].scale);
      allowances[o].max = std::max(allowances[o].max, kOfBaseline * difference.max * scale / allowances[o].scale);
    }
  }
}

std::optional<std::string> LegalInputs::AllowWhatTheBaselineDoes(InputSet& set, const DrawnArguments& drawn,
                                                                 const InputProgram& inputs) {
  auto allowed = AllowForInputs(set, drawn, inputs.seed);
  if (const auto* reason = std::get_if<std::string>(&allowed)) return *reason;
  auto& allowances = std::get<std::vector<Allowance>>(allowed);
  set.Allow(allowances);
  const auto ran = RunBaseline(set);
  if (const auto* failure = std::get_if<Failure>(&ran)) return fmt::format("the baseline fails: {}", failure->message);
  const auto& answer = std::get<InputSet::Answer>(ran);
  bool by_baseline = false;
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    const Difference& difference = answer.outputs[i];
    if (!std::isfinite(difference.ratio)) return "the baseline is wrong: " + difference.message;
    if (difference.l2 > kUseless) return fmt::format("the baseline is off by more than {:.0f}% of the answer", 100 * kUseless);
    by_baseline |= kOfBaseline * difference.l2 > allowances[i].l2 || kOfBaseline * difference.max > allowances[i].max;
    allowances[i].l2 = std::max(allowances[i].l2, kOfBaseline * difference.l2);
    allowances[i].max = std::max(allowances[i].max, kOfBaseline * difference.max);
  }
  if (by_baseline) AllowWhatTheBaselineDoesElsewhere(set.sizes(), inputs, allowances);
  for (std::size_t i = 0; i < allowances.size(); ++i) {
    if (allowances[i].largest + allowances[i].max * allowances[i].scale > LargestFinite(set.OutputDtypes()[i]))
      return "an answer is as near to the largest number of its type as it may be wrong";
  }
  if (!HasHeadroom(set.sizes(), drawn, inputs.seed)) return "the baseline overflows if they are a little larger";
  set.Allow(std::move(allowances));
  return std::nullopt;
}

LegalInputs::Made LegalInputs::Make(const Case& sizes, const InputProgram& program) {
  const auto left_out = [&](std::string reason) { return LeftOut{ToText(program), std::move(reason)}; };
  if (!enabled()) return left_out("there is no baseline");
  const Counterexample on{sizes.name, 0, program.seed, ToText(program)};
  if (auto reason = runs_.Avoided(on)) return left_out(*reason);
  DrawnArguments drawn = DrawArguments(task_, sizes, program);
  if (auto reason = Derive(sizes, drawn)) return left_out(*reason);
  if (auto reason = OutsideDomain(sizes, drawn)) return left_out(*reason);
  const BaselineRuns::Running running(runs_, on);
  MadeSet made = MakeSet(sizes, drawn, program.seed, cache_.TaskReference());
  if (const auto* why = std::get_if<std::string>(&made)) return left_out(*why);
  auto& set = std::get<std::unique_ptr<InputSet>>(made);
  if (auto reason = AllowWhatTheBaselineDoes(*set, drawn, program)) return left_out(*reason);
  return std::move(set);
}

LegalInputs::Made LegalInputs::MakeOfSizes(const Case& sizes, std::uint64_t seed) {
  const auto left_out = [&](std::string reason) { return LeftOut{sizes.name, std::move(reason)}; };
  if (!enabled()) return left_out("there is no baseline");
  if (auto reason = OutsideDomain(sizes, {})) return left_out(*reason);
  const Counterexample on{sizes.name, 0, seed, ""};
  if (auto reason = runs_.Avoided(on)) return left_out(*reason);
  BaselineRuns::Running running(runs_, on, LargerThanListed(task_, sizes));
  DrawnArguments drawn = DrawArgumentsOfSizes(task_, sizes, seed);
  if (auto reason = Derive(sizes, drawn)) return left_out(*reason);
  MadeSet made = MakeSet(sizes, drawn, seed, cache_.TaskReference());
  if (const auto* why = std::get_if<std::string>(&made)) return left_out(*why);
  auto& set = std::get<std::unique_ptr<InputSet>>(made);
  const auto start = std::chrono::steady_clock::now();
  const auto ran = RunBaseline(*set);
  running.Took(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  if (const auto* failure = std::get_if<Failure>(&ran)) return left_out(fmt::format("the baseline fails: {}", failure->message));
  const Difference& difference = std::get<InputSet::Answer>(ran).difference;
  if (!difference.acceptable) return left_out(fmt::format("the baseline is wrong: {}", difference.message));
  return std::move(set);
}

const LegalInputs::Legal& LegalInputs::Get(const Case& sizes, const InputProgram& program) {
  const std::string key = fmt::format("{}/{}/{}", sizes.name, ToText(program), program.seed);
  const auto [found, is_new] = entries_.try_emplace(key);
  return is_new ? Keep(found->second, Make(sizes, program)) : found->second.legal;
}

const LegalInputs::Legal& LegalInputs::GetOfSizes(const Case& sizes, std::uint64_t seed) {
  const auto [found, is_new] = entries_.try_emplace(fmt::format("{}//{}", sizes.name, seed));
  return is_new ? Keep(found->second, MakeOfSizes(sizes, seed)) : found->second.legal;
}

const LegalInputs::Legal& LegalInputs::Keep(Entry& entry, Made made) {
  if (auto* set = std::get_if<std::unique_ptr<InputSet>>(&made)) {
    entry.set = std::move(*set);
    entry.legal = entry.set.get();
  } else {
    entry.legal = std::get<LeftOut>(std::move(made));
  }
  return entry.legal;
}

}  // namespace evo
