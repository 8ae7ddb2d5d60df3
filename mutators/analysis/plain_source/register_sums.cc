#include "mutators/analysis/plain_source/register_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

class ElementSums {
 public:
  explicit ElementSums(const MutationContext& context) : context_(context), tree_(context.tree) {}

  std::optional<std::string> Run() {
    for (const int block : NodesOfKind(tree_, "CompoundStmt")) {
      const int kernel = tree_.node(block).function;
      if (kernel < 0 || !IsKernel(tree_, kernel)) continue;
      const std::vector<int>& statements = tree_.node(block).children;
      for (std::size_t first = 0; first < statements.size(); ++first) Keep(std::span(statements).subspan(first));
    }
    for (const int loop : NodesOfKind(tree_, "ForStmt")) {
      const int kernel = tree_.node(loop).function;
      if (kernel >= 0 && IsKernel(tree_, kernel) && IsInBlock(tree_, loop)) KeepDuring(loop);
    }
    return replaced_.empty() ? std::nullopt : std::optional(TextWith(tree_, 0, replaced_));
  }

 private:
  std::string NewName() const {
    std::string name = FreshName(tree_, "element_sum");
    for (int number = 2; std::find(names_.begin(), names_.end(), name) != names_.end(); ++number)
      name = FreshName(tree_, fmt::format("element_sum_{}", number));
    return name;
  }

  // The element that a statement `p[i] = x;` or `p[i] *= x;` stores to; -1 for others.
  int StoredElement(int statement) const {
    if (!IsAssignment(tree_, statement) || tree_.node(statement).children.size() != 2) return -1;
    const int target = tree_.node(statement).children.front();
    if (tree_.node(target).kind_name != "ArraySubscriptExpr" || !IsArithmetic(tree_.node(target).type)) return -1;
    return BufferOf(target) >= 0 ? target : -1;
  }

  // The parameter of which an expression is an element; -1 for others.
  int BufferOf(int element) const {
    if (tree_.node(element).kind_name != "ArraySubscriptExpr") return -1;
    const int buffer = NamedDeclaration(tree_, tree_.node(element).children.front());
    return buffer >= 0 && tree_.node(buffer).kind_name == "ParmDecl" ? buffer : -1;
  }

  // Whether no other pointer is into a buffer.
  bool IsApart(int buffer) const { return !IsPassedTwice(tree_, context_.rendered, buffer) && IsOnlyIndexed(buffer); }

  // Elements that a loop adds to and that were there before it: variables begin with them, if the loop has a turn at all. Those
  // that it only stores to in each turn, so that the last one counts, begin with anything.
  void KeepDuring(int loop) {
    const auto counted = AsCountedLoop(tree_, loop);
    if (!counted || !IsPlain(loop)) return;
    const bool touched = std::any_of(replaced_.begin(), replaced_.end(), [&](const auto& one) {
      return IsWithin(tree_, one.first, loop) || IsWithin(tree_, loop, one.first);
    });
    if (touched) return;
    std::vector<int> elements;
    for (const int node : Subtree(tree_, counted->parts.body)) {
      if (!IsStore(tree_, node)) continue;
      const int target = Assigned(tree_, node);
      if ((!Adds(node) && tree_.Operator(node) != "=") || BufferOf(target) < 0 || !IsArithmetic(tree_.node(target).type)) return;
      const auto same = [&](int other) { return BufferOf(other) == BufferOf(target); };
      if (std::any_of(elements.begin(), elements.end(), same)) continue;
      // Under a condition there may be no such element.
      if (!IsUnconditional(tree_, node, counted->parts.body)) return;
      elements.push_back(target);
    }
    Replacements uses;
    std::string before, after;
    const std::string indent = IndentOf(tree_, loop);
    const std::string has_turns =
        TextWith(tree_, counted->parts.condition,
                 UsesAs(tree_, counted->counter, counted->parts.condition, std::string(Parenthesised(tree_, counted->start))));
    for (const int element : elements) {
      if (!IsApart(BufferOf(element)) || !IsInvariant(tree_, tree_.node(element).children.back(), loop)) return;
      names_.push_back(NewName());
      const std::string& name = names_.back();
      const std::size_t others = uses.size();
      for (const int use : tree_.UsesOf(BufferOf(element))) {
        if (!IsWithin(tree_, use, loop)) continue;
        const int named = tree_.node(use).parent;
        if (tree_.Text(named) != tree_.Text(element)) return;
        uses.emplace_back(named, name);
      }
      const bool only_stored = uses.size() == others + 1 && tree_.Operator(tree_.node(element).parent) == "=";
      before += only_stored ? fmt::format("{} {} = 0;\n{}", tree_.node(element).type, name, indent)
                            : fmt::format("{} {} = {} ? {} : 0;\n{}", tree_.node(element).type, name, has_turns,
                                          tree_.Text(element), indent);
      after += fmt::format("\n{}if ({}) {} = {};", indent, has_turns, tree_.Text(element), name);
    }
    if (elements.empty()) return;
    // Nothing stands between a loop and its pragma.
    if (const int pragma = counted->parts.pragma; pragma >= 0)
      replaced_.emplace_back(pragma, before + std::string(tree_.Text(pragma))), before.clear();
    replaced_.emplace_back(loop, before + TextWith(tree_, loop, uses) + after);
  }

