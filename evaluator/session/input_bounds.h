#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/input_program.h"
#include "evaluator/session/answered_inputs.h"
#include "evaluator/session/baseline_program.h"

namespace evo {

// Decides how wrong a candidate may be on inputs beyond those that the task lists. The bound is the largest of
//   kHardInputs times the task's bound, relative to the sum of magnitudes (the reference on the absolute values) where sums
//   cancel; kOfBaseline times the baseline's own error, on this input or on one of the same program by another seed; kOfRounding
//   times the change of the reference's answer when each input is rounded once.
class InputBounds {
 public:
  // The task's bound is meant for random inputs. A sum of n terms that all round the same way is off by n units instead of
  // sqrt(n).
  static constexpr double kHardInputs = 16;
  // An honest kernel that sums in another order or uses fast intrinsics is off by a few times the baseline's error.
  static constexpr double kOfBaseline = 10;
  // An algorithm rounds each of its steps, which costs as much as rounding its inputs several times: about the square root of the
  // number of steps where they differ in sign. A running mean and variance (Welford) over 161 elements was seen beyond ten times.
  static constexpr double kOfRounding = 40;
  // Numbers below the smallest normal one lose digits, or are flushed to zero, in honest kernels.
  static double SmallestNormal(Dtype output);

  // All must outlive the object.
  InputBounds(const Task& task, AnsweredInputs& inputs, BaselineProgram& baseline)
      : task_(task), inputs_(inputs), baseline_(baseline) {}

  // Why inputs are outside the task's domain; nullopt if they are not. `drawn` may be empty: then only sizes count.
  std::optional<std::string> OutsideDomain(const Case& sizes, const DrawnArguments& drawn) const;
  // Sets the bounds of `set`, which holds `drawn`, the contents by `inputs`, and its answer; why these inputs are not legal, if
  // they are not.
  std::optional<std::string> Set(InputSet& set, const DrawnArguments& drawn, const InputProgram& inputs);

 private:
  // Bounds without the baseline's error; why the inputs are not legal, if they are not.
  std::variant<std::vector<Allowance>, std::string> AllowForInputs(InputSet& set, const DrawnArguments& drawn,
                                                                   std::uint64_t seed);
  // Raises the bounds to what the baseline is off by for other seeds. Inputs that are not legal there count for nothing.
  void AllowForOtherSeeds(const Case& sizes, const InputProgram& inputs, std::vector<Allowance>& allowances);
  bool BaselineIsFiniteOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed);
  bool HasHeadroom(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);

  const Task& task_;
  AnsweredInputs& inputs_;
  BaselineProgram& baseline_;
};

}  // namespace evo
