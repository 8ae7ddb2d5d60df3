#include "mutators/analysis/block_runs/reduction_elements.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

bool IsVariableKind(const std::string& kind) { return kind == "VarDecl" || kind == "ParmDecl"; }

bool IsInteger(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return IsArithmetic(plain) && plain != "float" && plain != "double";
}

bool IsSubscript(const SyntaxTree& tree, int node) {
  return tree.node(node).kind_name == "ArraySubscriptExpr" && tree.node(node).children.size() == 2;
}

std::string Tokens(const SyntaxTree& tree, int node) {
  std::string text;
  for (const std::string_view token : tree.Tokens(tree.node(node).range)) text += fmt::format("{} ", token);
  return text;
}

bool LoadsGlobal(const SyntaxTree& tree, int expression) {
  for (const int node : Subtree(tree, expression)) {
    const SyntaxNode& one = tree.node(node);
    const bool memory = IsSubscript(tree, node) || (one.kind_name == "UnaryOperator" && tree.Operator(node) == "*");
    // An array of arrays, or an address, is not read. The branches of `?:` are read without being marked so.
    const bool value = one.type.find_first_of("*]") == std::string::npos && tree.Operator(one.parent) != "&";
    if (memory && value && !NamesShared(tree, one.children.front())) return true;
    if (LibraryCallee(tree, node).starts_with("__ld")) return true;
  }
  return false;
}

}  // namespace

bool NamesShared(const SyntaxTree& tree, int expression) {
  const auto named = NamedIn(tree, expression);
  return std::any_of(named.begin(), named.end(), [&](int d) { return tree.node(d).kind_name == "VarDecl" && IsShared(tree, d); });
}

bool IsVote(std::string_view callee) {
  return callee == "__syncthreads_count" || callee == "__ballot_sync" || callee.starts_with("__reduce_");
}

ReductionElements::ReductionElements(const MutationContext& context, int kernel, Numbered numbered)
    : tree_(context.tree), kernel_(kernel), uniform_(context, kernel), written_(WrittenIn(context.tree, kernel)) {
  if (numbered == Numbered::kByVariableInLoops) loops_ = OuterLoops(context, kernel, written_);
  FindVariables();
  Collect(tree_.node(kernel).children.back());
  if (elements_.empty())
    refusal_ = "nothing that it loads from global memory is combined";
  else if (numbered == Numbered::kByIndex ? !NumberByIndex() : !NumberByVariable())
    refusal_ = fmt::format("`{}` is not a function of one index {}", tree_.Text(elements_.front().node), kNoNumber);
}

// Whether the counters of the loops that are kept are in nothing but the loops' headers and the elements, so that every turn
// takes the same numbers.
bool ReductionElements::KeepNamedLoops() {
  std::set<int> named;
  for (const Kind& kind : kinds_) {
    named.merge(NamedIn(tree_, kind.first));
    if (FactorOf(kind.first) >= 0) named.merge(NamedIn(tree_, FactorOf(kind.first)));
    for (const int statement : DeclarationsFor(kind.first)) named.merge(NamedIn(tree_, statement));
  }
  if (!loops_.Keep(tree_, named)) return false;
  const auto is_part = [&](int node) {
    const auto factors = [&](const Element& element) { return element.factor == node; };
    return Find(node) != nullptr || (tree_.node(node).kind_name == "VarDecl" && HasParts(node)) ||
           std::any_of(elements_.begin(), elements_.end(), factors);
  };
  for (const OuterLoop& loop : loops_.all()) {
    if (!loops_.IsOnlyIn(tree_, kernel_, loop, is_part)) return false;
  }
  return true;
}

// Whether a condition only says which elements there are: `i < n ? x[i] : 0`, `i < n && x[i] > 0`.
bool ReductionElements::IsGuarded(int expression) const {
  const int inner = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(inner);
  const bool choice = node.kind_name == "ConditionalOperator" && node.children.size() == 3;
  if ((!choice && tree_.Operator(inner) != "&&") || LoadsIn(tree_, node.children.front())) return false;
  const auto named = NamedIn(tree_, node.children.front());
  return std::none_of(named.begin(), named.end(), [&](int d) { return parts_.contains(d); });
}

// A local variable is a part of one element if its initialiser is, and holds partial results if it is changed to or by a value
// that comes from memory.
void ReductionElements::FindVariables() {
  for (bool more = true; more;) {
    more = false;
    for (const int node : Subtree(tree_, kernel_)) {
      int variable = -1, value = -1;
      if (tree_.node(node).kind_name == "VarDecl" && !tree_.node(node).children.empty() && !IsShared(tree_, node)) {
        variable = node;
        value = tree_.node(node).children.back();
      } else if (IsAssignment(tree_, node)) {
        variable = NamedDeclaration(tree_, WithoutMembers(tree_, tree_.node(node).children.front()));
        value = tree_.node(node).children.back();
      }
      if (variable < 0 || tree_.node(variable).kind_name != "VarDecl" || IsShared(tree_, variable)) continue;
      if (tree_.node(variable).type.find('*') != std::string::npos || IsPartial(variable) || parts_.contains(variable)) continue;
      const auto named = NamedIn(tree_, value);
      const bool partial = std::any_of(named.begin(), named.end(), [&](int d) { return IsPartial(d); });
      const bool part = std::any_of(named.begin(), named.end(), [&](int d) { return parts_.contains(d); });
      if (!partial && !part && !LoadsGlobal(tree_, value) && !NamesShared(tree_, value)) continue;
      const bool constant = variable == node && !written_.contains(variable);
      const auto inner = Subtree(tree_, value);
      const bool votes = std::any_of(inner.begin(), inner.end(), [&](int at) { return IsVote(LibraryCallee(tree_, at)); });
      const bool one = constant && !partial && !votes && !NamesShared(tree_, value) && !IsGuarded(value) && IsPure(tree_, value);
      (one ? parts_ : partials_).insert(variable);
      more = true;
    }
  }
}

