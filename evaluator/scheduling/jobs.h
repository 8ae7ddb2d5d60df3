#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "evaluator/compiler/compiler.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// Compiles a rendered source for `arch`. `check`: it is a candidate, see CompileRequest. `deadline`: of one image. `line_info`:
// see CompilerInput.
Job MakeCompileJob(const std::string& source, const std::string& arch, bool check, std::chrono::milliseconds deadline,
                   const ImageSizes& sizes, bool line_info = false);

// Compiles with nvcc what the user gets of a kernel; the image must have these kernels.
Job MakeExportJob(const ExportRequest& request);

// Drawing inputs and computing the reference on a slow machine.
inline constexpr std::chrono::milliseconds kPrepareDeadline{120'000};

// A job of a run worker, whose request is made when it starts. `paused_while_timing` is suspended during the stages that must
// have the machine for themselves; null: nothing has to pause.
Job MakeRunJob(std::function<Message()> make_request, std::chrono::milliseconds deadline, JobRunner* paused_while_timing);
// The same for a request that is known.
Job MakeRunJob(Message request, std::chrono::milliseconds deadline, JobRunner* paused_while_timing);

}  // namespace evo
