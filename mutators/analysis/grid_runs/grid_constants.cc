#include "mutators/analysis/grid_runs/grid_constants.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/source/constant_value.h"

namespace evo {

GridConstants::GridConstants(const MutationContext& context, const GridSetting& setting)
    : context_(context), setting_(setting), sizes_(ToVariables(setting.parameters)) {
  sizes_[setting.size] = Number::Integer(setting.elements);
}

std::optional<std::int64_t> GridConstants::ValueOf(const Expression& expression) const {
  try {
    return expression.EvaluateInteger(sizes_);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> GridConstants::ValueOfArgument(const std::string& text) const {
  try {
    const LaunchArgumentText argument = ParseLaunchArgument(text);
    if (argument.kind == LaunchArgumentText::Kind::kStruct) return std::nullopt;
    if (argument.kind == LaunchArgumentText::Kind::kCast && IsFloating(argument.type.dtype)) return std::nullopt;
    return ValueOf(Expression::Parse(argument.text));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<GridConstants::Spelled> GridConstants::ValueOfLiteral(const std::string& text) {
  if (text == "true" || text == "false") return Spelled{text == "true"};
  if (text == "nullptr" || text == "NULL") return Spelled{0};
  if (const auto given = setting_.parameters.find(text); given != setting_.parameters.end()) {
    names_.insert(text);
    return Spelled{given->second};
  }
  for (const SizeMacro& macro : context_.rendered.size_macros) {
    if (macro.name != text) continue;
    const auto value = ValueOf(macro.value);
    return Spelled{value.value_or(0), value.has_value()};
  }
  std::int64_t number = 0;
  const std::string digits = text.substr(0, text.find_last_not_of("uUlL") + 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc{} && stop == digits.data() + digits.size()) return Spelled{number};
  if (const auto value = ConstantValue(context_.tree, digits)) {
    const bool is_name = std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.';
    if (is_name) names_.insert(text);
    return Spelled{*value};
  }
  const auto real = RealConstant(context_.tree, text);
  if (real && std::abs(*real) < 1e15 && *real == std::trunc(*real)) return Spelled{static_cast<std::int64_t>(*real)};
  return std::nullopt;
}

}  // namespace evo
