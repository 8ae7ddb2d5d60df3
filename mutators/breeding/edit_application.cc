#include "mutators/breeding/edit_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

struct Splice {
  SourceRange range;
  std::string text;
};

// Extends a deleted range over its line, if only white space would be left there.
SourceRange WithWhiteSpace(const std::string& text, SourceRange range) {
  std::uint32_t begin = range.begin;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  std::uint32_t end = range.end;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
  const bool starts_line = begin == 0 || text[begin - 1] == '\n';
  if (starts_line && end < text.size() && text[end] == '\n') return {begin, end + 1};
  // Within a line, a deletion between two spaces takes one of them.
  const bool between_spaces =
      range.begin > 0 && text[range.begin - 1] == ' ' && range.end < text.size() && text[range.end] == ' ';
  return {range.begin, range.end + (between_spaces && !starts_line)};
}

// The comment directly above a function that goes, or that is replaced with a comment of its own, goes with it. Directives stay.
SourceRange WithComment(const std::string& text, SourceRange range, bool deletes) {
  std::uint32_t begin = range.begin;
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  if (!Trim(std::string_view(text).substr(begin, range.begin - begin)).empty()) return range;
  for (std::uint32_t line = begin; line > 0;) {
    --line;
    while (line > 0 && text[line - 1] != '\n') --line;
    const std::string_view above = Trim(std::string_view(text).substr(line, text.find('\n', line) - line));
    if (!above.starts_with("//") || above.find("evo:") != std::string_view::npos) break;
    range.begin = begin = line;
  }
  if (!deletes) return range;
  // One of two blank lines.
  if (begin >= 2 && text.compare(begin - 2, 2, "\n\n") == 0 && text.compare(range.end, 2, "\n\n") == 0) ++range.end;
  return range;
}

std::string Describe(const Anchor& anchor) {
  return fmt::format("{} {} of {}", anchor.kind, anchor.tokens, anchor.function.empty() ? "the file" : anchor.function);
}

std::optional<std::string> Unmet(const Parameters& parameters, const Edit& edit) {
  for (const auto& [name, value] : edit.parameters) {
    const auto found = parameters.find(name);
    if (found == parameters.end() || found->second != value) return fmt::format("it needs {} = {}", name, value);
  }
  return std::nullopt;
}

bool IsUnroll(std::string_view line) { return line.starts_with("#pragma unroll"); }

// How many pragmas have no loop after them, where the compiler takes it for an error or ignores it: another pragma, a block, a
// declaration.
std::size_t StrayPragmas(std::string_view text) {
  std::size_t stray = 0;
  bool open = false;
  for (const SourceLine& whole : SplitLines(text)) {
    const std::string_view line = Trim(whole.text);
    if (line.empty() || line.starts_with("//") || line.starts_with("/*")) continue;
    const auto begins = [&](std::string_view word) { return line.starts_with(word); };
    if (open && !begins("for") && !begins("while") && !begins("do") && !begins("#if") && !begins("#e")) ++stray;
    open = IsUnroll(line);
  }
  return stray;
}

bool IsInclude(const SourceChange& change) { return change.text.starts_with("#include "); }

// Inserts an include after the others and before anything that differs between children, so that its header is precompiled, too.
void AddInclude(std::string& text, std::string_view include) {
  if (text.find(include) != std::string::npos) return;
  if (const IncludeEnd end = FindIncludeEnd(text); end.line != 0) {
    text.insert(end.offset, include);
    return;
  }
  std::size_t at = 0;  // after the comment at the beginning of the file
  while (text.compare(at, 2, "//") == 0 && text.find('\n', at) != std::string::npos) at = text.find('\n', at) + 1;
  text.insert(at, fmt::format("{}#pragma nv_hdrstop\n", include));
}

// Finds the splices of an edit, in source order. Returns the reason if an anchor is lost or two changes touch the same text.
std::optional<std::string> Resolve(const SyntaxTree& tree, const Edit& edit, std::vector<Splice>& splices) {
  std::vector<int> nodes;
  for (const Anchor& anchor : edit.anchors) {
    const auto node = tree.Find(anchor);
    if (!node) return fmt::format("{} is not there any more", Describe(anchor));
    nodes.push_back(*node);
  }
  for (const SourceChange& change : edit.source) {
    if (change.anchor >= nodes.size()) return "it names an anchor that it does not have";
    if (IsInclude(change)) continue;
    const int node = nodes[change.anchor];
    SourceRange range = tree.node(node).range;
    if (change.placement == Placement::kBefore) {
      // Another edit may have put a pragma there, which belongs to the loop.
      if (const int pragma = PragmaOf(tree, node); pragma >= 0 && !IsUnroll(change.text)) range = tree.node(pragma).range;
      range.end = range.begin;
      // If the text begins a new line, no blanks stay at the end of the old one.
      while (change.text.starts_with('\n') && range.begin > 0 && tree.text()[range.begin - 1] == ' ') --range.begin;
    }
    if (change.placement == Placement::kAfter) range.begin = range.end;
    const bool deletes = change.placement == Placement::kReplace && change.text.empty();
    const bool comments = deletes || (change.placement == Placement::kReplace && change.text.starts_with("//"));
    if (comments && tree.node(node).kind_name == "FunctionDecl") range = WithComment(tree.text(), range, deletes);
    if (deletes) range = WithWhiteSpace(tree.text(), range);
    splices.push_back({range, change.text});
  }
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) {
    return std::pair(a.range.begin, a.range.end) < std::pair(b.range.begin, b.range.end);
  });
  for (std::size_t i = 1; i < splices.size(); ++i) {
    if (splices[i].range.begin < splices[i - 1].range.end) return "its changes overlap";
  }
  return std::nullopt;
}

// Declares what the edit brings. Names are new to the text before the edit, which itself uses them.
std::optional<std::string> AddBrought(std::string& text, const std::string& before, const Parameters& parameters,
                                      const Edit& edit) {
  if (edit.brings.empty() && edit.constraints.empty()) return std::nullopt;
  try {
    text = DeclareBrought(text, before, edit, parameters);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace

AppliedEdit ApplyEdit(const SyntaxTree& tree, const Parameters& parameters, const Edit& edit) {
  const auto drop = [&](const std::string& why) { return AppliedEdit{tree.text(), fmt::format("{}: {}", edit.op, why)}; };
  if (const auto unmet = Unmet(parameters, edit)) return drop(*unmet);
  std::vector<Splice> splices;
  if (const auto lost = Resolve(tree, edit, splices)) return drop(*lost);
  std::string text = tree.text();
  for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice) {
    text.replace(splice->range.begin, splice->range.size(), splice->text);
  }
  if (text.find(kIndentFrom) != std::string::npos) text = WithoutMarks(std::move(text), IndentUnit(tree));
  if (text.find("#pragma unroll") != std::string::npos && StrayPragmas(text) > StrayPragmas(tree.text()))
    return drop("a #pragma unroll would not be in front of its loop any more");
  for (const SourceChange& change : edit.source) {
    if (IsInclude(change)) AddInclude(text, change.text);
  }
  if (const auto refused = AddBrought(text, tree.text(), parameters, edit)) return drop(*refused);
  for (const LaunchChange& change : edit.launch) {
    try {
      const auto changed = RenderLaunchChange(text, change);
      if (!changed) return drop(fmt::format("no launch line of {}", change.kernel));
      text = *changed;
    } catch (const Error& error) {
      return drop(error.what());
    }
  }
  return {std::move(text), ""};
}

}  // namespace evo