// Whether an expression differs between threads, or between the iterations of a loop.
bool ReductionElements::Varies(int expression) const {
  if (!uniform_.IsUniform(expression)) return true;
  const auto named = NamedIn(tree_, expression);
  return std::any_of(named.begin(), named.end(), [&](int d) {
    const int statement = tree_.node(d).parent;
    return tree_.node(statement).kind_name == "DeclStmt" && tree_.node(tree_.node(statement).parent).kind_name == "ForStmt";
  });
}

bool ReductionElements::IsElement(int expression) const {
  const SyntaxNode& node = tree_.node(expression);
  if (node.type.empty() || node.type.find('*') != std::string::npos || IsVariableKind(node.kind_name)) return false;
  if (IsGuarded(expression) || NamesShared(tree_, expression) || !IsPure(tree_, expression)) return false;
  bool loads = LoadsGlobal(tree_, expression);
  for (const int declaration : NamedIn(tree_, expression)) {
    if (IsPartial(declaration)) return false;
    loads = loads || parts_.contains(declaration);
  }
  return loads;
}

void ReductionElements::Collect(int node) {
  if (tree_.node(node).kind_name == "VarDecl" && parts_.contains(node)) return;
  // What is stored to, and where an atomic adds, is no element.
  const bool assigns = IsAssignment(tree_, node);
  const bool atomic = IsAtomicCall(tree_, node);
  if (!assigns && !IsVote(LibraryCallee(tree_, node)) && IsElement(node) && !IsSumOfTwo(node)) {
    elements_.push_back({node});
    return;
  }
  if (CollectProduct(node)) return;
  const auto& children = tree_.node(node).children;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if ((assigns && i == 0) || (atomic && i < 2)) continue;
    Collect(children[i]);
  }
}

// Of `fmaf(a, b, sum)`, which is no element as a whole, the product is one.
bool ReductionElements::CollectProduct(int call) {
  if (!IsFusedProduct(tree_, call)) return false;
  const auto& parts = tree_.node(call).children;
  const auto whole = [&](int factor) {
    const auto named = NamedIn(tree_, factor);
    return !IsGuarded(factor) && !NamesShared(tree_, factor) && IsPure(tree_, factor) &&
           std::none_of(named.begin(), named.end(), [&](int d) { return IsPartial(d); });
  };
  if (!whole(parts[1]) || !whole(parts[2]) || (!IsElement(parts[1]) && !IsElement(parts[2]))) return false;
  elements_.push_back({parts[1], parts[2]});
  Collect(parts[3]);
  return true;
}

bool ReductionElements::IsSumOfTwo(int expression) const {
  const int sum = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(sum).children;
  if (tree_.Operator(sum) != "+" || sides.size() != 2) return false;
  const auto first_of = [&](int side) {
    while (IsSumOfTwo(side)) side = tree_.node(WithoutParentheses(tree_, side)).children.front();
    return IsElement(side) ? side : -1;
  };
  const int a = first_of(sides[0]), b = first_of(sides[1]);
  if (a < 0 || b < 0) return false;
  Varying in_a, in_b;
  AddVarying(a, in_a, false);
  AddVarying(b, in_b, false);
  if (in_a.indices.empty() || in_b.indices.empty()) return false;
  const std::string index_a = Tokens(tree_, in_a.indices.front()), index_b = Tokens(tree_, in_b.indices.front());
  return index_a != index_b && Normal(a, index_a) == Normal(b, index_b);
}

void ReductionElements::AddVarying(int node, Varying& varying, bool in_index) const {
  const SyntaxNode& one = tree_.node(node);
  if (one.opaque) varying.elsewhere = true;
  for (const int hidden : one.hidden) varying.elsewhere = varying.elsewhere || tree_.node(hidden).function >= 0;
  if (one.kind_name == "MemberRefExpr" && tree_.Text(node).starts_with("threadIdx")) varying.elsewhere |= !in_index;
  if (one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && tree_.node(one.refers_to).kind_name == "VarDecl") {
    if (HasParts(one.refers_to))
      AddVarying(tree_.node(one.refers_to).children.back(), varying, in_index);
    else if (tree_.node(one.refers_to).function >= 0 && Varies(node))
      (IsInteger(one.type) && !in_index ? varying.variables.insert(one.refers_to).second : varying.elsewhere |= !in_index);
  }
  const auto& children = one.children;
  const bool index = !in_index && IsSubscript(tree_, node) && Varies(children[1]);
  if (index) varying.indices.push_back(children[1]);
  for (const int child : children) AddVarying(child, varying, in_index || (index && child == children[1]));
}

