#include "import/pointer_offsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace evo {
namespace {

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// One past the `)` that belongs to a `(`; npos if there is none.
std::size_t EndOfParentheses(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string::npos;
}

// Behind the `{` of a function; npos if there is none.
std::size_t BeginOfBody(const std::string& code, const std::string& name) {
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const std::size_t open = code.find_first_not_of(" \t\n", at + name.size());
    const bool named = (at == 0 || !IsOfWord(code[at - 1])) && open != std::string::npos && code[open] == '(';
    const std::size_t end = named ? EndOfParentheses(code, open) : std::string::npos;
    const std::size_t brace = end == std::string::npos ? end : code.find_first_not_of(" \t\n", end);
    if (brace != std::string::npos && code[brace] == '{') return brace + 1;
  }
  return std::string::npos;
}

}  // namespace

std::optional<std::string> ConstantOffset(HostCode& host, const SourceProgram& program, const SourceRange& argument, int function,
                                          const std::set<std::string>& words) {
  using Kind = HostExpression::Kind;
  const HostExpression passed = ParseHostExpression(program.Tokens(argument));
  const bool is_address = passed.kind == Kind::kUnary && passed.Is("&") && passed.parts[0].kind == Kind::kIndex;
  if (!is_address && (passed.kind != Kind::kBinary || !passed.Is("+"))) return std::nullopt;
  const HostExpression& expression = is_address ? passed.parts[0] : passed;
  if (expression.parts.size() != 2 || expression.parts[0].kind != Kind::kName) return std::nullopt;
  const HostExpression offset = Simplified(host.Resolve(expression.parts[1], function));
  const std::vector<std::string> names = offset.Names();
  const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto leaf = host.leaves().find(name);
    const bool constant = leaf != host.leaves().end() && (leaf->second.origin == HostLeaf::Origin::kMacro ||
                                                          leaf->second.origin == HostLeaf::Origin::kFileConstant);
    return constant && leaf->second.name == name && words.contains(name);
  });
  return known && offset.IsKnown() ? std::optional(offset.Text()) : std::nullopt;
}

std::string WithPointerOffsets(std::string code, const PointerOffsets& offsets) {
  for (const auto& [kernel, parameters] : offsets) {
    const std::size_t body = BeginOfBody(code, kernel);
    if (body == std::string::npos) continue;
    std::string text = "\n    // The host passes these from here on.";
    for (const auto& [parameter, offset] : parameters) text += fmt::format("\n    {} += {};", parameter, offset);
    code.insert(body, text);
  }
  return code;
}

}  // namespace evo
