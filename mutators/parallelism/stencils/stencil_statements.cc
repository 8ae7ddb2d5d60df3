#include "mutators/parallelism/stencils/stencil_statements.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/stencil_effects.h"
#include "mutators/analysis/stencils/stencil_tile.h"

namespace evo {

StencilStatements::StencilStatements(const SyntaxTree& tree, const Stencil& found, const StencilNames& names, bool has_items)
    : tree_(tree), found_(found), names_(names), has_items_(has_items) {
  for (const int node : Subtree(tree_, found_.kernel)) {
    if (!IsStore(tree_, node) || IsOfTile(tree_, found_, node) || IsOfEffects(tree_, found_.effects, node)) continue;
    const int target = WithoutMembers(tree_, Assigned(tree_, node));
    stored_at_.emplace_back(target, RootOf(tree_, PointerAt(tree_, target)));
  }
  for (const int statement : found_.statements) AddStatement(statement);
  DropUnused();
}

bool StencilStatements::IsOfCoordinate(int statement) const {
  const auto& declarations = names_.declarations();
  return std::find(declarations.begin(), declarations.end(), statement) != declarations.end();
}

// Whether a condition holds for all elements that are visited (with `inside`), or for none of them.
bool StencilStatements::IsImplied(int condition, bool inside) const {
  condition = WithoutParentheses(tree_, condition);
  const auto& sides = tree_.node(condition).children;
  if (sides.size() != 2) return false;
  const std::string_view spelled = tree_.Operator(condition);
  if (spelled == (inside ? "&&" : "||")) return IsImplied(sides[0], inside) && IsImplied(sides[1], inside);
  const auto role = found_.roles.find(NamedDeclaration(tree_, sides[0]));
  if (role == found_.roles.end() || role->second.shift != 0) return false;
  if (const std::string& from = role->second.IsCoordinate() ? found_.stores[role->second.axis].from.kernel : ""; !from.empty()) {
    if (spelled == (inside ? ">=" : "<") && SameTokens(tree_.Text(sides[1]), from)) return true;
    if (ConstantValue(tree_, tree_.Text(sides[1]))) return false;
  }
  if (const auto number = ConstantValue(tree_, tree_.Text(sides[1])); number && role->second.IsCoordinate()) {
    const std::int64_t low = found_.stores[role->second.axis].low;
    if (spelled == (inside ? ">" : "<=")) return *number < low;
    if (spelled == (inside ? ">=" : "<")) return *number <= low;
    return !inside && spelled == "==" && *number < low;
  }
  if (spelled != (inside ? "<" : ">=")) return false;
  if (role->second.IsCoordinate()) return SameTokens(tree_.Text(sides[1]), found_.stores[role->second.axis].end.kernel);
  // The product of all sizes, or of how many elements are stored along each axis.
  const auto form = AffineFormOf(tree_, sides[1], {});
  AffineForm product = AffineForm::Constant(1);
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    const bool of_stored = role->second.axis == Stencil::kStored;
    const bool whole = axis + 1 == found_.dimensions || found_.lengths[axis].kernel == found_.stores[axis].end.kernel;
    if (of_stored && !found_.stores[axis].from.kernel.empty()) return false;
    const auto extent = of_stored || whole ? ExtentFrom(of_stored ? found_.stores[axis].low : 0, axis) : std::nullopt;
    if (!extent) return false;
    product = product.TimesForm(*extent);
  }
  return form && *form == product;
}

// How many elements there are along an axis from `low` to the last one that is stored; nullopt if that is no parameter plus or
// minus a number.
std::optional<AffineForm> StencilStatements::ExtentFrom(std::int64_t low, std::size_t axis) const {
  std::string name = found_.stores[axis].end.kernel;
  std::int64_t more = -low;
  if (const std::size_t space = name.find(' '); name.starts_with('(') && space != std::string::npos) {
    // "(width - 1)".
    const auto number = ConstantValue(tree_, name.substr(space + 3, name.size() - space - 4));
    if (!number || (name[space + 1] != '-' && name[space + 1] != '+')) return std::nullopt;
    more += name[space + 1] == '-' ? -*number : *number;
    name = name.substr(1, space - 1);
  }
  for (const int child : tree_.node(found_.kernel).children) {
    if (tree_.node(child).kind_name == "ParmDecl" && tree_.node(child).name == name)
      return AffineForm::Symbol(child).Plus(AffineForm::Constant(more));
  }
  return std::nullopt;
}

