#include "import/clamped_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace evo {
namespace {

using Kind = HostExpression::Kind;

// What `x > bound` keeps x below, or above.
struct Comparison {
  bool is_more = false;  // x > bound
  HostExpression bound;
};

std::optional<Comparison> ComparisonOf(const HostExpression& condition, const std::string& name) {
  if (condition.kind != Kind::kBinary) return std::nullopt;
  const bool more = condition.Is(">") || condition.Is(">="), less = condition.Is("<") || condition.Is("<=");
  if (!more && !less) return std::nullopt;
  const auto is_variable = [&](const HostExpression& side) { return side.kind == Kind::kName && side.Is(name); };
  if (is_variable(condition.parts[0])) return Comparison{more, condition.parts[1]};
  if (is_variable(condition.parts[1])) return Comparison{less, condition.parts[0]};
  return std::nullopt;
}

// Of `min(x, bound)` and `x > bound ? bound : x`.
std::optional<ValueClamp> ClampIn(const HostExpression& value, const std::string& name, const SourceRange& place) {
  const auto is_variable = [&](const HostExpression& part) { return part.kind == Kind::kName && part.Is(name); };
  if (value.kind == Kind::kCall && (value.Is("min") || value.Is("max")) && value.parts.size() == 2) {
    for (const std::size_t one : {0, 1}) {
      if (is_variable(value.parts[one])) return ValueClamp{value.text, value.parts[1 - one], place};
    }
  }
  if (value.kind != Kind::kConditional) return std::nullopt;
  const auto compared = ComparisonOf(value.parts[0], name);
  if (!compared) return std::nullopt;
  for (const std::size_t one : {1, 2}) {
    if (!is_variable(value.parts[one]) || value.parts[3 - one].Text() != compared->bound.Text()) continue;
    // The variable where it is less, or where it is more.
    return ValueClamp{(one == 2) == compared->is_more ? "min" : "max", compared->bound, place};
  }
  return std::nullopt;
}

// Conditions and loops behind the declaration of a variable in which a place stands.
std::vector<const SyntaxNode*> ConditionsOf(const SyntaxTree& tree, const ProgramVariable& variable, const SourceRange& place) {
  static const std::set<std::string, std::less<>> kKinds = {"IfStmt", "ForStmt",    "WhileStmt",
                                                            "DoStmt", "SwitchStmt", "CXXForRangeStmt"};
  std::vector<const SyntaxNode*> around;
  const std::uint32_t declared = tree.node(variable.node).range.begin;
  for (const SyntaxNode& node : tree.nodes()) {
    if (kKinds.contains(node.kind_name) && node.range.begin > declared && node.range.Contains(place)) around.push_back(&node);
  }
  return around;
}

// Of `if (x > bound) x = bound;`.
std::optional<ValueClamp> ClampUnder(const SourceProgram& program, const SyntaxNode& condition, const HostExpression& value,
                                     const std::string& name, const SourceRange& place) {
  if (condition.kind_name != "IfStmt" || condition.children.size() != 2) return std::nullopt;
  const SourceRange& tested = program.tree().node(condition.children[0]).range;
  const auto compared = ComparisonOf(ParseHostExpression(program.Tokens(tested)), name);
  if (!compared || compared->bound.Text() != value.Text()) return std::nullopt;
  return ValueClamp{compared->is_more ? "min" : "max", compared->bound, place};
}

}  // namespace

std::vector<ValueClamp> ClampsOf(const SourceProgram& program, const ProgramVariable& variable,
                                 const std::vector<SourceRange>& assigned, const SourceRange& first) {
  if (variable.function < 0) return {};
  std::vector<ValueClamp> clamps;
  for (const SourceRange& place : assigned) {
    // `int a = 1, b = 2;` looks like an assignment to b.
    if (first.Contains(place)) continue;
    const HostExpression value = ParseHostExpression(program.Tokens(place));
    const auto around = ConditionsOf(program.tree(), variable, place);
    auto clamp = around.empty()       ? ClampIn(value, variable.name, place)
                 : around.size() == 1 ? ClampUnder(program, *around[0], value, variable.name, place)
                                      : std::nullopt;
    if (!clamp) return {};
    clamps.push_back(*std::move(clamp));
  }
  return clamps;
}

HostExpression WithClamps(HostExpression value, const std::vector<ValueClamp>& clamps,
                          const std::function<HostExpression(const ValueClamp&)>& bound_of) {
  for (const ValueClamp& clamp : clamps) {
    HostExpression bound = bound_of(clamp);
    if (bound.IsKnown()) value = HostExpression::Call(clamp.function, {std::move(value), std::move(bound)});
  }
  return Simplified(value);
}

bool NamesSize(const std::map<std::string, HostLeaf>& leaves, const HostExpression& bound) {
  const std::vector<std::string> names = bound.Names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto leaf = leaves.find(name);
    return leaf != leaves.end() &&
           (leaf->second.origin == HostLeaf::Origin::kVariable || leaf->second.origin == HostLeaf::Origin::kParameter);
  });
}

}  // namespace evo
