#include "kernel_templates/size_macro.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"

namespace evo {

SizeMacro ParseSizeMacro(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name(Trim(std::string_view(text).substr(0, equals)));
  const std::string_view value = equals == std::string::npos ? name : Trim(std::string_view(text).substr(equals + 1));
  if (!IsIdentifier(name) || value.empty())
    throw Error("evo:size: 'NAME = EXPR' expected, EXPR of the task's sizes, or the NAME of a size alone");
  return {name, Expression::Parse(value), 0};
}

SizeValues ValuesFor(const std::vector<SizeMacro>& macros, const Sizes& sizes) {
  Variables variables;
  for (const auto& [name, value] : sizes) variables[name] = Number::Integer(value);
  SizeValues values;
  for (const SizeMacro& macro : macros) {
    const auto fail = [&](const std::string& what) -> Error {
      return Error(fmt::format("line {}: evo:size {}: {}", macro.line, macro.name, what));
    };
    for (const std::string& name : macro.value.Names()) {
      if (!variables.contains(name)) throw fail(fmt::format("'{}' is not a size of the task", name));
    }
    try {
      values[macro.name] = macro.value.EvaluateInteger(variables);
    } catch (const Error& error) {
      throw fail(error.what());
    }
    const auto size = sizes.find(macro.name);
    if (size != sizes.end() && size->second != values[macro.name])
      throw fail(fmt::format("the task has a size of this name, which is {}, not {}", size->second, values[macro.name]));
  }
  return values;
}

std::string RenderSizes(std::string text, const SizeValues& values) {
  std::vector<ParameterBlock> blocks = FindParameterBlocks(text);
  for (const auto& [name, value] : values) {
    if (std::none_of(blocks.begin(), blocks.end(), [&, n = name](const ParameterBlock& b) { return b.name == n; }))
      throw Error(fmt::format("evo:size {}: the source no longer defines it", name));
  }
  // From the last block to the first, so that the offsets of the remaining blocks stay valid.
  std::reverse(blocks.begin(), blocks.end());
  for (const ParameterBlock& block : blocks) {
    const auto value = values.find(block.name);
    if (value != values.end())
      text.replace(block.value_begin, block.value_end - block.value_begin, std::to_string(value->second));
  }
  return text;
}

std::string ToText(const SizeValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

bool IsSizeMacro(std::string_view source, std::string_view name) {
  constexpr std::string_view kDirective = "evo:size";
  for (std::size_t at = source.find(kDirective); at != std::string_view::npos; at = source.find(kDirective, at + 1)) {
    std::string_view rest = source.substr(at + kDirective.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    rest = Trim(rest.substr(0, rest.find('\n')));
    if (rest.empty() || rest.starts_with('=')) return true;
  }
  return false;
}

}  // namespace evo
