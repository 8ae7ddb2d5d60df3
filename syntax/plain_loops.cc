#include "syntax/plain_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// What numbers are computed of.
constexpr std::array kPartsOfNumbers{"DeclRefExpr"sv,    "MemberRefExpr"sv,     "IntegerLiteral"sv,
                                     "BinaryOperator"sv, "UnaryOperator"sv,     "ParenExpr"sv,
                                     "CStyleCastExpr"sv, "CXXStaticCastExpr"sv, "CXXFunctionalCastExpr"sv};

class LoopRewriter {
 public:
  explicit LoopRewriter(const SyntaxTree& tree) : tree_(tree) {}

  // One loop at a time, since the text of an outer one contains the inner ones.
  std::optional<std::string> Run() const {
    if (auto text = WithDeclaredCounters()) return text;
    if (auto text = WithOneDeclarationEach()) return text;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& loop = tree_.node(node);
      if (loop.function < 0) continue;
      if (loop.kind_name == "ForStmt") {
        if (const int condition = UnequalCondition(node); condition >= 0) return WithLess(condition);
      } else if (loop.kind_name == "WhileStmt") {
        if (auto text = WithFor(node)) return text;
      }
    }
    return std::nullopt;
  }

 private:
  int Declared(int node) const {
    while (tree_.node(node).kind_name == "ParenExpr" && tree_.node(node).children.size() == 1)
      node = tree_.node(node).children[0];
    return tree_.node(node).kind_name == "DeclRefExpr" ? tree_.node(node).refers_to : -1;
  }

  bool IsWithin(int node, int outer) const { return node >= outer && node < tree_.EndOf(outer); }

  static bool IsInteger(const std::string& type) {
    return type == "int" || type == "unsigned int" || type == "long" || type == "unsigned long" || type == "long long" ||
           type == "unsigned long long";
  }

  // Whether a variable or a parameter is only read, but in these nodes.
  bool IsOnlyRead(int declaration, int but = -1) const {
    const auto& uses = tree_.UsesOf(declaration);
    return std::all_of(uses.begin(), uses.end(), [&](int use) {
      return (but >= 0 && IsWithin(use, but)) || (tree_.node(use).kind_name == "DeclRefExpr" && tree_.node(use).converted);
    });
  }

  // The variable that a loop begins by assigning, `for (i = 0; ..)`; -1 if it begins otherwise.
  int AssignedFirst(int loop) const {
    const auto& parts = tree_.node(loop).children;
    if (tree_.node(loop).kind_name != "ForStmt" || parts.size() != 4) return -1;
    const bool assigns = tree_.node(parts[0]).kind_name == "BinaryOperator" && tree_.Operator(parts[0]) == "=";
    const int variable = assigns ? Declared(tree_.node(parts[0]).children.front()) : -1;
    return variable >= 0 && tree_.node(variable).kind_name == "VarDecl" ? variable : -1;
  }

  // Whether a variable has no value that one loop leaves to another, nor one from before.
  bool IsOfLoopsOnly(int variable) const {
    const auto& uses = tree_.UsesOf(variable);
    return std::all_of(uses.begin(), uses.end(), [&](int use) {
      if (tree_.node(use).kind_name != "DeclRefExpr") return false;
      const int outer = tree_.node(use).parent;
      const bool lent = tree_.Operator(outer) == "&" ||
                        (tree_.node(outer).kind_name == "CallExpr" && !tree_.node(use).converted) ||
                        (tree_.node(outer).kind_name == "VarDecl" && tree_.node(outer).type.find('&') != std::string::npos);
      if (lent) return false;
      // Of one loop: one around it would see what an inner one leaves.
      int loops = 0;
      for (int at = outer; at > 0; at = tree_.node(at).parent) {
        if (tree_.node(at).kind_name == "LambdaExpr") return false;
        if (AssignedFirst(at) != variable) continue;
        const int first = tree_.node(at).children.front();
        if (IsWithin(use, first) && use != tree_.node(first).children.front()) return false;
        ++loops;
      }
      return loops == 1;
    });
  }

  // `int i; for (i = 0; ..)`, as C before 1999 had it: the loop declares the counter.
  std::optional<std::string> WithDeclaredCounters() const {
    Splices splices;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const int counter = tree_.node(node).function < 0 ? -1 : AssignedFirst(node);
      if (counter < 0 || tree_.node(counter).function < 0 || !IsInteger(tree_.node(counter).type) || !IsOfLoopsOnly(counter))
        continue;
      const std::uint32_t begin = tree_.node(tree_.node(node).children.front()).range.begin;
      splices.emplace_back(SourceRange{begin, begin}, tree_.node(counter).type + " ");
    }
    return Spliced(tree_, std::move(splices));
  }

  // `int i, row = blockIdx.x * blockDim.x + threadIdx.x;` as two statements.
  std::optional<std::string> WithOneDeclarationEach() const {
    Splices splices;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& statement = tree_.node(node);
      if (statement.kind_name != "DeclStmt" || statement.children.size() < 2 || statement.function < 0) continue;
      const std::string_view text = tree_.Text(node);
      if (text.find("blockIdx") == std::string_view::npos || tree_.node(statement.parent).kind_name != "CompoundStmt") continue;
      std::string apart;
      for (const int variable : statement.children) {
        const SyntaxNode& one = tree_.node(variable);
        const std::string bare = one.type.starts_with("const ") ? one.type.substr(6) : one.type;
        if (one.kind_name != "VarDecl" || !IsInteger(bare)) return std::nullopt;
        const int last = one.children.empty() ? -1 : one.children.back();
        const bool begins = last >= 0 && !tree_.node(last).kind_name.ends_with("Ref");
        apart += fmt::format("{}{} {}", apart.empty() ? "" : "; ", one.type, one.name);
        if (begins) apart += fmt::format(" = {}", tree_.Text(last));
      }
      splices.emplace_back(statement.range, apart + ";");
    }
    return Spliced(tree_, std::move(splices));
  }

  // Whether a statement is `i++` or `++i`.
  bool CountsUp(int statement, int counter) const {
    const SyntaxNode& node = tree_.node(statement);
    return node.kind_name == "UnaryOperator" && tree_.Operator(statement) == "++" && Declared(node.children.front()) == counter;
  }

  // `i != n` of a loop over i from 0 on, by steps of 1; -1 for other loops.
  int UnequalCondition(int loop) const {
    const auto& parts = tree_.node(loop).children;
    if (parts.size() != 4 || tree_.node(parts[0]).kind_name != "DeclStmt" || tree_.node(parts[0]).children.size() != 1) return -1;
    const int counter = tree_.node(parts[0]).children.front();
    const SyntaxNode& variable = tree_.node(counter);
    if (!IsInteger(variable.type) || variable.children.empty() || tree_.Text(variable.children.back()) != "0") return -1;
    const auto& sides = tree_.node(parts[1]).children;
    if (tree_.Operator(parts[1]) != "!=" || sides.size() != 2 || Declared(sides[0]) != counter) return -1;
    const int bound = Declared(sides[1]);
    if (bound < 0 || tree_.node(bound).type.find_first_of("*&[") != std::string::npos || !IsOnlyRead(bound)) return -1;
    return CountsUp(parts[2], counter) && IsOnlyRead(counter, parts[2]) ? parts[1] : -1;
  }

  std::string WithLess(int condition) const {
    const auto& sides = tree_.node(condition).children;
    const SourceRange& range = tree_.node(condition).range;
    std::string text = tree_.text();
    return text.replace(range.begin, range.size(), fmt::format("{} < {}", tree_.Text(sides[0]), tree_.Text(sides[1])));
  }

  // Whether an expression has the same value wherever it stands in a function: no call, no element, and of variables only those
  // that never change.
  bool IsSameEverywhere(int expression) const {
    for (int node = expression; node < tree_.EndOf(expression); ++node) {
      const SyntaxNode& part = tree_.node(node);
      if (part.opaque || std::find(kPartsOfNumbers.begin(), kPartsOfNumbers.end(), part.kind_name) == kPartsOfNumbers.end())
        return false;
      const std::string_view spelled = tree_.Operator(node);
      if (spelled == "++" || spelled == "--" || spelled == "*=" || spelled == "&") return false;
      if (part.kind_name == "BinaryOperator" && spelled == "=") return false;
      if (part.kind_name == "UnaryOperator" && spelled == "*") return false;
      if (part.kind_name == "DeclRefExpr" && part.refers_to >= 0 && !IsOnlyRead(part.refers_to)) return false;
    }
    return true;
  }

  // Whether statements declare anew what an expression names.
  bool IsHidden(int expression, std::vector<int>::const_iterator from, std::vector<int>::const_iterator to) const {
    return std::any_of(from, to, [&](int statement) {
      const auto& declared = tree_.node(statement).children;
      return tree_.node(statement).kind_name == "DeclStmt" && std::any_of(declared.begin(), declared.end(), [&](int one) {
               for (int node = expression; node < tree_.EndOf(expression); ++node) {
                 if (tree_.node(node).name == tree_.node(one).name) return true;
               }
               return false;
             });
    });
  }

  // `i++`, or what a statement `i += n` adds to a counter in each turn of a loop; empty for others.
  std::string StepOf(int statement, int counter, int loop) const {
    const std::string& name = tree_.node(counter).name;
    if (CountsUp(statement, counter)) return name + "++";
    const auto& sides = tree_.node(statement).children;
    if (tree_.Operator(statement) != "+=" || sides.size() != 2 || Declared(sides[0]) != counter) return "";
    for (int node = sides[1]; node < tree_.EndOf(sides[1]); ++node) {
      const int named = tree_.node(node).refers_to;
      if (named == counter || (named >= 0 && IsWithin(named, loop)) || tree_.node(node).kind_name == "LambdaExpr") return "";
    }
    return fmt::format("{} += {}", name, tree_.Text(sides[1]));
  }

  // `int i = 0;` before `while (i < n) { ..; i++; }` or `while (i < n) { ..; i += step; }`.
  std::optional<std::string> WithFor(int loop) const {
    const auto& parts = tree_.node(loop).children;
    if (parts.size() != 2 || tree_.node(parts[1]).kind_name != "CompoundStmt") return std::nullopt;
    const auto& sides = tree_.node(parts[0]).children;
    const std::string_view spelled = tree_.Operator(parts[0]);
    const auto& statements = tree_.node(parts[1]).children;
    if ((spelled != "<" && spelled != "<=") || sides.size() != 2 || statements.empty()) return std::nullopt;
    const int counter = Declared(sides[0]);
    if (counter < 0 || tree_.node(counter).kind_name != "VarDecl" || !IsInteger(tree_.node(counter).type)) return std::nullopt;
    const SyntaxNode& variable = tree_.node(counter);
    const int declared = variable.parent;
    if (variable.children.empty() || tree_.node(declared).kind_name != "DeclStmt" || tree_.node(declared).children.size() != 1)
      return std::nullopt;
    const auto& siblings = tree_.node(tree_.node(loop).parent).children;
    const auto place = std::find(siblings.begin(), siblings.end(), loop), before = std::find(siblings.begin(), place, declared);
    if (before == place) return std::nullopt;
    if (before + 1 != place && (!IsSameEverywhere(variable.children.back()) || IsHidden(variable.children.back(), before, place)))
      return std::nullopt;
    const std::string step = StepOf(statements.back(), counter, loop);
    if (step.empty() || !IsOnlyRead(counter, statements.back())) return std::nullopt;
    for (const int use : tree_.UsesOf(counter)) {
      if (!IsWithin(use, loop)) return std::nullopt;
    }
    for (int node = parts[1]; node < tree_.EndOf(parts[1]); ++node) {
      if (tree_.node(node).kind_name == "ContinueStmt" || tree_.node(node).opaque) return std::nullopt;
    }
    const SourceRange &from = tree_.node(declared).range, &body = tree_.node(parts[1]).range,
                      &last = tree_.node(statements.back()).range;
    const std::string head = fmt::format("for ({} {} = {}; {}; {}) ", variable.type, variable.name,
                                         tree_.Text(variable.children.back()), tree_.Text(parts[0]), step);
    const SourceRange between{from.end, tree_.node(loop).range.begin};
    const std::string kept = before + 1 == place ? "" : std::string(tree_.Text(between)),
                      inner(tree_.Text({body.begin, last.begin}));
    std::string text = tree_.text();
    return text.replace(from.begin, tree_.node(loop).range.end - from.begin, kept + head + inner + "}");
  }

  const SyntaxTree& tree_;
};

}  // namespace

std::optional<std::string> WithPlainLoops(const SyntaxTree& tree) { return LoopRewriter(tree).Run(); }

}  // namespace evo
