#include "mutators/analysis/online_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// How often a body runs; in some runs all values are as large as the largest so far.
constexpr int kOnlineTrials = 40;
constexpr int kEveryEqual = 8;
// Relative; the numbers are doubles.
constexpr double kOnlineTolerance = 1e-9;

bool IsReal(const std::string& type) { return type == "float" || type == "double"; }

std::string Spelled(const SyntaxTree& tree, int node) {
  std::string text;
  for (const std::string_view token : tree.Tokens(tree.node(node).range)) text += fmt::format("{} ", token);
  return text;
}

// Runs a body on numbers. What depends on nothing that it changes is a value of its own, by its spelling.
class OnlineTrial {
 public:
  OnlineTrial(const SyntaxTree& tree, int body) : tree_(tree), body_(body), written_(WrittenIn(tree, body)) {}

  // The variables of the code around it that the body changes.
  std::vector<int> Changed() const {
    std::vector<int> changed;
    for (const int variable : written_) {
      if (!IsWithin(tree_, variable, body_)) changed.push_back(variable);
    }
    return changed;
  }

  // False if the body is not understood. `equal`: all values that it reads are this number.
  bool Run(const std::map<int, double>& variables, std::mt19937& random, std::optional<double> equal) {
    variables_ = variables;
    values_.clear();
    random_ = &random;
    equal_ = equal;
    understood_ = true;
    Execute(body_);
    return understood_;
  }

  double Of(int variable) const { return variables_.at(variable); }
  const std::map<std::string, double>& values() const { return values_; }
  const std::set<std::string, std::less<>>& exponentials() const { return exponentials_; }

 private:
  double NotUnderstood() {
    understood_ = false;
    return 0;
  }

  bool IsLocal(int declaration) const { return IsWithin(tree_, declaration, body_); }
  int InitialOf(int declaration) const {
    const SyntaxNode& node = tree_.node(declaration);
    return node.kind_name == "VarDecl" && !node.children.empty() ? node.children.back() : -1;
  }

  // Whether nothing that the body changes is in an expression.
  bool IsFree(int expression) const {
    if (!IsPure(tree_, expression)) return false;
    for (const int declaration : NamedIn(tree_, expression)) {
      if (written_.contains(declaration)) return false;
      if (IsLocal(declaration) && (InitialOf(declaration) < 0 || !IsFree(InitialOf(declaration)))) return false;
    }
    return true;
  }

  double Value(const std::string& spelled) {
    const auto [found, fresh] = values_.try_emplace(spelled, 0);
    if (fresh) found->second = equal_ ? *equal_ : std::uniform_real_distribution<double>(-3, 3)(*random_);
    return found->second;
  }

  double Evaluate(int expression) {
    if (!understood_) return 0;
    const int node = WithoutParentheses(tree_, expression);
    const SyntaxNode& one = tree_.node(node);
    const auto& parts = one.children;
    if (one.opaque) return NotUnderstood();
    if (one.kind_name == "FloatingLiteral" || one.kind_name == "IntegerLiteral")
      return std::strtod(std::string(tree_.Text(node)).c_str(), nullptr);
    if (const int declaration = NamedDeclaration(tree_, node); declaration >= 0) {
      if (IsLocal(declaration) && IsFree(node)) return Evaluate(InitialOf(declaration));
      const auto held = variables_.find(declaration);
      if (held != variables_.end()) return held->second;
    }
    if (IsFree(node)) return IsReal(WithoutConst(one.type)) ? Value(Spelled(tree_, node)) : NotUnderstood();
    if (IsConversion(tree_, node) && IsReal(one.type) && !parts.empty()) return Evaluate(parts.back());
    const std::string_view spelled = tree_.Operator(node);
    if (one.kind_name == "UnaryOperator" && spelled == "-") return -Evaluate(parts[0]);
    if (one.kind_name == "ConditionalOperator" && parts.size() == 3)
      return IsTrue(parts[0]) ? Evaluate(parts[1]) : Evaluate(parts[2]);
    if (one.kind_name == "BinaryOperator" && parts.size() == 2) return Combined(spelled, Evaluate(parts[0]), Evaluate(parts[1]));
    return Called(node);
  }

  double Combined(std::string_view spelled, double a, double b) {
    if (spelled == "+") return a + b;
    if (spelled == "-") return a - b;
    if (spelled == "*") return a * b;
    return NotUnderstood();
  }

  double Called(int call) {
    const std::string_view callee = LibraryCallee(tree_, call);
    const auto& parts = tree_.node(call).children;
    if (parts.size() == 2 &&
        (callee == "expf" || callee == "exp" || callee == "__expf" || callee == "exp2f" || callee == "exp2")) {
      exponentials_.insert(std::string(callee));
      const double argument = Evaluate(parts[1]);
      return callee.starts_with("exp2") ? std::exp2(argument) : std::exp(argument);
    }
    if (parts.size() == 3 && (callee == "fmaxf" || callee == "fmax" || callee == "max"))
      return std::max(Evaluate(parts[1]), Evaluate(parts[2]));
    return NotUnderstood();
  }

