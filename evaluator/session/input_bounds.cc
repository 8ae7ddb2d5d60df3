#include "evaluator/session/input_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/rng.h"
#include "evaluator/device/pattern.h"
#include "evaluator/reference/ones_reference.h"
#include "evaluator/session/array_statistics.h"
#include "evaluator/session/changed_inputs.h"

namespace evo {
namespace {

// The baseline may be nearly right by luck, and a search for inputs finds where it is. So where its error decides the bound, it
// is measured for so many further seeds.
constexpr int kOtherSeeds = 4;
// The order of a sum decides whether it overflows: the baseline must be finite on inputs this many times as large.
constexpr double kHeadroom = 16;
// The answer is not determined by the input if the baseline, or one rounding of the inputs, is off by this share of it.
constexpr double kUseless = 0.01;

// 1 or -1 by chance; the same for the same seed and place.
double SignOf(std::uint64_t seed, std::uint64_t place) { return MixWord(seed, place) % 2 == 0 ? 1 : -1; }

// Half the distance from 1 to the next number; 0 for types that are narrower than what kernels compute in.
double RoundOff(Dtype dtype) { return dtype == Dtype::kF64 ? 0x1p-53 : dtype == Dtype::kF32 ? 0x1p-24 : 0; }

}  // namespace

double InputBounds::SmallestNormal(Dtype output) {
  switch (output) {
    case Dtype::kF64:
      return 0x1p-1022;
    case Dtype::kF16:
      return 0x1p-24;  // the step of its denormal numbers: kernels compute in a wider type
    default:
      return 0x1p-126;
  }
}

std::optional<std::string> InputBounds::OutsideDomain(const Case& sizes, const DrawnArguments& drawn) const {
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

bool InputBounds::BaselineIsFiniteOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed) {
  // Whether the outputs are finite does not depend on what is right, unless they have to be it exactly.
  const auto is_exact = [](const Argument& argument) {
    return argument.check.kind == OutputCheck::Kind::kExact && argument.IsOutput();
  };
  const bool exact = std::any_of(task_.arguments.begin(), task_.arguments.end(), is_exact);
  OnesReference ones;
  InputSet* set = exact ? inputs_.Scratch(sizes, std::move(drawn), seed) : inputs_.Scratch(sizes, std::move(drawn), seed, ones);
  if (set == nullptr) return true;
  const auto ran = baseline_.Run(*set);
  const auto* answer = std::get_if<InputSet::Answer>(&ran);
  return answer != nullptr && std::isfinite(answer->difference.ratio);
}

bool InputBounds::HasHeadroom(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed) {
  const auto larger = [](double value, Dtype, std::uint64_t) { return value * kHeadroom; };
  if (!BaselineIsFiniteOn(sizes, Changed(task_, drawn, larger), seed)) return false;
  // Values that cannot be larger stayed as they were, which shows nothing: then nothing may depend on how they cancel.
  if (Fits(task_, drawn, larger)) return true;
  return BaselineIsFiniteOn(sizes, Changed(task_, drawn, [](double value, Dtype, std::uint64_t) { return std::abs(value); }),
                            seed);
}

std::variant<std::vector<Allowance>, std::string> InputBounds::AllowForInputs(InputSet& set, const DrawnArguments& drawn,
                                                                              std::uint64_t seed) {
  const auto references = set.References();
  const auto of_magnitudes = inputs_.AnswersToMagnitudes(set.sizes(), drawn, seed);
  const auto rounded = [&](double v, Dtype dtype, std::uint64_t place) {
    return v * (1 + SignOf(seed, place) * RoundOff(dtype));
  };
  const auto of_rounded = inputs_.AnswersTo(set.sizes(), Changed(task_, drawn, rounded), seed);
  const std::vector<OutputCheck> checks = set.Checks();
  std::vector<Allowance> allowances;
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (!AllFinite(references[i])) return "the reference's answer is not finite";
    Allowance& allowance = allowances.emplace_back();
    if (references[i].empty()) continue;  // no element counts
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

void InputBounds::AllowForOtherSeeds(const Case& sizes, const InputProgram& inputs, std::vector<Allowance>& allowances) {
  InputProgram other = inputs;
  for (int i = 1; i <= kOtherSeeds; ++i) {
    other.seed = MixWord(inputs.seed, static_cast<std::uint64_t>(i));
    const DrawnArguments drawn = DrawArguments(task_, sizes, other);
    if (OutsideDomain(sizes, drawn)) continue;
    InputSet* set = inputs_.Scratch(sizes, drawn, other.seed);
    if (set == nullptr) continue;
    const auto ran = baseline_.Run(*set);
    const auto* answer = std::get_if<InputSet::Answer>(&ran);
    if (answer == nullptr) continue;
    const auto references = set->References();
    for (std::size_t o = 0; o < allowances.size(); ++o) {
      const Difference& difference = answer->outputs[o];
      if (references[o].empty()) continue;
      const double scale = RootMeanSquare(references[o]);
      if (!(difference.l2 <= kUseless) || allowances[o].scale == 0) continue;
      allowances[o].l2 = std::max(allowances[o].l2, kOfBaseline * difference.l2 * scale / allowances[o].scale);
      allowances[o].max = std::max(allowances[o].max, kOfBaseline * difference.max * scale / allowances[o].scale);
    }
  }
}

std::optional<std::string> InputBounds::Set(InputSet& set, const DrawnArguments& drawn, const InputProgram& inputs) {
  auto allowed = AllowForInputs(set, drawn, inputs.seed);
  if (const auto* reason = std::get_if<std::string>(&allowed)) return *reason;
  auto& allowances = std::get<std::vector<Allowance>>(allowed);
  set.Allow(allowances);
  const auto ran = baseline_.Run(set);
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
  if (by_baseline) AllowForOtherSeeds(set.sizes(), inputs, allowances);
  for (std::size_t i = 0; i < allowances.size(); ++i) {
    if (allowances[i].largest + allowances[i].max * allowances[i].scale > LargestFinite(set.OutputDtypes()[i]))
      return "an answer is as near to the largest number of its type as it may be wrong";
  }
  if (!HasHeadroom(set.sizes(), drawn, inputs.seed)) return "the baseline overflows if they are a little larger";
  set.Allow(std::move(allowances));
  return std::nullopt;
}

}  // namespace evo
