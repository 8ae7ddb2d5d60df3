#include "import/host_zeros.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {
namespace {

using HostWords = std::vector<std::string_view>;

bool IsZeroWord(std::string_view word) {
  return !word.empty() && word.front() == '0' && word.find_first_not_of("0.fF") == std::string_view::npos;
}

// `sums.data()`, `&sums[0]` and `sums`: sums. Empty for anything else.
std::string_view CopiedName(const HostWords& words) {
  const auto is = [&](std::size_t from, std::initializer_list<std::string_view> others) {
    return words.size() == from + others.size() &&
           std::equal(others.begin(), others.end(), words.begin() + static_cast<std::ptrdiff_t>(from));
  };
  if (words.empty()) return {};
  if (is(1, {}) || is(1, {".", "data", "(", ")"})) return words[0];
  if (words[0] == "&" && words.size() > 1 && is(2, {"[", "0", "]"})) return words[1];
  return {};
}

// Whether the last of several values in brackets is a zero.
bool EndsWithZero(const HostWords& words) {
  int depth = 0;
  std::size_t comma = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string_view word = words[i];
    depth += word == "(" || word == "[" || word == "{" ? 1 : word == ")" || word == "]" || word == "}" ? -1 : 0;
    if (word == "," && depth == 0) comma = i;
  }
  return comma > 0 && comma + 3 == words.size() && words.front() == "(" && IsZeroWord(words[comma + 1]);
}

bool BeginsAsZeros(const SourceProgram& program, const ProgramVariable& variable) {
  if (variable.initialiser.size() == 0) return false;
  const HostWords words = program.Tokens(variable.initialiser);
  if (variable.type.find("vector") != std::string::npos) return EndsWithZero(words);
  return variable.type.find('*') != std::string::npos && std::find(words.begin(), words.end(), "calloc") != words.end() &&
         std::find(words.begin(), words.end(), "?") == words.end();
}

}  // namespace

bool CopiesZeros(const SourceProgram& program, const std::vector<HostCall>& calls, const HostCall& copy) {
  if (copy.arguments.size() < 3) return false;
  const std::string_view name = CopiedName(program.Tokens(copy.arguments[1]));
  if (name.empty()) return false;
  const ProgramVariable* const variable = program.FindVariable(name, copy.function, copy.range.begin);
  if (variable == nullptr || variable->function != copy.function || !BeginsAsZeros(program, *variable)) return false;
  const std::vector<SourceRange>& tokens = program.tokens();
  for (std::size_t i = program.TokenAt(variable->initialiser.end); i < tokens.size() && tokens[i].begin < copy.range.begin; ++i) {
    if (program.Token(i) != name || (program.Token(i + 1) == "." && program.Token(i + 2) == "size")) continue;
    const bool is_source = std::any_of(calls.begin(), calls.end(), [&](const HostCall& call) {
      return call.name.starts_with("cudaMemcpy") && call.arguments.size() > 1 && call.arguments[1].Contains(tokens[i]);
    });
    if (!is_source) return false;
  }
  return true;
}

}  // namespace evo
