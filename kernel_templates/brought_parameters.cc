#include "kernel_templates/brought_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/search_space.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"

namespace evo {
namespace {

bool IsPartOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The first place of an identifier at or after `from`; npos if there is none.
std::size_t FindName(std::string_view text, std::string_view name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !IsPartOfName(text[at - 1])) && (end == text.size() || !IsPartOfName(text[end]))) return at;
  }
  return std::string_view::npos;
}

// The value of each parameter that the edit brings: the first one if it has none.
Parameters WithBrought(const Edit& edit, Parameters values) {
  for (const auto& [name, legal, initial] : edit.brings) {
    const std::int64_t value = values.try_emplace(name, initial).first->second;
    if (std::find(legal.begin(), legal.end(), value) == legal.end())
      throw Error(fmt::format("its parameter {}: {} is not among {}", name, value, fmt::join(legal, ", ")));
  }
  return values;
}

// The text defines what a constraint names: other edits' parameters may be missing.
void CheckConstraint(const std::string& text, const Edit& edit, const std::string& constraint, const Parameters& values) {
  const Expression expression = Expression::Parse(constraint);
  const std::vector<ParameterBlock> blocks = FindParameterBlocks(text);
  for (const std::string& name : expression.Names()) {
    const auto is_it = [&](const auto& one) { return one.name == name; };
    if (!values.contains(name) ||
        (std::none_of(blocks.begin(), blocks.end(), is_it) && std::none_of(edit.brings.begin(), edit.brings.end(), is_it)))
      throw Error(fmt::format("its constraint names {}, which is no parameter", name));
  }
  if (expression.EvaluateInteger(ToVariables(values)) == 0) throw Error(fmt::format("the values do not meet '{}'", constraint));
}

}  // namespace

bool ContainsName(std::string_view text, std::string_view name) { return FindName(text, name, 0) != std::string_view::npos; }

std::string UnusedName(std::string_view text, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; ContainsName(text, name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

std::string WithOtherName(const std::string& text, std::string_view name, std::string_view other) {
  std::string result = text;
  for (std::size_t at = FindName(result, name, 0); at != std::string::npos; at = FindName(result, name, at + other.size()))
    result.replace(at, name.size(), other);
  return result;
}

std::string DeclareBrought(const std::string& text, std::string_view before, const Edit& edit, const Parameters& present) {
  if (edit.brings.empty() && edit.constraints.empty()) return text;
  const Parameters values = WithBrought(edit, present);
  std::string directives, blocks;
  for (const BroughtParameter& brought : edit.brings) {
    if (!IsIdentifier(brought.name)) throw Error(fmt::format("its parameter '{}' is no name", brought.name));
    if (ContainsName(before, brought.name) || ContainsName(directives, brought.name))
      throw Error(fmt::format("the name of its parameter {} is taken", brought.name));
    directives += fmt::format("// evo:param {} {}\n", brought.name, fmt::join(brought.values, " "));
    blocks += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", brought.name, values.at(brought.name));
  }
  for (const std::string& constraint : edit.constraints) {
    if (constraint.find_first_of("\r\n\\") != std::string::npos) throw Error("its constraint is not one line");
    CheckConstraint(text, edit, constraint, values);
    directives += fmt::format("// evo:constraint {}\n", constraint);
  }
  std::string declared = text;
  const std::size_t at = EndOfParameterBlocks(declared);
  const bool newline_missing = at > 0 && declared[at - 1] != '\n';
  declared.insert(at, fmt::format("{}\n{}{}", newline_missing ? "\n" : "", directives, blocks));
  return declared;
}

}  // namespace evo
