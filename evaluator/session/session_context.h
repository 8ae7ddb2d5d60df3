#pragma once

#include <functional>

#include "evaluator/session/case_timer.h"
#include "evaluator/session/input_pool.h"

namespace evo {

// What the steps of one job share.
struct SessionContext {
  Device& device;
  InputPool& inputs;
  CaseTimer& timer;
  std::function<bool()> jobs_wait;  // whether other jobs wait for this worker
};

}  // namespace evo
