#pragma once

#include <stop_token>

#include "evaluator/messages/task_survey.h"
#include "evaluator/scheduling/champion_checker.h"

namespace evo {

// Asks a fresh run worker about the task that it was set up with. Where the reference or the baseline ends the worker, that is
// noted as a failure of the case, and another worker does the rest. Throws Error if no worker can be had, and Interrupted after a
// stop request.
TaskSurvey SurveyInFreshWorkers(FreshWorkers& workers, const std::stop_token& stop);

}  // namespace evo
