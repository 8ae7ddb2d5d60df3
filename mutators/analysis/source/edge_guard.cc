#include "mutators/analysis/source/edge_guard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// A comparison `i < n` of a variable i.
struct Bounded {
  int index = -1;  // declaration
  int bound = -1;  // expression
};

// Splits `a >= n || m <= b` or, with `inside`, `a < n && m > b` into comparisons. False if the condition has any other part.
bool Split(const SyntaxTree& tree, int condition, bool inside, std::vector<Bounded>& parts) {
  condition = WithoutParentheses(tree, condition);
  const auto& sides = tree.node(condition).children;
  if (sides.size() != 2) return false;
  const std::string_view spelled = tree.Operator(condition);
  if (spelled == (inside ? "&&" : "||")) return Split(tree, sides[0], inside, parts) && Split(tree, sides[1], inside, parts);
  const bool forwards = spelled == (inside ? "<" : ">=");
  const bool backwards = spelled == (inside ? ">" : "<=");
  if (!forwards && !backwards) return false;
  parts.push_back({NamedDeclaration(tree, sides[forwards ? 0 : 1]), sides[forwards ? 1 : 0]});
  return parts.back().index >= 0;
}

bool OnlyReturns(const SyntaxTree& tree, int body) {
  const auto& statements = tree.node(body).children;
  return tree.node(body).kind_name == "ReturnStmt" || (tree.node(body).kind_name == "CompoundStmt" && statements.size() == 1 &&
                                                       tree.node(statements[0]).kind_name == "ReturnStmt");
}

class EdgeGuardFinder {
 public:
  EdgeGuardFinder(const MutationContext& context, const BlockUniform& uniform, int kernel)
      : tree_(context.tree), uniform_(uniform), kernel_(kernel), written_(WrittenIn(context.tree, kernel)) {}

  std::optional<EdgeGuard> Find(int statement) {
    if (Cooperates(tree_, kernel_)) return std::nullopt;
    const int block = tree_.node(kernel_).children.back();
    const auto& statements = tree_.node(block).children;
    for (const int at : statements) {
      if (tree_.node(at).range.begin > tree_.node(statement).range.begin) break;
      if (tree_.node(at).kind_name != "IfStmt" || tree_.node(at).children.size() != 2) continue;
      const int condition = tree_.node(at).children[0];
      const int body = tree_.node(at).children[1];
      const bool round = IsWithin(tree_, statement, body);
      if (!round && !OnlyReturns(tree_, body)) continue;
      if (uniform_.IsUniform(condition)) continue;
      if (parts_.empty() && Split(tree_, condition, round, parts_)) {
        guard_.statement = at;
        round_ = round;
      } else {
        return std::nullopt;  // a second guard, or one that is not understood
      }
    }
    if (guard_.statement < 0 || !AreIndices() || !StoresAreClear()) return std::nullopt;
    Write();
    return guard_;
  }

 private:
  bool AreIndices() {
    unsigned threads = 0;
    unsigned blocks = 0;
    std::set<int> seen;
    for (const Bounded& part : parts_) {
      if (!seen.insert(part.index).second) return false;  // with two bounds, the clamped index might still exceed one of them
      const SyntaxNode& variable = tree_.node(part.index);
      if (variable.kind_name != "VarDecl" || variable.children.empty() || written_.contains(part.index)) return false;
      const std::string type = WithoutConst(variable.type);
      if (!IsArithmetic(type) || type == "float" || type == "double") return false;
      const SyntaxNode& statement = tree_.node(variable.parent);
      if (statement.kind_name != "DeclStmt" || statement.children.size() != 1) return false;
      if (tree_.node(statement.parent).parent != kernel_ || statement.range.begin > tree_.node(guard_.statement).range.begin)
        return false;
      const Origins origins = uniform_.Of(variable.children.back());
      if (!origins.known || origins.threads == 0 || !uniform_.IsUniform(part.bound)) return false;
      // The bound must be known where the index is declared.
      for (const int named : NamedIn(tree_, part.bound)) {
        if (tree_.node(named).range.begin > statement.range.begin && tree_.node(named).kind_name == "VarDecl") return false;
      }
      threads |= origins.threads;
      blocks |= origins.blocks;
    }
    return IsAllThatIsSaid(threads, blocks);
  }