  bool IsTrue(int condition) {
    const int node = WithoutParentheses(tree_, condition);
    const std::string_view spelled = tree_.Operator(node);
    const auto& sides = tree_.node(node).children;
    if (sides.size() != 2 || IsFree(node)) return NotUnderstood() != 0;
    const double a = Evaluate(sides[0]), b = Evaluate(sides[1]);
    if (spelled == "<") return a < b;
    if (spelled == ">") return a > b;
    if (spelled == "<=") return a <= b;
    if (spelled == ">=") return a >= b;
    if (spelled == "!=") return a != b;
    return NotUnderstood() != 0;
  }

  void Execute(int statement) {
    if (!understood_) return;
    const SyntaxNode& node = tree_.node(statement);
    if (node.kind_name == "CompoundStmt") {
      for (const int child : node.children) Execute(child);
    } else if (node.kind_name == "DeclStmt") {
      for (const int child : node.children) Declare(child);
    } else if (node.kind_name == "IfStmt" && (node.children.size() == 2 || node.children.size() == 3)) {
      if (IsTrue(node.children[0]))
        Execute(node.children[1]);
      else if (node.children.size() == 3)
        Execute(node.children[2]);
    } else if (IsAssignment(tree_, statement)) {
      Assign(statement);
    } else if (node.kind_name != "NullStmt") {
      NotUnderstood();
    }
  }

  void Declare(int variable) {
    const SyntaxNode& node = tree_.node(variable);
    if (node.kind_name != "VarDecl" || node.type.find_first_of("*&[") != std::string::npos) return void(NotUnderstood());
    const int initial = InitialOf(variable);
    if (initial >= 0 && !written_.contains(variable) && IsFree(initial)) return;
    if (!IsReal(WithoutConst(node.type))) return void(NotUnderstood());
    variables_[variable] = initial < 0 || tree_.node(initial).type.empty() ? std::nan("") : Evaluate(initial);
  }

  void Assign(int node) {
    const auto& sides = tree_.node(node).children;
    const int variable = NamedDeclaration(tree_, sides[0]);
    const std::string_view spelled = tree_.Operator(node);
    const auto held = variables_.find(variable);
    if (held == variables_.end() || WithoutParentheses(tree_, sides[0]) != sides[0]) return void(NotUnderstood());
    const double value = Evaluate(sides[1]);
    held->second = spelled == "=" ? value : Combined(spelled.substr(0, spelled.size() - 1), held->second, value);
  }

  const SyntaxTree& tree_;
  int body_;
  std::set<int> written_;
  std::map<int, double> variables_;
  std::map<std::string, double> values_;
  std::set<std::string, std::less<>> exponentials_;
  std::mt19937* random_ = nullptr;
  std::optional<double> equal_;
  bool understood_ = true;
};

// Whether a body makes of a pair what the rule makes of it and of one of the values that it reads, always the same one.
bool IsOnline(OnlineTrial& trial, int top, int sum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> tops(-3, 3), sums(0.5, 4);
  std::set<std::string> values;
  for (int i = 0; i < kOnlineTrials; ++i) {
    const double m = tops(random), s = sums(random);
    if (!trial.Run({{top, m}, {sum, s}}, random, i < kEveryEqual ? std::optional(m) : std::nullopt)) return false;
    // None where all values are equal and it says 1 for the exponential of 0.
    if (trial.exponentials().size() > 1) return false;
    const bool two = !trial.exponentials().empty() && trial.exponentials().begin()->starts_with("exp2");
    const auto exponential = [&](double x) { return two ? std::exp2(x) : std::exp(x); };
    std::set<std::string> fitting;
    for (const auto& [spelled, x] : trial.values()) {
      const double largest = std::max(m, x), expected = s * exponential(m - largest) + exponential(x - largest);
      const bool fits = trial.Of(top) == largest && std::fabs(trial.Of(sum) - expected) <= kOnlineTolerance * expected;
      if (fits && (i == 0 || values.contains(spelled))) fitting.insert(spelled);
    }
    values = std::move(fitting);
    if (values.empty()) return false;
  }
  return trial.exponentials().size() == 1;
}

}  // namespace

std::optional<OnlineSum> AsOnlineSum(const SyntaxTree& tree, const CountedLoop& loop) {
  OnlineTrial trial(tree, loop.parts.body);
  const std::vector<int> changed = trial.Changed();
  if (changed.size() != 2) return std::nullopt;
  for (const int variable : changed) {
    const SyntaxNode& node = tree.node(variable);
    if (node.kind_name != "VarDecl" || !IsReal(node.type) || node.type != tree.node(changed[0]).type) return std::nullopt;
    if (IsMemoryName(tree, variable)) return std::nullopt;
  }
  for (const bool first : {true, false}) {
    const int top = changed[first ? 0 : 1], sum = changed[first ? 1 : 0];
    if (IsOnline(trial, top, sum)) return OnlineSum{top, sum, tree.node(top).type, *trial.exponentials().begin()};
  }
  return std::nullopt;
}

}  // namespace evo