  // `p[i] += x` or `p[i] = p[i] + x`.
  bool Adds(int store) const {
    if (tree_.Operator(store) != "=") return tree_.Operator(store) == "+=";
    const auto& sides = tree_.node(store).children;
    const int sum = WithoutParentheses(tree_, sides.back());
    if (tree_.Operator(sum) != "+" || tree_.node(sum).children.size() != 2) return false;
    const int before = WithoutParentheses(tree_, tree_.node(sum).children.front());
    return SameTokens(tree_.Text(before), tree_.Text(Assigned(tree_, store)));
  }

  // Statements of a block, of which the first stores to an element and a later one is a loop that adds to it.
  void Keep(std::span<const int> statements) {
    const int element = StoredElement(statements.front());
    if (element < 0) return;
    const int buffer = BufferOf(element);
    if (!IsApart(buffer)) return;
    const auto names_it = [&](int statement) { return NamedIn(tree_, statement).contains(buffer); };
    std::size_t count = statements.size();
    while (!names_it(statements[count - 1])) --count;
    std::vector<int> uses;
    bool adds = false;
    for (const int statement : statements.first(count)) {
      if (!IsInvariant(tree_, tree_.node(element).children.back(), statement) || !IsPlain(statement)) return;
      for (const int use : tree_.UsesOf(buffer)) {
        if (!IsWithin(tree_, use, statement)) continue;
        const int named = tree_.node(use).parent;
        if (tree_.Text(named) != tree_.Text(element)) return;
        // What the first statement reads is the element from before it.
        if (statement == statements.front()) continue;
        uses.push_back(named);
        adds = adds || (tree_.node(statement).kind_name == "ForStmt" && IsStore(tree_, tree_.node(named).parent));
      }
    }
    // What is replaced already is for another round.
    const auto in_other = [&](int use) {
      return std::any_of(replaced_.begin(), replaced_.end(), [&](const auto& one) { return IsWithin(tree_, use, one.first); });
    };
    const int last = statements[count - 1];
    if (!adds || in_other(element) || std::any_of(uses.begin(), uses.end(), in_other) || in_other(last)) return;
    names_.push_back(NewName());
    const std::string& name = names_.back();
    for (const int use : uses) replaced_.emplace_back(use, name);
    const std::string declared = fmt::format("{} {}", tree_.node(element).type, name);
    const int first = statements.front();
    if (tree_.Operator(first) == "=") {
      replaced_.emplace_back(element, declared);
    } else {
      const std::string_view by = tree_.Operator(first);
      const std::string value = Taken(tree_.node(first).children.back());
      replaced_.emplace_back(
          first, fmt::format("{} = {} {} {};", declared, tree_.Text(element), by.substr(0, by.size() - 1), Parenthesised(value)));
    }
    const std::string text = Taken(last);
    replaced_.emplace_back(last, fmt::format("{}\n{}{} = {};", text, IndentOf(tree_, last), tree_.Text(element), name));
  }

  // The text of a node with what is replaced in it, which is no longer replaced by itself.
  std::string Taken(int node) {
    Replacements within;
    for (const auto& one : replaced_) {
      if (IsWithin(tree_, one.first, node)) within.push_back(one);
    }
    std::erase_if(replaced_, [&](const auto& one) { return IsWithin(tree_, one.first, node); });
    return TextWith(tree_, node, within);
  }

  // Whether a statement goes on to the next, and other threads see nothing of what it does in between.
  bool IsPlain(int statement) const {
    for (const int node : Subtree(tree_, statement)) {
      const SyntaxNode& at = tree_.node(node);
      const bool calls = at.kind_name == "CallExpr" && !at.name.starts_with("operator") && !CallsPure(tree_, node);
      if (at.opaque || calls || at.kind_name == "ReturnStmt" || at.kind_name == "GotoStmt" || at.kind_name == "LambdaExpr")
        return false;
    }
    return tree_.node(statement).kind_name != "BreakStmt" && tree_.node(statement).kind_name != "ContinueStmt" &&
           !Jumps(statement);
  }

  // Whether it may end a loop around it.
  bool Jumps(int statement) const {
    for (const int node : Subtree(tree_, statement)) {
      const std::string& kind = tree_.node(node).kind_name;
      if (kind != "BreakStmt" && kind != "ContinueStmt") continue;
      bool inside = false;
      for (int at = tree_.node(node).parent; !inside && at != tree_.node(statement).parent; at = tree_.node(at).parent)
        inside = tree_.node(at).kind_name == "ForStmt" || tree_.node(at).kind_name == "WhileStmt";
      if (!inside) return true;
    }
    return false;
  }

  // Whether a parameter is no pointer that another variable gets, nor one that moves.
  bool IsOnlyIndexed(int buffer) const {
    const auto& uses = tree_.UsesOf(buffer);
    return std::all_of(uses.begin(), uses.end(), [&](int use) {
      const SyntaxNode& outer = tree_.node(tree_.node(use).parent);
      return tree_.node(use).kind_name == "DeclRefExpr" && outer.kind_name == "ArraySubscriptExpr" &&
             outer.children.front() == use;
    });
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  Replacements replaced_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<std::string> WithRegisterSums(const MutationContext& context) { return ElementSums(context).Run(); }

}  // namespace evo