  // Whether only the indices use the built-in variables that they are made of. Otherwise a thread past the end would not behave
  // like the last one inside.
  bool IsAllThatIsSaid(unsigned threads, unsigned blocks) const {
    for (const auto& [builtin, axes] : {std::pair("threadIdx", threads), std::pair("blockIdx", blocks)}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if ((axes >> axis & 1u) == 0) continue;
        for (const int use : BuiltinUses(tree_, kernel_, builtin, axis)) {
          if (!IsInAnIndex(use)) return false;
        }
      }
    }
    return true;
  }

  bool IsInAnIndex(int use) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Bounded& part) { return IsWithin(tree_, use, part.index); });
  }

  bool StoresAreClear() {
    const auto traffic = TrafficOf(tree_, kernel_);
    if (!traffic || traffic->read.contains(-1)) return false;
    for (const int root : traffic->stored) {
      if (traffic->read.contains(root)) return false;
    }
    const SyntaxNode& guard = tree_.node(guard_.statement);
    for (const int node : Subtree(tree_, kernel_)) {
      if (!IsStore(tree_, node)) continue;
      const bool guarded = round_ ? IsWithin(tree_, node, guard_.statement) : tree_.node(node).range.begin > guard.range.end;
      const SyntaxNode& parent = tree_.node(tree_.node(node).parent);
      const bool statement = parent.kind_name == "CompoundStmt" || parent.kind_name == "ForStmt" || parent.kind_name == "IfStmt";
      if (!guarded || !statement || !tree_.Text(node).ends_with(";")) return false;
      guard_.stores.push_back(node);
    }
    // If the guard encloses the work, statements outside of it keep the threads' own indices, so they must not name the clamped
    // ones.
    for (const int node : Subtree(tree_, kernel_)) {
      const SyntaxNode& name = tree_.node(node);
      const bool names = name.kind_name == "DeclRefExpr" &&
                         std::any_of(parts_.begin(), parts_.end(), [&](const Bounded& p) { return p.index == name.refers_to; });
      if (round_ && names && !IsWithin(tree_, node, guard_.statement)) return false;
    }
    return !guard_.stores.empty();
  }

  void Write() {
    guard_.inside = FreshName(tree_, "inside");
    std::vector<std::string> conditions;
    for (const Bounded& part : parts_) {
      const SyntaxNode& variable = tree_.node(part.index);
      const std::string asked = FreshName(tree_, variable.name + "_asked");
      const std::string bound = Parenthesised(tree_, part.bound);
      conditions.push_back(fmt::format("{} < {}", asked, bound));
      const std::string type = WithoutConst(variable.type);
      const std::string first = fmt::format("const {} {} = {};", type, asked, tree_.Text(variable.children.back()));
      guard_.changes.emplace_back(
          variable.parent, LineBefore(tree_, variable.parent, first) +
                               fmt::format("const {0} {1} = {2} < {3} ? {2} : {3} - 1;", type, variable.name, asked, bound));
    }
    const std::string inside = fmt::format("const bool {} = {};", guard_.inside, fmt::join(conditions, " && "));
    if (!round_) {
      guard_.changes.emplace_back(guard_.statement, inside);
      return;
    }
    // If one thread of the block enters, all do.
    guard_.changes.emplace_back(tree_.node(guard_.statement).children[0], fmt::format("__syncthreads_or({})", guard_.inside));
    guard_.before = LineBefore(tree_, guard_.statement, inside);
  }

  const SyntaxTree& tree_;
  const BlockUniform& uniform_;
  int kernel_;
  std::set<int> written_;
  std::vector<Bounded> parts_;
  bool round_ = false;
  EdgeGuard guard_;
};

}  // namespace

std::optional<EdgeGuard> EdgeGuardOf(const MutationContext& context, const BlockUniform& uniform, int kernel, int statement) {
  return EdgeGuardFinder(context, uniform, kernel).Find(statement);
}

std::string GuardedStore(const SyntaxTree& tree, const EdgeGuard& guard, int store, const Replacements& replacements) {
  const bool alone = tree.node(tree.node(store).parent).kind_name == "CompoundStmt";
  const std::string guarded = fmt::format("if ({}) {}", guard.inside, TextWith(tree, store, replacements));
  return alone ? guarded : fmt::format("{{ {} }}", guarded);
}

}  // namespace evo
