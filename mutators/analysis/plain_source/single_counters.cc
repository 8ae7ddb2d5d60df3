#include "mutators/analysis/plain_source/single_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// How far each variable moves in a turn, of `j++, i--, k += 2`; empty if it is something else.
std::map<int, std::string> StepsIn(const SyntaxTree& tree, int increment) {
  std::map<int, std::string> steps;
  std::vector<int> left{WithoutParentheses(tree, increment)};
  while (!left.empty()) {
    const int one = left.back();
    left.pop_back();
    const auto& parts = tree.node(one).children;
    if (tree.Operator(one) == "," && parts.size() == 2) {
      left.push_back(parts[0]), left.push_back(parts[1]);
      continue;
    }
    const bool adds = tree.Operator(one) == "+=" && parts.size() == 2 && tree.node(parts[1]).kind_name == "IntegerLiteral";
    const int variable = adds || IsCount(tree, one) ? NamedDeclaration(tree, parts.front()) : -1;
    const std::string step = adds ? std::string(tree.Text(parts[1])) : tree.Operator(one) == "++" ? "1" : "-1";
    if (variable < 0 || !steps.emplace(variable, step).second) return {};
  }
  return steps;
}

// The text of such a loop with one counter; empty if it is none.
std::string WithOneCounter(const SyntaxTree& tree, int node) {
  const auto loop = AsForLoop(tree, node);
  if (!loop || tree.node(loop->init).kind_name != "DeclStmt" || tree.node(loop->init).children.size() < 2) return "";
  const auto& variables = tree.node(loop->init).children;
  const auto steps = StepsIn(tree, loop->increment);
  if (steps.size() != variables.size()) return "";
  const std::set<int> written = WrittenIn(tree, loop->body), compared = NamedIn(tree, loop->condition);
  int counter = -1;
  for (const int variable : variables) {
    const SyntaxNode& declared = tree.node(variable);
    if (declared.kind_name != "VarDecl" || declared.type != "int" || declared.children.empty() || written.contains(variable) ||
        !steps.contains(variable) || !IsInvariant(tree, declared.children.back(), node))
      return "";
    if (!compared.contains(variable)) continue;
    if (counter >= 0) return "";
    counter = variable;
  }
  if (counter < 0 || steps.at(counter) != "1") return "";
  const std::string& name = tree.node(counter).name;
  const int start = tree.node(counter).children.back();
  const std::string turn =
      tree.Text(start) == "0" ? name : fmt::format("({} - {})", name, Parenthesised(std::string(tree.Text(start))));
  std::string others;
  for (const int variable : variables) {
    if (variable == counter) continue;
    const std::string& step = steps.at(variable);
    const std::string by = step == "1" ? turn : fmt::format("{} * ({})", turn, step);
    others += fmt::format("const int {} = {} + {}; ", tree.node(variable).name,
                          Parenthesised(std::string(tree.Text(tree.node(variable).children.back()))), by);
  }
  const std::string body(tree.Text(loop->body));
  const std::string inside = tree.node(loop->body).kind_name == "CompoundStmt" ? body.substr(1) : body + "\n}";
  return fmt::format("for (int {0} = {1}; {2}; {0}++) {{\n{3}{4}", name, tree.Text(start), tree.Text(loop->condition), others,
                     inside);
}

}  // namespace

std::optional<std::string> WithSingleCounters(const SyntaxTree& tree) {
  Replacements replaced;
  for (const int node : NodesOfKind(tree, "ForStmt")) {
    const int function = tree.node(node).function;
    if (function < 0 || !IsKernel(tree, function)) continue;
    const bool within =
        std::any_of(replaced.begin(), replaced.end(), [&](const auto& one) { return IsWithin(tree, node, one.first); });
    if (within) continue;  // one round for each level
    if (std::string text = WithOneCounter(tree, node); !text.empty()) replaced.emplace_back(node, std::move(text));
  }
  return replaced.empty() ? std::nullopt : std::optional(TextWith(tree, 0, replaced));
}

}  // namespace evo
