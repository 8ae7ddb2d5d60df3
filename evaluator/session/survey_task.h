#pragma once

#include "evaluator/messages/task_survey.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// Looks at the cases, bounds and inputs of a task before any candidate: runs the reference and the baseline on all of them, and
// works out which mistakes the bounds would let through. Takes some seconds; what there is no time for is named. Announces each
// run as one of the baseline: in the stage kPrepare the reference runs, in kHeldOut the baseline. Throws InfrastructureFailure
// where the reference fails, or where the baseline leaves the device unusable: to be repeated in another process without that
// case.
TaskSurvey SurveyTask(const SessionContext& context, WorkerChannel& channel);

}  // namespace evo
