#include "import/host_statements.h"

#include <algorithm>

namespace evo {

std::size_t EndOfStatement(const SourceProgram& program, std::size_t at, int depth) {
  constexpr int kDeepestStatement = 50;
  const std::size_t last = program.tokens().size();
  if (depth > kDeepestStatement || at >= last) return last;
  const std::string_view word = program.Token(at);
  if (word == "{") return program.AfterBracket(at);
  if (word == "for" || word == "while" || word == "if" || word == "switch") {
    const std::size_t end = EndOfStatement(program, program.AfterBracket(at + 1), depth + 1);
    return word == "if" && program.Token(end) == "else" ? EndOfStatement(program, end + 1, depth + 1) : end;
  }
  if (word == "do") {
    const std::size_t end = EndOfStatement(program, at + 1, depth + 1);
    return program.Token(end) == "while" ? program.AfterBracket(end + 1) : end;
  }
  while (at < last && program.Token(at) != ";") {
    const bool opens = program.Token(at) == "(" || program.Token(at) == "{" || program.Token(at) == "[";
    at = opens ? program.AfterBracket(at) : at + 1;
  }
  return std::min(at + 1, last);
}

SourceRange RangeOfTokens(const SourceProgram& program, std::size_t first, std::size_t end) {
  if (end <= first || end > program.tokens().size()) return {};
  return {program.tokens()[first].begin, program.tokens()[end - 1].end};
}

}  // namespace evo
