#pragma once

#include <functional>

#include "evaluator/session/case_timer.h"
#include "evaluator/session/input_pool.h"
#include "evaluator/session/legal_inputs.h"

namespace evo {

// What the steps of one job share.
struct SessionContext {
  Device& device;
  InputPool& inputs;
  LegalInputs& legal;
  CaseTimer& timer;
  std::function<bool()> jobs_wait;  // whether other jobs wait for this worker
};

}  // namespace evo
