#include "kernel_templates/launch_argument.h"

#include <fmt/format.h>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

// Offset of the parenthesis that closes the one at `open`; npos if there is none.
std::size_t Closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<ScalarType> ParseScalarType(std::string_view name) {
  if (name == "bool") return ScalarType{Dtype::kU8, true};
  const auto dtype = ParseDtype(name);
  if (!dtype) return std::nullopt;
  return ScalarType{*dtype, false};
}

LaunchArgumentText ParseLaunchArgument(std::string_view text) {
  using Kind = LaunchArgumentText::Kind;
  LaunchArgumentText argument;
  text = Trim(text);
  argument.text = text;
  if (IsIdentifier(text)) {
    argument.kind = Kind::kName;
    return argument;
  }
  if (text.starts_with('{')) {
    if (!text.ends_with('}')) throw Error(fmt::format("'{}': '}}' expected at its end", text));
    argument.kind = Kind::kStruct;
    for (const std::string& field : SplitAtCommas(text.substr(1, text.size() - 2))) {
      argument.fields.push_back(ParseLaunchArgument(field));
      if (argument.fields.back().kind == Kind::kStruct)
        throw Error(fmt::format("'{}': a struct in a struct; write the fields of the inner one in its place", text));
    }
    if (argument.fields.empty()) throw Error(fmt::format("'{}': a struct without fields", text));
    return argument;
  }
  const std::size_t open = text.find('(');
  const auto type = open == std::string_view::npos ? std::nullopt : ParseScalarType(Trim(text.substr(0, open)));
  if (type && Closing(text, open) == text.size() - 1) {
    argument.kind = Kind::kCast;
    argument.type = *type;
    argument.text = Trim(text.substr(open + 1, text.size() - open - 2));
  }
  return argument;
}

}  // namespace evo
