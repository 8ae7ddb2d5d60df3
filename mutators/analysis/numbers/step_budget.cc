#include "mutators/analysis/numbers/step_budget.h"

namespace evo {
namespace {

// Some ten seconds. What is known to be understood takes a tenth of it, with few exceptions: products in large tiles.
constexpr std::int64_t kMostStepsOfQuestion = 150'000'000;

thread_local StepBudget* innermost_budget = nullptr;

}  // namespace

StepBudget::StepBudget() : outer_(innermost_budget), left_(kMostStepsOfQuestion) { innermost_budget = this; }

StepBudget::~StepBudget() { innermost_budget = outer_; }

void StepBudget::Spend(std::int64_t steps) {
  if (innermost_budget != nullptr) innermost_budget->left_ -= steps;
}

std::int64_t StepBudget::Left() { return innermost_budget != nullptr ? innermost_budget->left_ : kMostStepsOfQuestion; }

}  // namespace evo
