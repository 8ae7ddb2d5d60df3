#include "mutators/analysis/stencils/stencil_effects.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Atomic operations that come to the same in whatever order they are made.
constexpr std::array kOrderless{"atomicAdd"sv, "atomicSub"sv, "atomicMax"sv, "atomicMin"sv,
                                "atomicOr"sv,  "atomicAnd"sv, "atomicXor"sv};

bool IsOrderless(const SyntaxTree& tree, int call) {
  const std::string_view callee = LibraryCallee(tree, call);
  return std::find(kOrderless.begin(), kOrderless.end(), callee) != kOrderless.end();
}

// Whether nobody uses what a node is: it is a statement.
bool IsStatementOfItsOwn(const SyntaxTree& tree, int node) {
  if (tree.node(node).parent < 0) return false;
  const SyntaxNode& parent = tree.node(tree.node(node).parent);
  if (parent.kind_name == "CompoundStmt") return true;
  return parent.kind_name == "IfStmt" && parent.children.front() != node;
}

bool IsPointerType(const std::string& type) { return type.find('*') != std::string::npos && type.find('(') == std::string::npos; }

// A number that is spelled, also a negative one; empty for others.
std::string_view SpelledNumber(const SyntaxTree& tree, int expression) {
  int at = WithoutParentheses(tree, expression);
  if (tree.Operator(at) == "-" && tree.node(at).children.size() == 1) at = WithoutParentheses(tree, tree.node(at).children[0]);
  const std::string& kind = tree.node(at).kind_name;
  const bool spelled = kind == "IntegerLiteral" || kind == "FloatingLiteral" || kind == "CXXBoolLiteralExpr";
  return spelled ? tree.Text(expression) : std::string_view();
}

// The parameter, or the variable at file scope, that a pointer leads to: `p`, `&p[i]`, `&total`. -1 for others.
int MemoryBehind(const SyntaxTree& tree, int pointer) {
  pointer = WithoutParentheses(tree, pointer);
  if (tree.Operator(pointer) == "&" && tree.node(pointer).children.size() == 1) {
    const int of = WithoutParentheses(tree, tree.node(pointer).children[0]);
    if (tree.node(of).kind_name == "ArraySubscriptExpr") return MemoryBehind(tree, tree.node(of).children[0]);
    pointer = of;
  }
  const int declared = NamedDeclaration(tree, pointer);
  if (declared < 0) return -1;
  const SyntaxNode& node = tree.node(declared);
  if (node.kind_name == "ParmDecl") return IsPointerType(node.type) ? declared : -1;
  return node.kind_name == "VarDecl" && node.function < 0 ? declared : -1;
}

// Of `*flag`, `flags[2]` and `flag` at file scope.
int FlagAt(const SyntaxTree& tree, int target) {
  const SyntaxNode& node = tree.node(target);
  if (node.kind_name == "ArraySubscriptExpr")
    return SpelledNumber(tree, node.children[1]).empty() ? -1 : MemoryBehind(tree, node.children[0]);
  if (tree.Operator(target) == "*" && node.children.size() == 1) {
    const int pointer = WithoutParentheses(tree, node.children[0]);
    return NamedDeclaration(tree, pointer) < 0 ? -1 : MemoryBehind(tree, pointer);
  }
  const int declared = NamedDeclaration(tree, target);
  return declared >= 0 && tree.node(declared).kind_name == "VarDecl" && tree.node(declared).function < 0 ? declared : -1;
}

