#include "mutators/analysis/source/indentation.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

bool IsFirstOnItsLine(const SyntaxTree& tree, int node) {
  const std::size_t line = tree.text().rfind('\n', tree.node(node).range.begin) + 1;
  return line + IndentOf(tree, node).size() == tree.node(node).range.begin;
}

// A line's code: without indentation and without a comment at its end.
std::string_view CodeOf(std::string_view line) {
  line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  line = line.substr(0, line.find("//"));
  return line.substr(0, line.find_last_not_of(" \t\x0e\x0f") + 1);  // nor the marks
}

bool IsIndented(std::string_view line) { return !line.empty() && line.front() != '#'; }

}  // namespace

std::string IndentUnit(const SyntaxTree& tree) {
  std::map<std::string, int> found;
  for (const int block : NodesOfKind(tree, "CompoundStmt")) {
    const std::string outer = IndentOf(tree, block);
    for (const int statement : tree.node(block).children) {
      if (tree.node(statement).kind_name == kPragmaKind || !IsFirstOnItsLine(tree, statement)) continue;
      const std::string inner = IndentOf(tree, statement);
      if (inner.size() > outer.size() && inner.starts_with(outer)) ++found[inner.substr(outer.size())];
    }
  }
  const auto most =
      std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == found.end() ? "  " : most->first;
}

std::string Reindented(const std::string& text, const std::string& base, const std::string& unit) {
  std::string result;
  int depth = 0;
  bool unfinished = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::string_view code = CodeOf(line);
    if (at == 0 || code.empty() || !IsIndented(code)) {
      result += line;
    } else {
      const int closing = code.front() == '}' ? 1 : 0;
      result += base;
      for (int i = closing; i < depth + (unfinished && code.front() != '{' ? 1 : 0); ++i) result += unit;
      result += line.substr(line.find_first_not_of(" \t"));
    }
    depth += static_cast<int>(std::count(code.begin(), code.end(), '{') - std::count(code.begin(), code.end(), '}'));
    // What follows this mark is indented when the edit is applied.
    depth -= static_cast<int>(std::count(line.begin(), line.end(), kIndentFrom));
    depth = std::max(depth, 0);
    if (!code.empty() && IsIndented(code)) unfinished = std::string_view(";{}:").find(code.back()) == std::string_view::npos;
    if (end < text.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

std::string LinesAt(const std::string& text, const std::string& indent) {
  std::string result;
  for (const char c : text) result += c == '\n' ? "\n" + indent : std::string(1, c);
  return result;
}

std::string Block(const std::string& head, const std::string& statement, const std::string& indent) {
  return head + " {\n" + indent + "  " + statement + "\n" + indent + "}";
}

std::string WithComments(const SyntaxTree& tree, int statement, const std::string& text, const std::string& indent) {
  const std::string_view source = tree.text();
  std::string lines;
  std::size_t line = source.rfind('\n', tree.node(FirstNode(tree, statement)).range.begin) + 1;
  while (line > 0) {
    const std::size_t before = line < 2 ? 0 : source.rfind('\n', line - 2) + 1;
    std::string_view comment = source.substr(before, line - 1 - before);
    comment = comment.substr(std::min(comment.find_first_not_of(" \t"), comment.size()));
    if (!comment.starts_with("//")) break;
    lines = indent + std::string(comment) + "\n" + lines;
    line = before;
  }
  const std::size_t end = tree.node(statement).range.end;
  const std::string_view rest = source.substr(end, source.find('\n', end) - end);
  const bool commented = rest.find_first_not_of(" \t") == rest.find("//") && rest.find("//") != std::string_view::npos;
  return lines + indent + text + std::string(commented ? rest : std::string_view()) + "\n";
}

std::string WithoutMarks(std::string text, const std::string& unit) {
  for (std::size_t from = text.find(kIndentFrom); from != std::string::npos; from = text.find(kIndentFrom)) {
    text.erase(from, 1);
    for (std::size_t at = text.find('\n', from); at < text.find(kIndentTo, from); at = text.find('\n', at + 1)) {
      const char first = text[at + 1];
      if (text.find(kIndentTo, from) != std::string::npos && first != '\n' && first != '#') text.insert(at + 1, unit);
    }
    if (const std::size_t to = text.find(kIndentTo, from); to != std::string::npos) text.erase(to, 1);
  }
  std::erase(text, kIndentTo);
  return text;
}

}  // namespace evo
