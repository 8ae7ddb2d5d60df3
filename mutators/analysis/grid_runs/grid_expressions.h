#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_runs/lane_arithmetic.h"
#include "mutators/analysis/grid_runs/grid_constants.h"
#include "mutators/analysis/grid_runs/grid_variables.h"
#include "mutators/analysis/numbers/expression_kinds.h"

namespace evo {

// Runs what a call calls.
class GridCalls {
 public:
  GridCalls() = default;
  GridCalls(const GridCalls&) = delete;  // others refer to it
  GridCalls& operator=(const GridCalls&) = delete;
  virtual ~GridCalls() = default;
  virtual LaneValues Call(int expression, const LaneMask& mask) = 0;
};

// Where a block is in its launch.
struct GridPosition {
  std::size_t lanes = 0;                                        // threads of a block
  std::int64_t blocks = 0;                                      // of the grid
  std::int64_t block = 0;                                       // the number of this one
  std::array<std::int64_t, 3> threads{1, 1, 1}, grid{1, 1, 1};  // the same along each axis
};

// Why a run is refused that takes too long.
inline constexpr const char* kGridRunTooLong = "it computes for longer than it is tried";

// Computes the expressions of a source for all threads of a block: numbers, conditions and addresses, and sums of elements.
class GridExpressions {
 public:
  // The arguments outlive the object.
  GridExpressions(const SyntaxTree& tree, const ExpressionKinds& kinds, bool extents_known, GridConstants& constants,
                  GridVariables& variables, GridCalls& calls, Refusal& refusal);

  void StartBlock(const GridPosition& position) { position_ = position; }

  LaneValues Evaluate(int expression, const LaneMask& mask);
  // Converted to a type as for a variable that gets it.
  LaneValues EvaluateAs(const std::string& type, int expression, const LaneMask& mask);
  // The lanes of a mask for which a condition is true.
  LaneMask Where(int condition, const LaneMask& mask);
  // What an assignment to an expression would change.
  LanePlace PlaceOf(int expression, const LaneMask& mask);
  // Declares an array or a shared variable, with its initialiser.
  void DeclareArray(int variable, const LaneMask& mask);

  // A vector of a type, of its numbers; zeros where some are missing.
  LaneValues MakeVector(std::string_view type, const std::vector<int>& numbers, int expression, const LaneMask& mask);

  // The values of a result of this expression, if it is understood.
  LaneValues Checked(LaneResult result, int expression);
  LaneValues Refuse(const std::string& why);
  // Whether the condition that is computed is that of a loop that does nothing but wait.
  void SetWaiting(bool waiting) { waiting_ = waiting; }
  // How memory is read that is `volatile`, or by atomics.
  MemoryAccess Strong() const { return waiting_ ? MemoryAccess::kWaiting : MemoryAccess::kStrong; }
  // The first computation whose result is not known; else empty.
  const std::string& unknown() const { return unknown_; }

 private:
  LaneValues NotUnderstood(int expression);
  LaneValues Unknown(int expression);
  LaneValues Converted(LaneValues values, int converted, const std::string& to, int expression, const LaneMask& mask);
  LaneValues Literal(int expression);
  LaneValues Named(int expression, const LaneMask& mask);
  LaneValues Builtin(int expression) const;
  LaneValues Row(int expression, const LaneMask& mask);
  LaneValues Unary(int expression, const LaneMask& mask);
  LaneValues Binary(int expression, const LaneMask& mask);
  LaneValues Logical(int expression, const LaneMask& mask);
  LaneValues Conditional(int expression, const LaneMask& mask);
  LaneValues Assign(int expression, const LaneMask& mask);
  LaneValues Combined(int expression, std::string_view spelled, const LaneValues& a, const LaneValues& b, const LaneMask& mask);
  LanePlace PlaceOfMember(int expression, const LaneMask& mask);
  int ArrayOf(int variable, const LaneMask& mask);

  const SyntaxTree& tree_;
  const ExpressionKinds& kinds_;
  bool extents_known_;
  GridConstants& constants_;
  GridVariables& variables_;
  GridCalls& calls_;
  Refusal& refusal_;
  GridPosition position_;
  std::string unknown_;
  bool waiting_ = false;
  std::int64_t work_ = 0;
};

}  // namespace evo