// Whether all that a function does, besides computing, are atomic operations on what a parameter of it points to, in whatever
// way: as the largest of floats by atomicCAS is.
bool OnlyUpdates(const SyntaxTree& tree, int function, int parameter) {
  const auto& children = tree.node(function).children;
  if (children.empty() || tree.node(children.back()).kind_name != "CompoundStmt") return false;
  std::set<int> pointers{parameter};
  bool updates = false;
  for (const int node : Subtree(tree, children.back())) {
    const SyntaxNode& one = tree.node(node);
    if (one.opaque || one.kind_name == "LambdaExpr" || one.kind_name.find("Asm") != std::string::npos ||
        one.kind_name == "UnexposedStmt")
      return false;
    if (one.kind_name == "VarDecl" && IsPointerType(one.type)) {
      // Another name of the parameter.
      const bool same = !one.children.empty() && std::any_of(pointers.begin(), pointers.end(), [&](int known) {
        const auto named = NamedIn(tree, one.children.back());
        return named.size() == 1 && named.contains(known);
      });
      if (!same) return false;
      pointers.insert(node);
    }
    if (one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && tree.node(one.refers_to).kind_name == "VarDecl" &&
        tree.node(one.refers_to).function < 0)
      return false;
    if (one.kind_name == "DeclRefExpr" && (one.name == "threadIdx" || one.name == "blockIdx" || one.name == "blockDim" ||
                                           one.name == "gridDim" || one.name == "warpSize"))
      return false;
    if (IsStore(tree, node)) return false;
    if (one.kind_name != "CallExpr" || CallsPure(tree, node)) continue;
    if (!IsOrderless(tree, node) && LibraryCallee(tree, node) != "atomicCAS") return false;
    updates = true;
  }
  return updates;
}

// What may be an effect, and on which memory.
struct Effect {
  int statement = -1;
  int memory = -1;
  std::string flag;  // the number that a flag gets
};

class EffectFinder {
 public:
  EffectFinder(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {}

  std::set<int> Find() {
    for (const int node : Subtree(tree_, kernel_)) Add(node);
    std::set<int> statements;
    for (const auto& [memory, effects] : effects_) {
      if (!IsOnlyForEffects(memory, effects)) continue;
      for (const Effect& effect : effects) statements.insert(effect.statement);
    }
    return statements;
  }

 private:
  void Add(int node) {
    if (!IsStatementOfItsOwn(tree_, node)) return;
    const SyntaxNode& one = tree_.node(node);
    if (one.kind_name == "CallExpr" && one.children.size() > 1) {
      const int memory = IsOrderless(tree_, node) ? MemoryBehind(tree_, one.children[1]) : UpdatedBy(node);
      if (memory >= 0) effects_[memory].push_back({node, memory, ""});
    } else if (IsAssignment(tree_, node) && tree_.Operator(node) == "=" && one.children.size() == 2) {
      const int memory = FlagAt(tree_, one.children[0]);
      const std::string number(SpelledNumber(tree_, one.children[1]));
      if (memory >= 0 && !number.empty()) effects_[memory].push_back({node, memory, number});
    }
  }

  // Of a function of the source.
  int UpdatedBy(int call) const {
    const auto& parts = tree_.node(call).children;
    const int function = NamedDeclaration(tree_, parts.front());
    if (function < 0 || tree_.node(function).kind_name != "FunctionDecl" || IsKernel(tree_, function)) return -1;
    std::vector<int> parameters;
    for (const int child : tree_.node(function).children) {
      if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
    }
    if (parameters.size() + 1 != parts.size()) return -1;
    int memory = -1;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string& type = tree_.node(parameters[i]).type;
      if (type.find('&') != std::string::npos) return -1;
      if (!IsPointerType(type)) continue;
      if (memory >= 0 || !OnlyUpdates(tree_, function, parameters[i])) return -1;
      memory = MemoryBehind(tree_, parts[i + 1]);
      if (memory < 0) return -1;
    }
    return memory;
  }

  // Each use is in another of the statements, where it says which memory is meant; flags always get one number.
  bool IsOnlyForEffects(int memory, const std::vector<Effect>& effects) const {
    const bool parameter = tree_.node(memory).kind_name == "ParmDecl";
    if (parameter && (tree_.node(memory).function != kernel_ || IsPassedTwice(tree_, context_.rendered, memory))) return false;
    std::set<int> used;
    for (const int use : tree_.UsesOf(memory)) {
      const int function = tree_.node(use).function;
      if (!parameter && function != kernel_ && function >= 0 && IsKernel(tree_, function)) continue;
      const auto within = std::find_if(effects.begin(), effects.end(),
                                       [&](const Effect& effect) { return IsWithin(tree_, use, effect.statement); });
      if (within == effects.end() || !used.insert(within->statement).second) return false;
    }
    return std::all_of(effects.begin(), effects.end(), [&](const Effect& effect) {
      if (effect.flag != effects.front().flag) return false;
      if (!effect.flag.empty()) return true;
      // Only numbers come to it, and what it is of follows from no data.
      const auto& parts = tree_.node(effect.statement).children;
      return std::all_of(parts.begin() + 1, parts.end(), [&](int part) {
        return IsPointerType(tree_.node(part).type) ? !LoadsInIndex(part) : IsPure(tree_, part);
      });
    });
  }

