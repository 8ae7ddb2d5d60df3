#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Whether a type is "float" or "double".
bool IsRealType(const std::string& type);

// Runs the body of a loop on numbers. What depends on nothing that it changes is a value of its own, by its spelling.
class BodyTrial {
 public:
  // `counter` is the loop's; -1 if expressions that depend on nothing else are values, too. The tree outlives the object.
  BodyTrial(const SyntaxTree& tree, int body, int counter = -1);

  // The variables of the code around it that the body changes.
  std::vector<int> Changed() const;
  // False if the body is not understood. `equal`: all values that it reads are this number.
  bool Run(const std::map<int, double>& variables, std::mt19937& random, std::optional<double> equal);

  double Of(int variable) const { return variables_.at(variable); }
  // The values that it has read, by their spelling.
  const std::map<std::string, double>& values() const { return values_; }
  const std::set<std::string, std::less<>>& exponentials() const { return exponentials_; }
  // The expressions that name the counter and nothing else that changes.
  const std::set<int>& counted() const { return counted_; }

 private:
  double NotUnderstood();
  bool IsLocal(int declaration) const;
  int InitialOf(int declaration) const;
  bool IsFree(int expression) const;
  bool IsOfCounter(int expression) const;
  double Value(const std::string& spelled);
  double Evaluate(int expression);
  double Combined(std::string_view spelled, double a, double b);
  double Called(int call);
  bool IsTrue(int condition);
  void Execute(int statement);
  void Declare(int variable);
  void Assign(int node);
  void Count(int node);

  const SyntaxTree& tree_;
  int body_;
  int counter_;
  std::set<int> written_;
  std::map<int, double> variables_;
  std::map<std::string, double> values_;
  std::set<std::string, std::less<>> exponentials_;
  std::set<int> counted_;
  std::mt19937* random_ = nullptr;
  std::optional<double> equal_;
  bool understood_ = true;
};

}  // namespace evo
