#pragma once

#include <cstdint>

namespace evo {

// How much all runs of threads may compute that one question about a source makes, whatever it starts them for: of several sizes
// that are tried, each with code of its own (ThreadCode), the sum counts. It counts expressions and not seconds, so that a child
// depends on its parents alone. A question within another one has a budget of its own, since its answer is kept for all who ask.
class StepBudget {
 public:
  static constexpr const char* kSpent = "it took too long: its threads compute for longer than is tried";

  // The budget of this thread of evo, until it ends.
  StepBudget();
  ~StepBudget();
  StepBudget(const StepBudget&) = delete;
  StepBudget& operator=(const StepBudget&) = delete;

  // Of the innermost budget; without one, nothing is ever spent.
  static void Spend(std::int64_t steps);
  static bool IsSpent() { return Left() <= 0; }
  static std::int64_t Left();

 private:
  StepBudget* const outer_;
  std::int64_t left_;
};

}  // namespace evo
