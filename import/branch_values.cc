#include "import/branch_values.h"

#include <algorithm>

namespace evo {
namespace {

using Kind = HostExpression::Kind;

bool IsLoop(const SyntaxNode& node) {
  return node.kind_name == "ForStmt" || node.kind_name == "WhileStmt" || node.kind_name == "DoStmt";
}

}  // namespace

std::optional<BranchValue> ValueOfBranches(const SourceProgram& program, const ProgramVariable& variable,
                                           const std::vector<SourceRange>& assigned) {
  const SyntaxTree& tree = program.tree();
  const SourceRange& initialiser = variable.initialiser;
  const bool starts = initialiser.size() > 0 && program.Text(initialiser) != "0";
  if (variable.function < 0 || starts) return std::nullopt;
  std::vector<SourceRange> values = assigned;
  // `int a = 0, b = 0;` looks like an assignment to b.
  std::erase_if(values, [&](const SourceRange& value) { return initialiser.Contains(value); });
  if (values.size() != 2) return std::nullopt;
  const std::uint32_t declared = tree.node(variable.node).range.begin;
  const SyntaxNode* chosen_by = nullptr;
  for (const SyntaxNode& node : tree.nodes()) {
    const bool around = node.range.Contains(values[0]) && node.range.begin > declared;
    if (around && IsLoop(node)) return std::nullopt;
    if (!around || node.kind_name != "IfStmt") continue;
    if (chosen_by != nullptr || node.children.size() != 3) return std::nullopt;
    chosen_by = &node;
  }
  if (chosen_by == nullptr) return std::nullopt;
  const auto range_of = [&](std::size_t part) { return tree.node(chosen_by->children[part]).range; };
  const auto parsed = [&](const SourceRange& range) { return ParseHostExpression(program.Tokens(range)); };
  if (!range_of(1).Contains(values[0]) || !range_of(2).Contains(values[1])) return std::nullopt;
  if (tree.node(chosen_by->children[2]).kind_name == "IfStmt") return std::nullopt;
  return BranchValue{{Kind::kConditional, "?", {}, {parsed(range_of(0)), parsed(values[0]), parsed(values[1])}}, values[0]};
}

}  // namespace evo
