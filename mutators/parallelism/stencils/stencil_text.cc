#include "mutators/parallelism/stencils/stencil_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

// The neighbour in the thread's registers.
std::string StencilText::Place(const Stencil::Site& site) const {
  const auto along = [&](std::string text, std::size_t axis) {
    const Stencil::Offset& offset = site.offsets[axis];
    for (const auto& [counter, factor] : offset.factors) {
      const std::string times = std::abs(factor) == 1 ? "" : fmt::format("{} * ", std::abs(factor));
      const char* const sign = text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
      text += fmt::format("{}{}{}", sign, times, tree_.node(counter).name);
    }
    const std::int64_t constant = offset.constant - found_.lowest[axis];
    if (text.empty()) return std::to_string(constant);
    return constant == 0 ? text : fmt::format("{} {} {}", text, constant < 0 ? "-" : "+", std::abs(constant));
  };
  std::string text = fmt::format("{}[{}]", names_.Window(site.buffer), along("", layout_.last()));
  if (layout_.has_rows()) text += fmt::format("[{}]", along(names_.Own("r"), 1));
  return text + fmt::format("[{}]", along(layout_.has_items() ? names_.Own("e") : "", 0));
}

Replacements StencilText::Replaced() const {
  Replacements replaced;
  for (const Stencil::Site& site : found_.sites) replaced.emplace_back(site.node, Place(site));
  for (const Stencil::Table& table : weights_.kept()) {
    for (const int node : table.nodes) {
      const std::string index(tree_.Text(tree_.node(node).children[1]));
      replaced.emplace_back(node, table.low == 0 ? fmt::format("{}[{}]", names_.Weights(table.buffer), index)
                                                 : fmt::format("{}[{} - {}]", names_.Weights(table.buffer), index, table.low));
    }
  }
  for (const auto& [variable, role] : found_.roles) {
    std::string value = role.IsCoordinate()              ? names_.Coordinate(role.axis)
                        : role.axis == Stencil::kElement ? layout_.Element(names_.Coordinate(0))
                                                         : layout_.NumberOfStored();
    if (role.shift != 0) value += fmt::format(" {} {}", role.shift < 0 ? "-" : "+", std::abs(role.shift));
    replaced.emplace_back(tree_.node(variable).children.back(), value);
  }
  for (const int statement : names_.declarations()) replaced.emplace_back(statement, "");
  if (layout_.has_items()) {
    for (const auto& [target, buffer] : statements_.stored_at())
      replaced.emplace_back(target, fmt::format("{}.values[{}]", names_.Results(buffer), names_.Own("e")));
  }
  for (const auto& [counter, start] : found_.once) {
    const auto uses = UsesAs(tree_, counter, found_.kernel, Parenthesised(start));
    replaced.insert(replaced.end(), uses.begin(), uses.end());
  }
  for (const int node : Subtree(tree_, found_.kernel)) {
    if (tree_.node(node).kind_name == "ReturnStmt") replaced.emplace_back(node, "continue;");
  }
  // The innermost loops first.
  for (auto loop = found_.loops.rbegin(); loop != found_.loops.rend(); ++loop) {
    if (const int pragma = PragmaOf(tree_, *loop); pragma >= 0)
      replaced.emplace_back(pragma, "#pragma unroll");
    else
      replaced.emplace_back(*loop, fmt::format("#pragma unroll\n{}{}", IndentOf(tree_, *loop), TextWith(tree_, *loop, replaced)));
  }
  return replaced;
}

std::string StencilText::Selected(const Replacements& replaced, const std::string& indent) const {
  const auto text = [&](int node) { return TextWith(tree_, node, replaced); };
  std::string value = text(selection_->value), declared;
  if (NamedDeclaration(tree_, selection_->value) < 0) {
    const std::string name = names_.Own("inside");
    declared = fmt::format("{}const {} {} = {};\n", indent, WithoutConst(tree_.node(selection_->value).type), name, value);
    value = name;
  }
  // A condition that is a selection itself needs parentheses.
  std::string condition = text(selection_->condition);
  if (condition.find('?') != std::string::npos) condition = Parenthesised(condition);
  const std::string target = text(tree_.node(selection_->store).children[0]), edge = text(selection_->edge);
  std::string store = fmt::format("{} = {} ? {} : {};\n", target, condition, edge, value);
  if (indent.size() + store.size() > 120)
    store = fmt::format("{1} =\n{0}    {2}\n{0}        ? {3}\n{0}        : {4};\n", indent, target, condition, edge, value);
  return declared + WithComments(tree_, selection_->statement, store, indent);
}

std::string StencilText::Lines(const std::vector<int>& statements, const std::string& indent) const {
  const Replacements replaced = Replaced();
  std::string text;
  for (const int statement : statements) {
    if (selection_ && statement == selection_->statement) continue;
    if (selection_ && statement == selection_->store) {
      text += Selected(replaced, indent);
      continue;
    }
    std::string lines = evo::Lines(tree_, statement, indent, replaced);
    lines = lines.substr(0, lines.find_last_not_of('\n') + 1);
    if (tree_.node(statement).kind_name == kPragmaKind || lines.starts_with('#')) {
      text += lines + "\n";
      continue;
    }
    if (lines.size() > indent.size()) text += WithComments(tree_, statement, lines.substr(indent.size()), indent);
  }
  // Pragmas stand at the margin.
  for (std::size_t at = text.find(" #pragma"); at != std::string::npos; at = text.find(" #pragma", at)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    // Behind `for (..)` or `if (..)` on the same line they begin one.
    if (text.find_first_not_of(' ', line) < at) {
      text.replace(at, 1, "\n");
      continue;
    }
    text.erase(line, at + 1 - line);
    at = line;
  }
  return text;
}

std::string StencilText::Indented(const std::string& text) {
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text[at] != '#' && text[at] != '\n') indented += "  ";
    indented += text.substr(at, end - at);
    at = end;
  }
  return indented;
}

std::string StencilText::Finished(const SyntaxTree& tree, const std::string& text) {
  const std::string unit = IndentUnit(tree);
  std::string finished;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 2, "//") == 0) {
      line.erase(0, begin);
      for (std::size_t i = 0; i < begin / 2; ++i) line.insert(0, unit);
    }
    finished += line;
    at = end;
  }
  return finished;
}

}  // namespace evo
