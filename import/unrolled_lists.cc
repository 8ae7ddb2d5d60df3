#include "import/unrolled_lists.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

constexpr std::size_t kMostOfList = 16;

// A loop over a list; places are those of tokens.
struct ListLoop {
  std::size_t begin = 0, body = 0, end = 0;
  std::string_view variable;
  std::vector<std::string> elements;
};

// A name, or the address of what has one.
bool IsPlainElement(const std::vector<std::string_view>& tokens) {
  return (tokens.size() == 1 && IsWord(tokens[0])) || (tokens.size() == 2 && tokens[0] == "&" && IsWord(tokens[1]));
}

class ListLoopReader {
 public:
  explicit ListLoopReader(const SourceProgram& program) : program_(program) {}

  std::optional<ListLoop> At(std::size_t begin) const {
    if (program_.Token(begin) != "for" || program_.Token(begin + 1) != "(" || !IsOfHost(begin)) return std::nullopt;
    const std::size_t after = program_.AfterBracket(begin + 1);
    std::size_t colon = begin + 2;
    while (colon < after && program_.Token(colon) != ":" && program_.Token(colon) != ";") ++colon;
    if (colon + 2 >= after || program_.Token(colon) != ":" || program_.Token(colon + 1) != "{") return std::nullopt;
    if (program_.AfterBracket(colon + 1) + 1 != after || !IsWord(program_.Token(colon - 1))) return std::nullopt;
    ListLoop loop{begin, after, EndOf(after), program_.Token(colon - 1), {}};
    std::vector<std::string_view> element;
    for (std::size_t at = colon + 2; at + 1 < after; ++at) {
      const std::string_view token = program_.Token(at);
      if (token != "," && token != "}") {
        element.push_back(token);
        continue;
      }
      if (!IsPlainElement(element)) return std::nullopt;
      loop.elements.push_back(element.size() == 2 ? "&" + std::string(element[1]) : std::string(element[0]));
      element.clear();
    }
    for (std::size_t at = loop.body; at < loop.end; ++at) {
      if (program_.Token(at) == "break" || program_.Token(at) == "continue" || IsChanged(loop, at)) return std::nullopt;
    }
    const bool few = !loop.elements.empty() && loop.elements.size() <= kMostOfList;
    return few && loop.end > loop.body ? std::optional(std::move(loop)) : std::nullopt;
  }

  // The body once for each element.
  std::string Unrolled(const ListLoop& loop) const {
    std::string text = "{";
    for (const std::string& element : loop.elements) {
      for (std::size_t at = loop.body; at < loop.end; ++at) {
        const std::string_view token = program_.Token(at);
        const bool is_field = program_.Token(at - 1) == "." || program_.Token(at - 1) == "->";
        text += ' ';
        text += token == loop.variable && !is_field ? element : std::string(token);
      }
    }
    text += " }";
    const std::string_view before = program_.Text(RangeOf(loop));
    return text + std::string(static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')), '\n');
  }

  SourceRange RangeOf(const ListLoop& loop) const {
    return {program_.tokens()[loop.begin].begin, program_.tokens()[loop.end - 1].end};
  }

 private:
  // The text of kernels stays as its author wrote it.
  bool IsOfHost(std::size_t at) const {
    const int function = program_.FunctionAt(program_.tokens()[at].begin);
    if (function < 0) return false;
    const ProgramFunction& owner = program_.functions()[static_cast<std::size_t>(function)];
    return !owner.kernel && !owner.device;
  }

  // Whether the variable, which is a copy of an element, gets another value there.
  bool IsChanged(const ListLoop& loop, std::size_t at) const {
    const std::string_view before = program_.Token(at - 1), after = program_.Token(at + 1);
    const bool compares = after == "==" || after == "!=" || after == "<=" || after == ">=";
    const bool sets = (after.ends_with('=') && !compares) || after == "++" || after == "--" || before == "++" || before == "--";
    return program_.Token(at) == loop.variable && before != "*" && sets;
  }

  // Behind the statement that begins there; the same place if it is none that is understood.
  std::size_t EndOf(std::size_t begin) const {
    if (program_.Token(begin) == "{") return program_.AfterBracket(begin);
    if (program_.Token(begin) == "for" || program_.Token(begin) == "if" || program_.Token(begin) == "while") return begin;
    for (std::size_t at = begin; at < program_.tokens().size(); ++at) {
      if (program_.Token(at) == "(" || program_.Token(at) == "{") at = program_.AfterBracket(at) - 1;
      if (program_.Token(at) == ";") return at + 1;
    }
    return begin;
  }

  const SourceProgram& program_;
};

}  // namespace

std::optional<std::string> WithUnrolledLists(const SourceProgram& program) {
  const ListLoopReader reader(program);
  Splices splices;
  for (std::size_t at = 0; at + 4 < program.tokens().size(); ++at) {
    const auto loop = reader.At(at);
    if (!loop) continue;
    splices.emplace_back(reader.RangeOf(*loop), reader.Unrolled(*loop));
    at = loop->end - 1;
  }
  return Spliced(program.tree(), std::move(splices));
}

}  // namespace evo
