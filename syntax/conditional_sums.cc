#include "syntax/conditional_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

// How far variables are followed to what they begin with.
constexpr int kDeepest = 4;

class SumRewriter {
 public:
  explicit SumRewriter(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    std::string text = tree_.text();
    bool any = false;
    for (int node = static_cast<int>(tree_.nodes().size()) - 1; node > 0; --node) {
      if (tree_.node(node).kind_name != "IfStmt" || tree_.node(node).function < 0) continue;
      const auto written = Written(node);
      if (!written) continue;
      const SourceRange& range = tree_.node(node).range;
      text.replace(range.begin, range.size(), *written);
      any = true;
    }
    return any ? std::optional(text) : std::nullopt;
  }

 private:
  int WithoutParentheses(int node) const {
    while (tree_.node(node).kind_name == "ParenExpr" && tree_.node(node).children.size() == 1)
      node = tree_.node(node).children[0];
    return node;
  }

  int Declared(int node) const {
    node = WithoutParentheses(node);
    return tree_.node(node).kind_name == "DeclRefExpr" ? tree_.node(node).refers_to : -1;
  }

  bool IsSharedName(int node) const {
    for (int at = node; at < tree_.EndOf(node); ++at) {
      const int declared = tree_.node(at).kind_name == "DeclRefExpr" ? tree_.node(at).refers_to : -1;
      if (declared < 0) continue;
      const auto& children = tree_.node(declared).children;
      if (std::any_of(children.begin(), children.end(), [&](int c) { return tree_.node(c).kind_name == "attribute(shared)"; }))
        return true;
    }
    return false;
  }

  // Whether an expression depends on an element of global memory.
  bool Loads(int expression, int deep = 0) const {
    for (int at = expression; at < tree_.EndOf(expression); ++at) {
      const SyntaxNode& one = tree_.node(at);
      const bool memory =
          one.kind_name == "ArraySubscriptExpr" || (one.kind_name == "UnaryOperator" && tree_.Operator(at) == "*");
      if (memory && !IsSharedName(one.children.front())) return true;
      if (one.kind_name == "CallExpr" && one.name.starts_with("__ld")) return true;
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0 || deep >= kDeepest) continue;
      const SyntaxNode& variable = tree_.node(one.refers_to);
      const bool local = variable.kind_name == "VarDecl" && variable.function >= 0 && !variable.children.empty();
      if (local && variable.type.find_first_of("*[") == std::string::npos && Loads(variable.children.back(), deep + 1))
        return true;
    }
    return false;
  }

  int OnlyStatement(int body) const {
    if (tree_.node(body).kind_name != "CompoundStmt") return body;
    return tree_.node(body).children.size() == 1 ? tree_.node(body).children.front() : -1;
  }

  bool IsZero(int node) const {
    const std::string_view text = tree_.Text(node);
    return text == "0" || text == "0u" || text == "0.0f" || text == "0.f" || text == "0.0" || text == "false";
  }

  // Whether a variable is zero until this statement, the only one that writes it.
  bool IsWrittenHereOnly(int variable, int name) const {
    const SyntaxNode& declared = tree_.node(variable);
    if (declared.kind_name != "VarDecl" || declared.children.empty() || !IsZero(declared.children.back())) return false;
    for (const int use : tree_.UsesOf(variable)) {
      const std::string_view spelled = tree_.Operator(tree_.node(use).parent);
      const bool compares = spelled == "==" || spelled == "<=" || spelled == ">=" || spelled == "!=";
      const bool changes = spelled == "++" || spelled == "--" || spelled == "&" || (spelled.ends_with('=') && !compares);
      const bool first = tree_.node(tree_.node(use).parent).children.front() == use;
      if (use != name && (!tree_.node(use).converted || (changes && first))) return false;
    }
    // In a loop, it may be there more than once.
    for (int at = tree_.node(name).parent; at > tree_.node(declared.parent).parent; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return false;
    }
    return true;
  }

  std::optional<std::string> Written(int branch) const {
    const auto& parts = tree_.node(branch).children;
    if (parts.size() != 2) return std::nullopt;
    const int statement = OnlyStatement(parts[1]);
    if (statement < 0 || !Loads(parts[0]) || !OnlyComputes(tree_, parts[0])) return std::nullopt;
    const auto& sides = tree_.node(statement).children;
    const std::string_view spelled = tree_.Operator(statement);
    if (sides.empty()) return std::nullopt;
    if (IsAtomic(statement))
      return Guarded(parts[0], fmt::format("{}({}, ", tree_.node(statement).name, tree_.Text(sides[1])), tree_.Text(sides[2]),
                     ")");
    const int variable = Declared(sides[0]);
    const bool local = variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !IsSharedName(sides[0]) &&
                       tree_.node(variable).type.find_first_of("*&[") == std::string::npos && tree_.node(variable).type != "bool";
    if (!local || Loads(variable)) return std::nullopt;
    std::string value;
    if (spelled == "++") {
      value = "1";
    } else if (sides.size() == 2 && OnlyComputes(tree_, sides[1]) &&
               (spelled == "+=" || (spelled == "=" && IsWrittenHereOnly(variable, WithoutParentheses(sides[0]))))) {
      value = tree_.Text(sides[1]);
    }
    if (value.empty()) return std::nullopt;
    return Guarded(parts[0], fmt::format("{} += ", tree_.node(variable).name), value, "");
  }

  // Whether a statement adds to one number in memory, whose place does not depend on data, a value for which 0 is nothing.
  bool IsAtomic(int statement) const {
    const SyntaxNode& call = tree_.node(statement);
    const bool named = call.kind_name == "CallExpr" && (call.name == "atomicAdd" || call.name == "atomicOr");
    return named && call.children.size() == 3 && Declared(call.children[1]) >= 0 && !Loads(call.children[1]) &&
           OnlyComputes(tree_, call.children[2]);
  }

  // `head`, the value if the condition holds and else 0, and `tail`, under the part of the condition that does not load.
  std::string Guarded(int condition, const std::string& head, std::string_view value, const std::string& tail) const {
    // `a && b && c`, of which the first do not load.
    std::vector<int> conditions;
    AddConditions(condition, conditions);
    std::string guard, data;
    for (const int one : conditions) {
      std::string& to = data.empty() && !Loads(one) ? guard : data;
      const int plain = WithoutParentheses(one);
      const bool bare = tree_.Operator(plain) != "||" && tree_.node(plain).kind_name != "ConditionalOperator";
      if (!to.empty()) to += " && ";
      to += bare ? std::string(tree_.Text(plain)) : fmt::format("({})", tree_.Text(plain));
    }
    const std::string sum = fmt::format("{}{} ? {} : 0{};", head, data, value, tail);
    return guard.empty() ? sum : fmt::format("if ({}) {}", guard, sum);
  }

  void AddConditions(int node, std::vector<int>& conditions) const {
    const int plain = WithoutParentheses(node);
    if (tree_.Operator(plain) != "&&") return conditions.push_back(node);
    for (const int side : tree_.node(plain).children) AddConditions(side, conditions);
  }

  const SyntaxTree& tree_;
};

}  // namespace

std::optional<std::string> WithConditionalSums(const SyntaxTree& tree) { return SumRewriter(tree).Run(); }

}  // namespace evo
