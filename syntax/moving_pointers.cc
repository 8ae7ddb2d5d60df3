#include "syntax/moving_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

bool IsLoopKind(const std::string& kind) {
  return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt" || kind == "CXXForRangeStmt";
}

// A loop that counts turns from a number on.
struct CountingLoop {
  int statement = -1;
  int counter = -1;
  int increment = -1;
  int body = -1;
  long long first = 0;
};

// How a turn moves a pointer.
struct PointerMove {
  int use = -1;        // the pointer's name in it
  int node = -1;       // `p++` or `p += n`
  int statement = -1;  // directly in the body; -1 in the loop's head
  std::string step;
};

// What a source does with its variables.
class VariableUses {
 protected:
  explicit VariableUses(const SyntaxTree& tree) : tree_(tree) {}

  bool IsPointer(int declaration) const {
    const std::string& type = tree_.node(declaration).type;
    return type.ends_with('*') && std::count(type.begin(), type.end(), '*') == 1;
  }

  bool IsWithin(int node, int outer) const { return node >= outer && node < tree_.EndOf(outer); }

  int Declared(int node) const {
    while (tree_.node(node).kind_name == "ParenExpr" && tree_.node(node).children.size() == 1)
      node = tree_.node(node).children[0];
    return tree_.node(node).kind_name == "DeclRefExpr" ? tree_.node(node).refers_to : -1;
  }

  // Whether a use may change a variable behind this rewriter's back: by its address, by reference, in a macro or a lambda.
  bool IsLent(int use) const {
    const SyntaxNode& name = tree_.node(use);
    if (name.kind_name != "DeclRefExpr") return true;
    const SyntaxNode& outer = tree_.node(name.parent);
    if (tree_.Operator(name.parent) == "&" && outer.kind_name == "UnaryOperator") return true;
    if (outer.kind_name == "CallExpr" && !name.converted) return true;
    if (outer.kind_name == "VarDecl" && outer.type.find('&') != std::string::npos) return true;
    for (int at = name.parent; at > 0; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "LambdaExpr") return true;
    }
    return false;
  }

  bool IsAnyLent(int declaration) const {
    const auto& uses = tree_.UsesOf(declaration);
    return std::any_of(uses.begin(), uses.end(), [&](int use) { return IsLent(use); });
  }

  // Whether a use only reads the variable.
  bool IsRead(int use) const { return tree_.node(use).kind_name == "DeclRefExpr" && tree_.node(use).converted && !IsLent(use); }

  bool IsNewName(std::string_view name) const {
    const auto& text = tree_.text();
    for (const SourceRange& range : Tokenize(text)) {
      if (std::string_view(text).substr(range.begin, range.size()) == name) return false;
    }
    return true;
  }

  const SyntaxTree& tree_;
};

class PointerRewriter : private VariableUses {
 public:
  explicit PointerRewriter(const SyntaxTree& tree) : VariableUses(tree) {
    for (const SyntaxNode& node : tree.nodes()) {
      if (node.kind_name == "GotoStmt") jumping_.insert(node.function);
    }
  }

