#include "mutators/analysis/numbers/step_budget.h"

namespace evo {
namespace {

// Some seconds.
constexpr std::int64_t kMostStepsOfQuestion = 100'000'000;

thread_local StepBudget* innermost_budget = nullptr;

}  // namespace

StepBudget::StepBudget() : outer_(innermost_budget), left_(kMostStepsOfQuestion) { innermost_budget = this; }

StepBudget::~StepBudget() { innermost_budget = outer_; }

void StepBudget::Spend(std::int64_t steps) {
  if (innermost_budget != nullptr) innermost_budget->left_ -= steps;
}

bool StepBudget::IsSpent() { return innermost_budget != nullptr && innermost_budget->left_ <= 0; }

}  // namespace evo
