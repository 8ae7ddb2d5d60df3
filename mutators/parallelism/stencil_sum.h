#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "mutators/analysis/expression_kinds.h"
#include "mutators/analysis/refusal.h"
#include "mutators/analysis/stencil.h"
#include "mutators/parallelism/stencil_statements.h"
#include "mutators/parallelism/stencil_weights.h"
#include "mutators/parallelism/weighted_sum.h"

namespace evo {

// What a thread of a stencil stores: a sum of its neighbours, and possibly something else at edges.
struct StencilSum {
  WeightedSum inside;
  // Whether an element is at an edge: a condition on its place, -1 for none. `inside_if`: it holds of the others.
  int condition = -1;
  bool inside_if = false;
  WeightedSum edge;    // of the element itself only
  std::string type;    // of the sum, "float" or "double"
  std::string relied;  // constants whose values were used
};

// Finds what a thread of a stencil stores, by running its statements on sums of neighbours.
class StencilSumFinder {
 public:
  // The arguments must outlive the object.
  StencilSumFinder(const SyntaxTree& tree, const Stencil& found, const StencilStatements& statements,
                   const StencilWeights& weights, const StencilNames& names)
      : tree_(tree), found_(found), statements_(statements), weights_(weights), names_(names), kinds_(tree) {}

  // The sum. Else why it is none.
  std::variant<StencilSum, std::string> Find();

 private:
  // A number or a sum that a variable has; neither if it is not known.
  struct Value {
    std::optional<std::int64_t> integer;
    std::optional<WeightedSum> sum;
  };
  enum class Flow : std::uint8_t { kOn, kContinue, kStop };

  Value Refuse(std::string why);
  std::optional<WeightedSum> Run(bool decision);
  Flow Execute(int statement);
  Flow ExecuteIf(int statement);
  Flow ExecuteLoop(int statement);
  void Assign(int expression);
  bool Decide(int condition);

  std::optional<std::int64_t> IntegerOf(int expression);
  std::optional<std::int64_t> IntegerOfCall(int expression);
  Value Evaluate(int expression);
  Value Site(const Stencil::Site& site);
  Value Weight(const Stencil::Table& table, int expression);
  Value Binary(int expression);
  Value Combined(std::string_view spelled, const Value& left, const Value& right);
  Value Call(int expression);
  Value Element(int expression);
  std::optional<Value> Invariant(int expression);
  WeightedSum SumOf(const Value& value);
  bool IsCommon(int name) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilStatements& statements_;
  const StencilWeights& weights_;
  const StencilNames& names_;
  const ExpressionKinds kinds_;
  std::map<int, Value> variables_;  // of the kernel, by declaration
  std::optional<WeightedSum> stored_;
  int condition_ = -1;
  bool decision_ = false;
  int loops_ = 0;  // around the statement
  std::string type_, relied_;
  Refusal refusal_;
};

}  // namespace evo