  // Whether the index of `&p[i]` does.
  bool LoadsInIndex(int pointer) const {
    pointer = WithoutParentheses(tree_, pointer);
    if (tree_.Operator(pointer) != "&" || tree_.node(pointer).children.size() != 1) return false;
    const int of = WithoutParentheses(tree_, tree_.node(pointer).children[0]);
    return tree_.node(of).kind_name == "ArraySubscriptExpr" && LoadsIn(tree_, tree_.node(of).children[1]);
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::map<int, std::vector<Effect>> effects_;  // by memory
};

bool IsRealNumber(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double";
}

// Whether a use of a variable only computes a real number: it decides nothing and is no part of an index or of an integer.
bool OnlyComputesReals(const SyntaxTree& tree, int use, int kernel) {
  for (int at = use; at != kernel; at = tree.node(at).parent) {
    const SyntaxNode& around = tree.node(tree.node(at).parent);
    const std::string& kind = around.kind_name;
    const bool first = !around.children.empty() && around.children.front() == at;
    if (kind == "ArraySubscriptExpr" && !first) return false;
    if ((kind == "IfStmt" || kind == "ConditionalOperator" || kind == "WhileStmt" || kind == "SwitchStmt") && first) return false;
    if (kind == "ForStmt" && around.children.back() != at) return false;
    if (kind == "DoStmt" && !first) return false;
    if (kind == "VarDecl" && !IsRealNumber(around.type)) return false;
    if (kind == "CallExpr" && !CallsPure(tree, tree.node(at).parent)) return false;
    const int parent = tree.node(at).parent, target = Assigned(tree, parent);
    if (target >= 0 && target != at && !IsStore(tree, parent) && !IsRealNumber(tree.node(target).type)) return false;
    if (kind == "CompoundStmt") return true;
  }
  return true;
}

}  // namespace

std::set<int> StencilEffects(const MutationContext& context, int kernel) { return EffectFinder(context, kernel).Find(); }

bool IsOfEffects(const SyntaxTree& tree, const std::set<int>& effects, int node) {
  return std::any_of(effects.begin(), effects.end(), [&](int statement) { return IsWithin(tree, node, statement); });
}

std::set<int> ChoicesOfReals(const SyntaxTree& tree, int kernel) {
  std::set<int> choices;
  for (const int choice : Subtree(tree, kernel)) {
    if (tree.node(choice).kind_name != "IfStmt" || tree.node(choice).children.size() < 2) continue;
    if (LoadsIn(tree, choice) || StoresIn(tree, choice) || !IsPure(tree, tree.node(choice).children[0])) continue;
    bool plain = true;
    for (const int node : Subtree(tree, choice)) {
      const std::string& kind = tree.node(node).kind_name;
      if (kind == "ReturnStmt" || kind == "BreakStmt" || kind == "ContinueStmt" || kind == "DeclStmt" || kind == "GotoStmt" ||
          kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt" || (kind == "CallExpr" && !CallsPure(tree, node)))
        plain = false;
      const int target = Assigned(tree, node);
      if (target < 0) continue;
      const int variable = NamedDeclaration(tree, target);
      plain = plain && variable >= 0 && tree.node(variable).kind_name == "VarDecl" && tree.node(variable).function == kernel &&
              IsRealNumber(tree.node(variable).type);
      if (!plain) break;
      for (const int use : tree.UsesOf(variable)) plain = plain && OnlyComputesReals(tree, use, kernel);
    }
    if (plain) choices.insert(choice);
  }
  return choices;
}

}  // namespace evo
