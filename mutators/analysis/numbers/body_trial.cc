#include "mutators/analysis/numbers/body_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

std::string TokensOf(const SyntaxTree& tree, int node) {
  std::string text;
  for (const std::string_view token : tree.Tokens(tree.node(node).range)) text += fmt::format("{} ", token);
  return text;
}

}  // namespace

bool IsRealType(const std::string& type) { return type == "float" || type == "double"; }

BodyTrial::BodyTrial(const SyntaxTree& tree, int body, int counter)
    : tree_(tree), body_(body), counter_(counter), written_(WrittenIn(tree, body)) {}

std::vector<int> BodyTrial::Changed() const {
  std::vector<int> changed;
  for (const int variable : written_) {
    if (!IsWithin(tree_, variable, body_)) changed.push_back(variable);
  }
  return changed;
}

bool BodyTrial::Run(const std::map<int, double>& variables, std::mt19937& random, std::optional<double> equal) {
  variables_ = variables;
  values_.clear();
  random_ = &random;
  equal_ = equal;
  understood_ = true;
  Execute(body_);
  return understood_;
}

double BodyTrial::NotUnderstood() {
  understood_ = false;
  return 0;
}

bool BodyTrial::IsLocal(int declaration) const { return IsWithin(tree_, declaration, body_); }

int BodyTrial::InitialOf(int declaration) const {
  const SyntaxNode& node = tree_.node(declaration);
  return node.kind_name == "VarDecl" && !node.children.empty() ? node.children.back() : -1;
}

// Whether nothing that the body changes is in an expression.
bool BodyTrial::IsFree(int expression) const {
  if (!IsPure(tree_, expression)) return false;
  for (const int declaration : NamedIn(tree_, expression)) {
    if (written_.contains(declaration)) return false;
    if (IsLocal(declaration) && (InitialOf(declaration) < 0 || !IsFree(InitialOf(declaration)))) return false;
  }
  return true;
}

bool BodyTrial::IsOfCounter(int expression) const {
  const auto named = NamedIn(tree_, expression);
  return counter_ >= 0 && named == std::set<int>{counter_} && !LoadsIn(tree_, expression);
}

double BodyTrial::Value(const std::string& spelled) {
  const auto [found, fresh] = values_.try_emplace(spelled, 0);
  if (fresh) found->second = equal_ ? *equal_ : std::uniform_real_distribution<double>(-3, 3)(*random_);
  return found->second;
}

double BodyTrial::Evaluate(int expression) {
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
    if (declaration == counter_) counted_.insert(node);
    if (held != variables_.end()) return held->second;
  }
  const bool real = IsRealType(WithoutConst(one.type));
  if (IsFree(node) && !IsOfCounter(node)) return real ? Value(TokensOf(tree_, node)) : NotUnderstood();
  if (IsConversion(tree_, node) && IsRealType(one.type) && !parts.empty()) return Evaluate(parts.back());
  const std::string_view spelled = tree_.Operator(node);
  if (one.kind_name == "UnaryOperator" && spelled == "-") return -Evaluate(parts[0]);
  if (one.kind_name == "ConditionalOperator" && parts.size() == 3)
    return IsTrue(parts[0]) ? Evaluate(parts[1]) : Evaluate(parts[2]);
  // An integer quotient is rounded.
  if (spelled == "/" && !real) return NotUnderstood();
  if (one.kind_name == "BinaryOperator" && parts.size() == 2) return Combined(spelled, Evaluate(parts[0]), Evaluate(parts[1]));
  return Called(node);
}

double BodyTrial::Combined(std::string_view spelled, double a, double b) {
  if (spelled == "+") return a + b;
  if (spelled == "-") return a - b;
  if (spelled == "*") return a * b;
  if (spelled == "/") return a / b;
  return NotUnderstood();
}

double BodyTrial::Called(int call) {
  const std::string_view callee = LibraryCallee(tree_, call);
  const auto& parts = tree_.node(call).children;
  if (parts.size() == 2 && (callee == "expf" || callee == "exp" || callee == "__expf" || callee == "exp2f" || callee == "exp2")) {
    exponentials_.insert(std::string(callee));
    const double argument = Evaluate(parts[1]);
    return callee.starts_with("exp2") ? std::exp2(argument) : std::exp(argument);
  }
  if (parts.size() == 3 && (callee == "fmaxf" || callee == "fmax" || callee == "max"))
    return std::max(Evaluate(parts[1]), Evaluate(parts[2]));
  if (parts.size() == 4 && (callee == "fmaf" || callee == "fma"))
    return Evaluate(parts[1]) * Evaluate(parts[2]) + Evaluate(parts[3]);
  return NotUnderstood();
}

bool BodyTrial::IsTrue(int condition) {
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

void BodyTrial::Execute(int statement) {
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
  } else if (IsCount(tree_, statement)) {
    Count(statement);
  } else if (node.kind_name != "NullStmt") {
    NotUnderstood();
  }
}

void BodyTrial::Declare(int variable) {
  const SyntaxNode& node = tree_.node(variable);
  if (node.kind_name != "VarDecl" || node.type.find_first_of("*&[") != std::string::npos) return void(NotUnderstood());
  const int initial = InitialOf(variable);
  if (initial >= 0 && !written_.contains(variable) && IsFree(initial)) return;
  if (!IsRealType(WithoutConst(node.type))) return void(NotUnderstood());
  variables_[variable] = initial < 0 || tree_.node(initial).type.empty() ? std::nan("") : Evaluate(initial);
}

void BodyTrial::Assign(int node) {
  const auto& sides = tree_.node(node).children;
  const int variable = NamedDeclaration(tree_, sides[0]);
  const std::string_view spelled = tree_.Operator(node);
  const auto held = variables_.find(variable);
  if (held == variables_.end() || WithoutParentheses(tree_, sides[0]) != sides[0]) return void(NotUnderstood());
  // A number that is not whole would be cut off.
  if (!IsRealType(tree_.node(variable).type) && (spelled != "+=" || tree_.Text(sides[1]) != "1")) return void(NotUnderstood());
  const double value = Evaluate(sides[1]);
  held->second = spelled == "=" ? value : Combined(spelled.substr(0, spelled.size() - 1), held->second, value);
}

void BodyTrial::Count(int node) {
  const auto held = variables_.find(NamedDeclaration(tree_, tree_.node(node).children.front()));
  if (held == variables_.end()) return void(NotUnderstood());
  held->second += tree_.Operator(node) == "++" ? 1 : -1;
}

}  // namespace evo