// Whether declarations are the same for all threads, so that they may stand before the loop.
bool StencilStatements::IsCommon(int statement) const {
  if (tree_.node(statement).kind_name != "DeclStmt") return false;
  const auto written = WrittenIn(tree_, found_.kernel);
  for (const int variable : tree_.node(statement).children) {
    const SyntaxNode& declared = tree_.node(variable);
    if (declared.kind_name != "VarDecl" || declared.children.empty() || !IsArithmetic(WithoutConst(declared.type)) ||
        written.contains(variable) || found_.roles.contains(variable) || !IsPure(tree_, declared.children.back()) ||
        LoadsIn(tree_, declared.children.back()))
      return false;
    for (const int name : NamedIn(tree_, declared.children.back())) {
      const bool common = tree_.node(name).kind_name == "ParmDecl" || tree_.node(name).function < 0 ||
                          std::find(common_.begin(), common_.end(), tree_.node(name).parent) != common_.end();
      if (!common) return false;
    }
  }
  return true;
}

void StencilStatements::AddStatement(int statement) {
  const SyntaxNode& node = tree_.node(statement);
  if (IsOfCoordinate(statement)) return;
  if (node.kind_name == "IfStmt" && node.children.size() == 2) {
    const int then = node.children[1], only = OnlyStatement(tree_, then);
    const bool returns = tree_.node(only < 0 ? then : only).kind_name == "ReturnStmt";
    if (returns && IsImplied(node.children[0], false)) return;
    if (!returns && tree_.node(then).kind_name == "CompoundStmt" && statement == found_.statements.back() &&
        IsImplied(node.children[0], true)) {
      for (const int inner : tree_.node(then).children) AddStatement(inner);
      return;
    }
  }
  (IsCommon(statement) ? common_ : in_loop_).push_back(statement);
}

// Declarations that only addresses of neighbours needed, or conditions that are left out.
void StencilStatements::DropUnused() {
  const auto is_kept = [&](int use) {
    const auto within = [&](int node) { return IsWithin(tree_, use, node); };
    if (std::any_of(found_.sites.begin(), found_.sites.end(), [&](const auto& site) { return within(site.node); })) return false;
    const auto& declarations = names_.declarations();
    if (std::any_of(declarations.begin(), declarations.end(), within)) return false;
    if (has_items_ && std::any_of(stored_at_.begin(), stored_at_.end(), [&](const auto& at) { return within(at.first); }))
      return false;
    for (const auto& [variable, role] : found_.roles) {
      if (within(variable) && use != variable) return false;
    }
    return std::any_of(common_.begin(), common_.end(), within) || std::any_of(in_loop_.begin(), in_loop_.end(), within);
  };
  const auto is_unused = [&](int statement) {
    if (tree_.node(statement).kind_name != "DeclStmt") return false;
    const auto& variables = tree_.node(statement).children;
    return std::all_of(variables.begin(), variables.end(), [&](int variable) {
      const SyntaxNode& declared = tree_.node(variable);
      const auto& uses = tree_.UsesOf(variable);
      return declared.kind_name == "VarDecl" && !declared.children.empty() && IsPure(tree_, declared.children.back()) &&
             std::none_of(uses.begin(), uses.end(), is_kept);
    });
  };
  // One after another: what one used may be unused without it.
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (auto* const list : {&in_loop_, &common_}) {
      const auto unused = std::find_if(list->begin(), list->end(), is_unused);
      if (unused == list->end()) continue;
      list->erase(unused);
      dropped = true;
    }
  }
}

}  // namespace evo
