#include "evaluator/gate/input_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/generator.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

using Kind = InputChange::Kind;

const std::vector<ChangeForm> kForms = {
    {Kind::kScale, "scale", {NumberRole::kFactor}},
    {Kind::kShift, "shift", {NumberRole::kAmount}},
    {Kind::kAbs, "abs", {}},
    {Kind::kRound, "round", {NumberRole::kFactor}},
    {Kind::kScaleRow, "scale_row", {NumberRole::kPlace, NumberRole::kFactor}, 0},
    {Kind::kShiftRow, "shift_row", {NumberRole::kPlace, NumberRole::kAmount}, 0},
    {Kind::kScaleColumn, "scale_column", {NumberRole::kPlace, NumberRole::kFactor}, 0},
    {Kind::kScaleRows, "scale_rows", {NumberRole::kFactor, NumberRole::kFactor}},
    {Kind::kSpike, "spike", {NumberRole::kValue, NumberRole::kPlace}, 1},
    {Kind::kSpikes, "spikes", {NumberRole::kValue}},
    {Kind::kMaskFirst, "mask_first", {NumberRole::kValue, NumberRole::kShare}, 1},
    {Kind::kMaskSecond, "mask_second", {NumberRole::kValue, NumberRole::kShare}, 1},
    {Kind::kMaskRandom, "mask_random", {NumberRole::kValue, NumberRole::kShare}, 1},
    {Kind::kRamp, "ramp", {NumberRole::kAmount, NumberRole::kAmount}},
    {Kind::kAlternate, "alternate", {NumberRole::kFactor}, 0},
    {Kind::kSortAscending, "sort_ascending", {}},
    {Kind::kSortDescending, "sort_descending", {}},
    {Kind::kReverse, "reverse", {}},
    {Kind::kShuffle, "shuffle", {}},
    {Kind::kRepeat, "repeat", {NumberRole::kCount}},
    {Kind::kEqualRows, "equal_rows", {}},
    {Kind::kConstantRows, "constant_rows", {}},
    {Kind::kSet, "set", {NumberRole::kPlace, NumberRole::kValue}},
    {Kind::kAllSmallest, "all_smallest", {}},
    {Kind::kAllLargest, "all_largest", {}},
    {Kind::kTakeAll, "take_all", {NumberRole::kPlace}},
};

// Whole numbers beyond this are not exact as doubles.
constexpr double kLargestWhole = 0x1p53;

bool Legal(NumberRole role, double number) {
  switch (role) {
    case NumberRole::kFactor:
    case NumberRole::kAmount:
      return std::isfinite(number);
    case NumberRole::kValue:
      return !std::isnan(number);
    case NumberRole::kShare:
      return number >= 0 && number <= 1;
    case NumberRole::kCount:
      return number >= 1 && number <= kLargestWhole && std::floor(number) == number;
    case NumberRole::kPlace:
      return std::abs(number) <= kLargestWhole && std::floor(number) == number;
  }
  return false;
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool ChangesReals(Kind kind) { return kind <= Kind::kSet; }

bool ChangesIndices(Kind kind) {
  return (kind >= Kind::kSortAscending && kind <= Kind::kAllLargest) || kind == Kind::kSpike || kind == Kind::kSpikes;
}

bool ChangesPermutations(Kind kind) {
  return kind == Kind::kSortAscending || kind == Kind::kSortDescending || kind == Kind::kReverse || kind == Kind::kShuffle;
}

}  // namespace

std::span<const ChangeForm> ChangeForms() { return kForms; }

const ChangeForm& FormOf(Kind kind) {
  return *std::find_if(kForms.begin(), kForms.end(), [&](const ChangeForm& form) { return form.kind == kind; });
}

std::vector<NumberRole> RolesOf(const InputChange& change) {
  const ChangeForm& form = FormOf(change.kind);
  std::vector<NumberRole> roles = form.numbers;
  if (change.numbers.size() < roles.size() && form.optional >= 0) roles.erase(roles.begin() + form.optional);
  return roles;
}

std::string Fault(const InputChange& change) {
  const std::vector<NumberRole> roles = RolesOf(change);
  if (roles.size() != change.numbers.size()) return fmt::format("'{}' has the wrong number of numbers", ToText(change));
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!Legal(roles[i], change.numbers[i])) return fmt::format("'{}': {} is not possible", ToText(change), change.numbers[i]);
  }
  return "";
}

std::string ToText(const InputChange& change) {
  const std::string_view name = FormOf(change.kind).name;
  if (change.numbers.empty()) return std::string(name);
  std::vector<std::string> numbers;
  for (const double number : change.numbers) numbers.push_back(ShortestText(number));
  return fmt::format("{}({})", name, fmt::join(numbers, ","));
}

InputChange ParseInputChange(std::string_view text) {
  const std::string_view name = Trim(text.substr(0, text.find('(')));
  const auto form = std::find_if(kForms.begin(), kForms.end(), [&](const ChangeForm& one) { return one.name == name; });
  if (form == kForms.end()) throw Error(fmt::format("no change '{}'", text));
  InputChange change{form->kind, {}};
  const std::string_view rest = Trim(text.substr(text.find(name) + name.size()));
  if (!rest.empty()) {
    if (rest.size() < 2 || rest.front() != '(' || rest.back() != ')') throw Error(fmt::format("'{}': a ')' is missing", text));
    for (const std::string& written : SplitAtCommas(rest.substr(1, rest.size() - 2))) {
      const std::optional<double> number = ParseNumber(written);
      if (!number) throw Error(fmt::format("'{}': '{}' is not a number", text, written));
      change.numbers.push_back(*number);
    }
  }
  if (const std::string fault = Fault(change); !fault.empty()) throw Error(fault);
  return change;
}

bool Fits(Kind change, Generator::Kind generator, Dtype dtype) {
  if (IsFloating(dtype)) return ChangesReals(change);
  switch (generator) {
    case Generator::Kind::kIndex:
      return ChangesIndices(change);
    case Generator::Kind::kPermutation:
      return ChangesPermutations(change);
    case Generator::Kind::kOffsets:
      return change == Kind::kTakeAll;
    default:
      return false;  // constants and one-hot rows of integers are all that the task promises to handle
  }
}

std::size_t Wrap(double place, std::size_t size) {
  const auto whole = static_cast<std::int64_t>(place);
  const auto length = static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(((whole % length) + length) % length);
}

}  // namespace evo
