#include "mutators/analysis/register_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/analysis/memory_traffic.h"

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

  // The element that a statement `p[i] = x;` stores to; -1 for others.
  int StoredElement(int statement) const {
    if (tree_.node(statement).kind_name != "BinaryOperator" || tree_.Operator(statement) != "=") return -1;
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

  // Elements that a loop adds to and that were there before it: variables begin with them, if the loop has a turn at all.
  void KeepDuring(int loop) {
    const auto counted = AsCountedLoop(tree_, loop);
    if (!counted || counted->parts.pragma >= 0 || !IsPlain(loop)) return;
    const bool touched = std::any_of(replaced_.begin(), replaced_.end(), [&](const auto& one) {
      return IsWithin(tree_, one.first, loop) || IsWithin(tree_, loop, one.first);
    });
    if (touched) return;
    std::vector<int> elements;
    for (const int node : Subtree(tree_, counted->parts.body)) {
      if (!IsStore(tree_, node)) continue;
      const int target = Assigned(tree_, node);
      if (tree_.Operator(node) != "+=" || BufferOf(target) < 0 || !IsArithmetic(tree_.node(target).type)) return;
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
      for (const int use : tree_.UsesOf(BufferOf(element))) {
        if (!IsWithin(tree_, use, loop)) continue;
        const int named = tree_.node(use).parent;
        if (tree_.Text(named) != tree_.Text(element)) return;
        uses.emplace_back(named, name);
      }
      before += fmt::format("{} {} = {} ? {} : 0;\n{}", tree_.node(element).type, name, has_turns, tree_.Text(element), indent);
      after += fmt::format("\n{}if ({}) {} = {};", indent, has_turns, tree_.Text(element), name);
    }
    if (!elements.empty()) replaced_.emplace_back(loop, before + TextWith(tree_, loop, uses) + after);
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
        uses.push_back(named);
        const bool stores = tree_.node(named).parent != statements.front() && IsStore(tree_, tree_.node(named).parent);
        adds = adds || (tree_.node(statement).kind_name == "ForStmt" && stores);
      }
    }
    // What is replaced as a whole already is for another round.
    const auto in_other = [&](int use) {
      return std::any_of(wholes_.begin(), wholes_.end(), [&](int whole) { return IsWithin(tree_, use, whole); });
    };
    if (!adds || std::any_of(uses.begin(), uses.end(), in_other) || in_other(statements[count - 1])) return;
    names_.push_back(NewName());
    const std::string& name = names_.back();
    for (const int use : uses) replaced_.emplace_back(use, use == element ? tree_.node(element).type + " " + name : name);
    const int last = statements[count - 1];
    Replacements in_last;
    for (const auto& [use, text] : replaced_) {
      if (IsWithin(tree_, use, last)) in_last.emplace_back(use, text);
    }
    const std::string text = TextWith(tree_, last, in_last);
    std::erase_if(replaced_, [&](const auto& one) { return IsWithin(tree_, one.first, last); });
    wholes_.push_back(last);
    replaced_.emplace_back(last, fmt::format("{}\n{}{} = {};", text, IndentOf(tree_, last), tree_.Text(element), name));
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
  std::vector<int> wholes_;  // statements that are replaced with all that is in them
  std::vector<std::string> names_;
};

}  // namespace

std::optional<std::string> WithRegisterSums(const MutationContext& context) { return ElementSums(context).Run(); }

}  // namespace evo