// The element's tokens and those of the variables that it needs, with `@` for the index.
std::string ReductionElements::Normal(int element, const std::string& index) const {
  std::string text;
  std::vector<int> nodes = DeclarationsFor(element);
  nodes.push_back(element);
  if (FactorOf(element) >= 0) nodes.push_back(FactorOf(element));
  for (const int node : nodes) {
    Replacements replacements;
    for (const int at : Subtree(tree_, node)) {
      if (IsSubscript(tree_, at) && Tokens(tree_, tree_.node(at).children[1]) == index)
        replacements.emplace_back(tree_.node(at).children[1], "@");
    }
    const std::string replaced = TextWith(tree_, node, replacements);
    for (const SourceRange& range : Tokenize(replaced)) text += replaced.substr(range.begin, range.size()) + " ";
  }
  return text;
}

// The variables that an element is computed from and that differ between threads or turns; within an index, too, the number must
// be the only one.
void ReductionElements::AddNumbered(int element, std::set<int>& variables, int& use, bool& elsewhere) const {
  std::vector<int> nodes = DeclarationsFor(element);
  nodes.push_back(element);
  if (FactorOf(element) >= 0) nodes.push_back(FactorOf(element));
  for (const int node : nodes) {
    for (const int at : Subtree(tree_, node)) {
      const SyntaxNode& one = tree_.node(at);
      if (one.opaque || (one.kind_name == "MemberRefExpr" && tree_.Text(at).starts_with("threadIdx"))) elsewhere = true;
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0 || tree_.node(one.refers_to).kind_name != "VarDecl") continue;
      if (HasParts(one.refers_to) || tree_.node(one.refers_to).function < 0 || !Varies(at)) continue;
      if (loops_.IsCounter(one.refers_to)) continue;
      if (!IsInteger(one.type)) elsewhere = true;
      variables.insert(one.refers_to);
      use = at;
    }
  }
}

// `i` in all of them.
bool ReductionElements::NumberByVariable() {
  for (Element& element : elements_) {
    std::set<int> variables;
    int use = -1;
    bool elsewhere = false;
    AddNumbered(element.node, variables, use, elsewhere);
    if (elsewhere || variables.size() != 1) return false;
    element.number = use;
    if (tree_.node(use).name != tree_.node(elements_.front().number).name) return false;
    SetKind(element, Normal(element.node, ""));
  }
  variable_ = tree_.node(elements_.front().number).refers_to;
  // The first of each kind stays, where only this variable is known.
  return KeepNamedLoops() && std::all_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
           return tree_.node(NumberOf(kind.first)).refers_to == variable_;
         });
}

// The same index of all subscripts of an element.
bool ReductionElements::NumberByIndex() {
  for (Element& element : elements_) {
    Varying varying;
    AddVarying(element.node, varying, false);
    if (element.factor >= 0) AddVarying(element.factor, varying, false);
    if (varying.elsewhere || !varying.variables.empty() || varying.indices.empty()) return false;
    const std::string index = Tokens(tree_, varying.indices.front());
    for (const int other : varying.indices) {
      if (Tokens(tree_, other) != index) return false;
    }
    element.number = varying.indices.front();
    SetKind(element, Normal(element.node, index));
  }
  return std::all_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return SameTokens(tree_.Text(NumberOf(kind.first)), tree_.Text(elements_.front().number));
  });
}

void ReductionElements::SetKind(Element& element, const std::string& normal) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.normal == normal; });
  element.kind = static_cast<std::size_t>(known - kinds_.begin());
  if (known == kinds_.end()) kinds_.push_back({element.node, normal});
}

const ReductionElements::Element* ReductionElements::Find(int node) const {
  const auto found = std::find_if(elements_.begin(), elements_.end(), [&](const Element& one) { return one.node == node; });
  return found == elements_.end() ? nullptr : &*found;
}

int ReductionElements::NumberOf(int node) const {
  const Element* const element = Find(node);
  return element == nullptr ? -1 : element->number;
}

int ReductionElements::FactorOf(int node) const {
  const Element* const element = Find(node);
  return element == nullptr ? -1 : element->factor;
}

bool ReductionElements::IsCondition(std::size_t kind) const {
  const int element = kinds_[kind].first;
  return FactorOf(element) < 0 && WithoutConst(tree_.node(element).type) == "bool";
}

std::vector<int> ReductionElements::DeclarationsFor(int element) const {
  std::set<int> statements;
  std::vector<int> open{element};
  if (FactorOf(element) >= 0) open.push_back(FactorOf(element));
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (const int declaration : NamedIn(tree_, node)) {
      if (!HasParts(declaration) || !statements.insert(tree_.node(declaration).parent).second) continue;
      open.push_back(tree_.node(declaration).children.back());
    }
  }
  return {statements.begin(), statements.end()};
}

}  // namespace evo
