#include "import/null_pointers.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "syntax/token.h"

namespace evo {
namespace {

using Words = std::vector<std::string_view>;

// Behind the `{` of the kernel that has this name, and its `}`, by their places among the words; two equal ones if there is none.
std::pair<std::size_t, std::size_t> BodyOf(const Words& words, std::string_view kernel) {
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at] != kernel || words[at + 1] != "(") continue;
    std::size_t end = at + 1;
    for (int depth = 0; end < words.size(); ++end) {
      depth += words[end] == "(" ? 1 : words[end] == ")" ? -1 : 0;
      if (depth == 0) break;
    }
    if (end + 1 >= words.size() || words[end + 1] != "{") continue;
    const std::size_t first = end + 2;
    for (int depth = 1; ++end < words.size();) {
      if (end < first) continue;
      depth += words[end] == "{" ? 1 : words[end] == "}" ? -1 : 0;
      if (depth == 0) return {first, end};
    }
  }
  return {0, 0};
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view one : words) {
    if (word == one) return true;
  }
  return false;
}

// The first and the last word of a question about the parameter at this place, and its answer; empty if it is asked nothing.
struct Question {
  std::size_t first = 0, last = 0;
  std::string_view answer;
};
Question QuestionAt(const Words& words, std::size_t at) {
  const std::string_view before = words[at - 1], behind = words[at + 1];
  if (IsOneOf(behind, {"!=", "=="}) && at + 2 < words.size() && IsNullWord(words[at + 2]))
    return {at, at + 2, behind == "==" ? "true" : "false"};
  const bool ends = IsOneOf(behind, {")", "&&", "||", "?"});
  if (before == "!" && ends) return {at - 1, at, "true"};
  if (!ends || !IsOneOf(before, {"(", "&&", "||", "="})) return {};
  if (before == "=" && behind != "?" && behind != "&&" && behind != "||") return {};
  // What a function gets is no question.
  if (before == "(" && !(at >= 2 && IsOneOf(words[at - 2], {"if", "while", "(", "&&", "||", "!", "=", "?"}))) return {};
  return {at, at, "false"};
}

}  // namespace

std::string WithNullPointers(std::string code, const NullPointers& nulls) {
  for (const auto& [kernel, parameters] : nulls) {
    for (const std::string& parameter : parameters) {
      const std::vector<SourceRange> tokens = Tokenize(code);
      Words words;
      for (const SourceRange& token : tokens) words.push_back(std::string_view(code).substr(token.begin, token.size()));
      const auto [first, end] = BodyOf(words, kernel);
      std::string text;
      std::size_t kept = 0;
      for (std::size_t at = first; at < end; ++at) {
        if (words[at] != parameter || at == 0 || at + 1 >= words.size()) continue;
        const Question question = QuestionAt(words, at);
        if (question.answer.empty()) continue;
        text += code.substr(kept, tokens[question.first].begin - kept);
        text += question.answer;
        kept = tokens[question.last].end;
        at = question.last;
      }
      code = text + code.substr(kept);
    }
  }
  return code;
}

}  // namespace evo
