#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_runs/reduction_elements.h"
#include "mutators/analysis/numbers/lane_mask.h"
#include "mutators/analysis/numbers/refusal.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The numbers with which a kernel runs.
struct RunSetting {
  std::map<std::string, std::int64_t, std::less<>> macros;
  std::map<int, std::int64_t> parameters;  // by declaration; others are not known
  std::int64_t threads = 0;                // of a block of one dimension
  std::int64_t blocks = 0;                 // of the grid's first dimension
  std::int64_t block = 0;                  // that runs
};

// How many turns a loop has at most, of those that all threads go through.
inline constexpr std::int64_t kMostTurns = 8;

// The integers of a block's threads: indices, conditions and local variables, one number for each thread. An expression that
// depends on anything else, on data above all, is refused.
class LockstepIntegers {
 public:
  using Values = std::vector<std::int64_t>;

  // The arguments outlive the object.
  LockstepIntegers(const SyntaxTree& tree, const RunSetting& setting, Refusal& refusal);

  Values Evaluate(int expression);
  // Of the two sides of a node, as if it were a binary operator spelled so.
  Values Operation(int node, std::string_view spelled);
  // The lanes of a mask for which a condition is true.
  LaneMask Where(int condition, const LaneMask& mask);

  // A number for each turn of loops that are within each other.
  Values TurnsOf(const std::vector<OuterLoop>& loops);

  bool Knows(int variable) const { return variables_.contains(variable); }
  void Declare(int variable, Values values) { variables_[variable] = std::move(values); }
  void Forget(int variable) { variables_.erase(variable); }
  void Assign(int variable, const Values& values, const LaneMask& mask);
  // Of a variable that it knows.
  void Count(int variable, std::int64_t by, const LaneMask& mask);

 private:
  Values Depends(const std::string& on);
  Values Constant(std::string_view text);
  Values Named(int expression);
  Values Builtin(int expression);
  Values Conditional(int expression);
  Values Unary(int expression, std::string_view spelled);
  Values Extreme(int call, bool largest);

  const SyntaxTree& tree_;
  const RunSetting& setting_;
  Refusal& refusal_;
  std::size_t lanes_;
  std::map<int, Values> variables_;
};

}  // namespace evo