  // One pointer at a time.
  std::optional<std::string> Run() const {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& at = tree_.node(node);
      if (at.function < 0 || jumping_.contains(at.function)) continue;
      std::optional<std::string> text;
      if (at.kind_name == "VarDecl" && IsPointer(node)) text = Renamed(node);
      if (at.kind_name == "ForStmt") text = WithSteadyPointer(node);
      if (text) return text;
    }
    return std::nullopt;
  }

 private:
  // A name of its own from an assignment in the variable's own block on.
  std::optional<std::string> Renamed(int variable) const {
    const int statement = tree_.node(variable).parent;
    if (tree_.node(statement).kind_name != "DeclStmt" || IsAnyLent(variable)) return std::nullopt;
    const int block = tree_.node(statement).parent;
    if (tree_.node(block).kind_name != "CompoundStmt" || tree_.node(tree_.node(block).parent).kind_name == "SwitchStmt")
      return std::nullopt;
    for (const int use : tree_.UsesOf(variable)) {
      const int assignment = tree_.node(use).parent;
      const bool assigns = tree_.node(assignment).kind_name == "BinaryOperator" && tree_.Operator(assignment) == "=" &&
                           tree_.node(assignment).children.front() == use && tree_.node(assignment).parent == block;
      if (!assigns) continue;
      std::string name;
      for (int number = 2; name.empty() || !IsNewName(name); ++number)
        name = fmt::format("{}_{}", tree_.node(variable).name, number);
      Splices splices{{tree_.node(use).range, fmt::format("{} {}", tree_.node(variable).type, name)}};
      for (const int other : tree_.UsesOf(variable)) {
        if (other >= tree_.EndOf(assignment)) splices.emplace_back(tree_.node(other).range, name);
      }
      return Spliced(tree_, std::move(splices));
    }
    return std::nullopt;
  }

  // The parts of `i++, p++`.
  void AddParts(int expression, std::vector<int>& parts) const {
    if (tree_.Operator(expression) != ",") return parts.push_back(expression);
    for (const int side : tree_.node(expression).children) AddParts(side, parts);
  }

  bool CountsUp(int expression, int counter) const {
    return tree_.node(expression).kind_name == "UnaryOperator" && tree_.Operator(expression) == "++" &&
           Declared(tree_.node(expression).children.front()) == counter;
  }

  std::optional<CountingLoop> Counting(int node) const {
    const auto& parts = tree_.node(node).children;
    if (parts.size() != 4 || tree_.node(parts[0]).kind_name != "DeclStmt" || tree_.node(parts[0]).children.size() != 1)
      return std::nullopt;
    CountingLoop loop{node, tree_.node(parts[0]).children.front(), parts[2], parts[3], 0};
    const SyntaxNode& counter = tree_.node(loop.counter);
    const bool integer = counter.type.find("int") != std::string::npos || counter.type.find("long") != std::string::npos;
    if (!integer || counter.type.find_first_of("*&") != std::string::npos || counter.children.empty()) return std::nullopt;
    const std::string_view first = tree_.Text(counter.children.back());
    if (first.empty() || first.size() > 4 || first.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    loop.first = std::stoll(std::string(first));
    std::vector<int> increments;
    AddParts(loop.increment, increments);
    int counts = 0;
    for (const int part : increments) counts += CountsUp(part, loop.counter) ? 1 : 0;
    if (counts != 1) return std::nullopt;
    for (const int use : tree_.UsesOf(loop.counter)) {
      if (!IsWithin(use, loop.increment) && !IsRead(use)) return std::nullopt;
    }
    for (int at = node; at < tree_.EndOf(node); ++at) {
      const SyntaxNode& one = tree_.node(at);
      if (one.opaque || one.kind_name == "ContinueStmt" || one.kind_name == "GotoStmt" || one.kind_name == "LabelStmt" ||
          one.kind_name == "SwitchStmt")
        return std::nullopt;
    }
    return loop;
  }

  // Whether the value of an expression is the same in all turns, as a product or sum of numbers that the loop does not change.
  bool IsSteady(int expression, int loop) const {
    for (int at = expression; at < tree_.EndOf(expression); ++at) {
      const SyntaxNode& one = tree_.node(at);
      const std::string_view spelled = tree_.Operator(at);
      const bool computes = one.kind_name == "BinaryOperator" && (spelled == "*" || spelled == "+" || spelled == "-");
      const bool plain = one.kind_name == "IntegerLiteral" || one.kind_name == "ParenExpr";
      if (computes || plain) continue;
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0) return false;
      const SyntaxNode& variable = tree_.node(one.refers_to);
      const bool integer = variable.type.find("int") != std::string::npos || variable.type.find("long") != std::string::npos;
      if (!integer || variable.type.find_first_of("*&[") != std::string::npos || variable.function < 0 ||
          IsWithin(one.refers_to, loop))
        return false;
      for (const int use : tree_.UsesOf(one.refers_to)) {
        if (IsLent(use) || (IsWithin(use, loop) && !IsRead(use))) return false;
      }
    }
    return true;
  }

  // Whether a node is evaluated once each time its statement is.
  bool IsOnTheWay(int node, int statement) const {
    for (int at = node; at != statement; at = tree_.node(at).parent) {
      const SyntaxNode& outer = tree_.node(tree_.node(at).parent);
      const std::string_view spelled = tree_.Operator(tree_.node(at).parent);
      const std::string& kind = outer.kind_name;
      const bool straight = kind == "BinaryOperator" || kind == "CompoundAssignOperator" || kind == "UnaryOperator" ||
                            kind == "ParenExpr" || kind == "VarDecl" || kind == "DeclStmt" || kind == "CallExpr" ||
                            kind == "ArraySubscriptExpr" || kind.ends_with("CastExpr");
      if (!straight || spelled == "&&" || spelled == "||" || spelled == ",") return false;
    }
    return true;
  }

  std::optional<PointerMove> MoveAt(int use, const CountingLoop& loop) const {
    PointerMove move{use, tree_.node(use).parent, -1, "1"};
    const SyntaxNode& node = tree_.node(move.node);
    const std::string_view spelled = tree_.Operator(move.node);
    if (spelled == "+=" && node.children.front() == use) {
      if (!IsSteady(node.children.back(), loop.statement)) return std::nullopt;
      move.step = tree_.Text(node.children.back());
    } else if (spelled != "++" || node.kind_name != "UnaryOperator") {
      return std::nullopt;
    }
    if (IsWithin(move.node, loop.increment)) {
      std::vector<int> parts;
      AddParts(loop.increment, parts);
      return std::find(parts.begin(), parts.end(), move.node) == parts.end() ? std::nullopt : std::optional(move);
    }
    const bool braces = tree_.node(loop.body).kind_name == "CompoundStmt";
    move.statement = move.node;
    const int around = braces ? loop.body : loop.statement;
    while (move.statement > 0 && tree_.node(move.statement).parent != around) move.statement = tree_.node(move.statement).parent;
    if (move.statement <= 0) return std::nullopt;
    if (move.statement == move.node) return braces ? std::optional(move) : std::nullopt;
    // Within an expression only `p++`, which has the value from before.
    const bool postfix = spelled == "++" && node.range.begin == tree_.node(use).range.begin;
    return postfix && IsOnTheWay(move.node, move.statement) ? std::optional(move) : std::nullopt;
  }

  // Whether nothing reads a pointer behind a loop, nor in another run of it.
  bool EndsWith(int pointer, int loop) const {
    for (const int use : tree_.UsesOf(pointer)) {
      if (use >= tree_.EndOf(loop)) return false;
    }
    const SyntaxNode& variable = tree_.node(pointer);
    const int scope = variable.kind_name == "ParmDecl" ? variable.parent : tree_.node(variable.parent).parent;
    for (int at = tree_.node(loop).parent; at > 0 && at != scope; at = tree_.node(at).parent) {
      if (IsLoopKind(tree_.node(at).kind_name)) return false;
    }
    return true;
  }

  std::optional<std::string> WithSteadyPointer(int node) const {
    const auto loop = Counting(node);
    if (!loop) return std::nullopt;
    std::vector<int> seen;
    for (int at = loop->increment; at < tree_.EndOf(node); ++at) {
      const int pointer = tree_.node(at).kind_name == "DeclRefExpr" ? tree_.node(at).refers_to : -1;
      if (pointer < 0 || std::find(seen.begin(), seen.end(), pointer) != seen.end()) continue;
      seen.push_back(pointer);
      const SyntaxNode& variable = tree_.node(pointer);
      const bool own = variable.function >= 0 && (variable.kind_name == "VarDecl" || variable.kind_name == "ParmDecl");
      if (!own || !IsPointer(pointer) || IsWithin(pointer, node) || IsAnyLent(pointer) || !EndsWith(pointer, node)) continue;
      if (auto text = WithSteady(pointer, *loop)) return text;
    }
    return std::nullopt;
  }

  std::optional<std::string> WithSteady(int pointer, const CountingLoop& loop) const {
    std::optional<PointerMove> move;
    for (const int use : tree_.UsesOf(pointer)) {
      if (!IsWithin(use, loop.statement) || IsRead(use)) continue;
      if (move) return std::nullopt;
      move = MoveAt(use, loop);
      if (!move) return std::nullopt;
    }
    if (!move) return std::nullopt;
    const std::string& name = tree_.node(pointer).name;
    Splices splices;
    for (const int use : tree_.UsesOf(pointer)) {
      if (!IsWithin(use, loop.statement) || use == move->use) continue;
      const bool apart = move->statement < 0 || !IsWithin(use, move->statement);
      if (!apart || IsWithin(use, loop.increment)) return std::nullopt;
      const bool behind = move->statement >= 0 && use >= tree_.EndOf(move->statement);
      AddUse(use, name, OffsetOf(loop, *move, behind), splices);
    }
    AddMove(loop, *move, name, splices);
    return Spliced(tree_, std::move(splices));
  }

  std::string OffsetOf(const CountingLoop& loop, const PointerMove& move, bool behind) const {
    const long long more = (behind ? 1 : 0) - loop.first;
    std::string turns = tree_.node(loop.counter).name;
    if (more != 0) turns += fmt::format(" {} {}", more > 0 ? "+" : "-", more > 0 ? more : -more);
    if (move.step == "1") return turns;
    const bool name = move.step.find_first_of(" *+-(") == std::string::npos;
    // The pointer would not have overflowed where an int does.
    return fmt::format("(long long){} * {}", more == 0 ? turns : "(" + turns + ")", name ? move.step : "(" + move.step + ")");
  }

  void AddUse(int use, const std::string& name, const std::string& offset, Splices& splices) const {
    const int outer = tree_.node(use).parent;
    const SyntaxNode& node = tree_.node(outer);
    if (node.kind_name == "UnaryOperator" && tree_.Operator(outer) == "*") {
      splices.emplace_back(node.range, fmt::format("{}[{}]", name, offset));
    } else if (node.kind_name == "ArraySubscriptExpr" && node.children.front() == use) {
      const SourceRange& index = tree_.node(node.children.back()).range;
      splices.emplace_back(SourceRange{index.begin, index.begin}, offset + " + (");
      splices.emplace_back(SourceRange{index.end, index.end}, ")");
    } else {
      splices.emplace_back(tree_.node(use).range, fmt::format("({} + {})", name, offset));
    }
  }

  void AddMove(const CountingLoop& loop, const PointerMove& move, const std::string& name, Splices& splices) const {
    if (move.statement == move.node) {
      splices.emplace_back(tree_.node(move.node).range, "");
      return;
    }
    if (move.statement >= 0) {
      const int outer = tree_.node(move.node).parent;
      const std::string offset = OffsetOf(loop, move, false);
      if (tree_.node(outer).kind_name == "UnaryOperator" && tree_.Operator(outer) == "*")
        splices.emplace_back(tree_.node(outer).range, fmt::format("{}[{}]", name, offset));
      else
        splices.emplace_back(tree_.node(move.node).range, fmt::format("({} + {})", name, offset));
      return;
    }
    std::vector<int> parts;
    AddParts(loop.increment, parts);
    std::string rest;
    for (const int part : parts) {
      if (part != move.node) rest += (rest.empty() ? "" : ", ") + std::string(tree_.Text(part));
    }
    splices.emplace_back(tree_.node(loop.increment).range, rest);
  }

  std::set<int> jumping_;  // functions with `goto`
};

}  // namespace

std::optional<std::string> WithoutMovingPointers(const SyntaxTree& tree) { return PointerRewriter(tree).Run(); }

}  // namespace evo
