// What HostCode reads from the tokens: calls, launches and assignments. The tree lacks them where a header is missing.
#include <algorithm>

#include "import/host_code.h"

namespace evo {
namespace {

bool IsKeyword(std::string_view token) {
  return token == "if" || token == "for" || token == "while" || token == "switch" || token == "return" || token == "sizeof" ||
         token == "else" || token == "do";
}

}  // namespace

HostCode::HostCode(const SourceProgram& program) : program_(program) {
  ReadCalls();
  ReadAssignments();
  ReadEqualities();
}

// The arguments between the brackets at `open` and `close`, as ranges of the text.
std::vector<SourceRange> HostCode::SplitArguments(std::size_t open, std::size_t close) const {
  std::vector<SourceRange> arguments;
  const auto& tokens = program_.tokens();
  std::size_t first = open + 1;
  int angle = 0;
  for (std::size_t i = first; i <= close; ++i) {
    const std::string_view token = program_.Token(i);
    if (i < close && (token == "(" || token == "[" || token == "{")) {
      i = program_.AfterBracket(i) - 1;
      continue;
    }
    // Commas within the template arguments of a call, such as max<int, 4>(a): only where a word precedes `<` and `>` closes it.
    if (i < close && token == "<" && IsWord(program_.Token(i - 1))) {
      std::size_t j = i + 1;
      while (j < close && (IsWord(program_.Token(j)) || program_.Token(j) == "," || program_.Token(j) == "*" ||
                           std::isdigit(static_cast<unsigned char>(program_.Token(j)[0])) != 0))
        ++j;
      if (program_.Token(j) == ">") angle = static_cast<int>(j);
    }
    if (i == close || (token == "," && static_cast<int>(i) > angle)) {
      if (i > first) arguments.push_back({tokens[first].begin, tokens[i - 1].end});
      first = i + 1;
    }
  }
  return arguments;
}

// Reads the launch whose `<<<` begins at token `at`; returns the token after it.
std::size_t HostCode::ReadLaunch(std::size_t at) {
  const auto& tokens = program_.tokens();
  HostLaunch launch;
  std::size_t name = at;
  if (program_.Token(at - 1) == ">") {  // template arguments
    int depth = 0;
    std::size_t open = at - 1;
    for (; open > 0; --open) {
      if (program_.Token(open) == ">") ++depth;
      if (program_.Token(open) == ">>") depth += 2;
      if (program_.Token(open) == "<" && --depth == 0) break;
    }
    launch.template_arguments = SplitArguments(open, at - 1);
    name = open;
  }
  if (name == 0) return at + 1;
  --name;
  launch.name = std::string(program_.Token(name));
  // `<<<` is the tokens `<<` and `<`, or one token.
  std::size_t open = at;
  std::uint32_t length = 0;
  while (open < tokens.size() && length < 3) length += tokens[open++].size();
  std::size_t close = open;
  for (; close < tokens.size(); ++close) {
    if (program_.Token(close) == "(" || program_.Token(close) == "{") {
      close = program_.AfterBracket(close) - 1;
    } else if (program_.text().compare(tokens[close].begin, 3, ">>>") == 0) {
      break;
    }
  }
  if (close >= tokens.size()) return at + 1;
  launch.configuration = SplitArguments(open - 1, close);
  std::size_t paren = close;
  for (length = 0; paren < tokens.size() && length < 3;) length += tokens[paren++].size();
  if (program_.Token(paren) != "(") return at + 1;
  const std::size_t end = program_.AfterBracket(paren);
  launch.arguments = SplitArguments(paren, end - 1);
  launch.range = {tokens[name].begin, tokens[std::min(end, tokens.size()) - 1].end};
  launch.function = program_.FunctionAt(launch.range.begin);
  launches_.push_back(std::move(launch));
  return end;
}

void HostCode::ReadCalls() {
  const auto& tokens = program_.tokens();
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (program_.text().compare(tokens[i].begin, 3, "<<<") == 0) {
      ReadLaunch(i);
      continue;
    }
    if (program_.Token(i) != "(" || !IsWord(program_.Token(i - 1)) || IsKeyword(program_.Token(i - 1))) continue;
    const int function = program_.FunctionAt(tokens[i].begin);
    if (function < 0 || program_.functions()[static_cast<std::size_t>(function)].device) continue;
    const std::size_t end = program_.AfterBracket(i);
    if (end <= i + 1 || end > tokens.size()) continue;
    calls_.push_back(
        {std::string(program_.Token(i - 1)), function, {tokens[i - 1].begin, tokens[end - 1].end}, SplitArguments(i, end - 1)});
  }
}

void HostCode::ReadAssignments() {
  const auto& tokens = program_.tokens();
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (program_.Token(i) != "=" || !IsWord(program_.Token(i - 1))) continue;
    std::string name(program_.Token(i - 1));
    std::size_t first = i - 1;
    if (i >= 3 && program_.Token(i - 2) == "." && IsWord(program_.Token(i - 3))) {
      name = std::string(program_.Token(i - 3)) + "." + name;
      first = i - 3;
    }
    // A declaration is in the tree: a type or `*` precedes it.
    const std::string_view before = first > 0 ? program_.Token(first - 1) : "";
    if (before != ";" && before != "{" && before != "}" && before != ")" && before != "else" && before != "(" && before != "=")
      continue;
    std::size_t end = i + 1;
    while (end < tokens.size() && program_.Token(end) != ";" && program_.Token(end) != "," && program_.Token(end) != ")") {
      end = program_.Token(end) == "(" || program_.Token(end) == "{" || program_.Token(end) == "[" ? program_.AfterBracket(end)
                                                                                                   : end + 1;
    }
    const int function = program_.FunctionAt(tokens[i].begin);
    if (function < 0 || end == i + 1 || end > tokens.size()) continue;
    std::size_t value = i + 1;  // of the last in `a = b = value`
    for (std::size_t at = i + 1; at < end; ++at) {
      if (program_.Token(at) == "=") value = at + 1;
    }
    if (value >= end) continue;
    assignments_[{function, name}].push_back({tokens[value].begin, tokens[end - 1].end});
  }
}

}  // namespace evo
