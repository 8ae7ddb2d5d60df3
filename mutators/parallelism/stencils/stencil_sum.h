#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/parallelism/attention/weighted_sum.h"
#include "mutators/parallelism/stencils/stencil_integers.h"
#include "mutators/parallelism/stencils/walking_parts.h"

namespace evo {

// What a thread of a stencil stores: a sum of its neighbours, and possibly something else at edges.
struct StencilSum {
  // Whether a type is one of which sums are understood.
  static bool IsReal(const std::string& type);

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
  // The argument must outlive the object.
  explicit StencilSumFinder(const WalkingParts& parts) : parts_(parts), integers_(parts.tree) {}

  // The sum. Else why it is none.
  std::variant<StencilSum, std::string> Find();

 private:
  // A number or a sum.
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

  Value Evaluate(int expression);
  std::optional<Value> Known(int expression);
  std::optional<Value> Invariant(int expression);
  Value Binary(int expression);
  Value Combined(std::string_view spelled, const Value& left, const Value& right);
  Value Call(int expression);
  Value Element(int expression);
  WeightedSum SumOf(const Value& value);

  const WalkingParts& parts_;
  StencilIntegers integers_;
  std::map<int, WeightedSum> variables_;  // real numbers of the kernel, by declaration
  std::optional<WeightedSum> stored_;
  int condition_ = -1;
  bool decision_ = false;
  int loops_ = 0;  // around the statement
  std::string type_;
  Refusal refusal_;
};

}  // namespace evo
