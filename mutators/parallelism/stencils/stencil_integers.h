#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "mutators/analysis/numbers/expression_kinds.h"

namespace evo {

// Integers of a kernel whose short loops are run: counters, and what is computed of them and of constants.
class StencilIntegers {
 public:
  // The tree must outlive the object.
  explicit StencilIntegers(const SyntaxTree& tree) : tree_(tree), kinds_(tree) {}

  // nullopt if the value is not known.
  std::optional<std::int64_t> ValueOf(int expression);
  void Set(int variable, std::optional<std::int64_t> value) { variables_[variable] = value; }
  // A counter of a loop that is being run.
  std::int64_t Counter(int variable) const { return variables_.at(variable).value(); }
  bool IsVariable(int variable) const { return variables_.contains(variable); }
  void Clear() { variables_.clear(); }
  // The constants whose values were used.
  const std::string& relied() const { return relied_; }
  void Rely(const std::string& constant) { relied_ += " " + constant; }
  const ExpressionKinds& kinds() const { return kinds_; }

 private:
  std::optional<std::int64_t> OfUnary(int expression);
  std::optional<std::int64_t> OfBinary(int expression);
  std::optional<std::int64_t> OfCall(int expression);

  const SyntaxTree& tree_;
  const ExpressionKinds kinds_;
  std::map<int, std::optional<std::int64_t>> variables_;  // by declaration
  std::string relied_;
};

}  // namespace evo
