#include "evaluator/scheduling/jobs.h"

#include <algorithm>
#include <utility>

#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/deadlines.h"

namespace evo {
namespace {

using std::chrono::milliseconds;

// nvcc reads the headers of the host compiler, too; with many threads beside it that takes seconds.
constexpr milliseconds kExportDeadline{120'000};
// All held-out cases, several runs each.
constexpr milliseconds kHeldOutDeadline{60'000};

}  // namespace

Job MakeCompileJob(const std::string& source, const std::string& arch, bool check, milliseconds deadline, const ImageSizes& sizes,
                   bool line_info) {
  Job job;
  job.request = ToMessage(CompileRequest{source, arch, check, {}, sizes, line_info});
  job.deadline = deadline;
  // Each image begins the stage anew.
  job.deadlines_per_stage = std::max(job.deadlines_per_stage, static_cast<int>(sizes.needed.size() + sizes.wanted.size()) + 1);
  job.latest = std::max(deadline, kCompileDeadline);
  return job;
}

Job MakeExportJob(const ExportRequest& request) {
  Job job;
  job.request = ToMessage(request);
  job.deadline = kExportDeadline;
  return job;
}

Job MakeRunJob(Message request, milliseconds deadline, JobRunner* paused_while_timing) {
  Job job = MakeRunJob(std::function<Message()>(), deadline, paused_while_timing);
  job.request = std::move(request);
  return job;
}

Job MakeRunJob(std::function<Message()> make_request, milliseconds deadline, JobRunner* paused_while_timing) {
  Job job;
  job.make_request = std::move(make_request);
  job.deadline = deadline;
  job.stage_deadlines = {{Stage::kPrepare, kPrepareDeadline}, {Stage::kHeldOut, kHeldOutDeadline}};
  if (paused_while_timing != nullptr) {
    job.on_enter = [paused_while_timing](Stage) { paused_while_timing->Suspend(); };
    job.on_leave = [paused_while_timing](Stage) { paused_while_timing->Resume(); };
  }
  return job;
}

}  // namespace evo
