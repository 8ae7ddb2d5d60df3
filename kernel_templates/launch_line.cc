#include "kernel_templates/launch_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

const LaunchClause* FindClause(const std::vector<LaunchClause>& clauses, std::string_view name) {
  const auto clause = std::find_if(clauses.begin(), clauses.end(), [&](const LaunchClause& c) { return c.name == name; });
  return clause == clauses.end() ? nullptr : &*clause;
}

class LaunchLineParser {
 public:
  explicit LaunchLineParser(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  LaunchLine Parse() {
    LaunchLine line;
    line.kernel = Word("the kernel's name");
    while (text_.substr(at_).starts_with("::")) {
      at_ += 2;
      line.kernel.end = Word("the kernel's name").end;
    }
    SkipBlanks();
    if (Peek() == '<') line.template_arguments = Inside('<', '>');
    SkipBlanks();
    if (Peek() != '(') throw Error(fmt::format("'(' with the arguments expected after '{}'", line.kernel.Of(text_)));
    line.arguments = Inside('(', ')');
    line.clauses = Clauses("a clause such as grid(..)");
    return line;
  }

  std::vector<LaunchClause> Clauses(std::string_view what) {
    std::vector<LaunchClause> clauses;
    for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) {
      LaunchClause clause;
      clause.whole = Word(what);
      clause.name = clause.whole.Of(text_);
      if (FindClause(clauses, clause.name) != nullptr) throw Error(fmt::format("'{}' is given twice", clause.name));
      if (Peek() == '(') clause.inside = Inside('(', ')');
      clause.whole.end = at_;
      clauses.push_back(std::move(clause));
    }
    return clauses;
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }

  LaunchPart Word(std::string_view what) {
    SkipBlanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsIdentifier(text_.substr(begin, at_ + 1 - begin))) ++at_;
    if (at_ == begin) throw Error(fmt::format("{} expected at '{}'", what, text_.substr(begin)));
    return {begin, at_};
  }

  // The text between the opening sign at `at_` and the closing sign that belongs to it. Inside parentheses < and > are operators.
  LaunchPart Inside(char open, char close) {
    const std::size_t begin = at_ + 1;
    int same = 0;
    int parentheses = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == '<' && c == '(') ++parentheses;
      if (open == '<' && c == ')') --parentheses;
      if (parentheses > 0) continue;
      if (c == open) ++same;
      if (c == close && --same == 0) return {begin, at_++};
    }
    throw Error(fmt::format("'{}' is never closed by '{}'", text_.substr(begin - 1), close));
  }

  std::string_view text_;
  std::size_t at_;
};

}  // namespace

const LaunchClause* LaunchLine::Find(std::string_view name) const { return FindClause(clauses, name); }

LaunchLine ParseLaunchLine(std::string_view text) { return LaunchLineParser(text).Parse(); }

std::vector<LaunchClause> ParseClauses(std::string_view text, std::size_t at) {
  return LaunchLineParser(text, at).Clauses("a clause such as dims(..)");
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  if (Trim(text).empty()) return parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if ((c == ',' && depth == 0) || i == text.size()) {
      parts.emplace_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}

}  // namespace evo
