#include "cli/check_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/device_choice.h"
#include "cli/export_kernel.h"
#include "cli/exported_kernel.h"
#include "cli/print.h"
#include "cli/run_setup.h"
#include "cli/template_check.h"
#include "cli/verify_kernel.h"
#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"
#include "evaluator/scheduling/pipeline.h"
#include "evaluator/scheduling/task_surveyor.h"
#include "kernel_templates/task_shape.h"
#include "platform/cores.h"

namespace evo {
namespace {

// The baseline first.
std::vector<KernelTemplate> TemplatesOf(const Task& task, const HeaderFolders& headers) {
  std::vector<KernelTemplate> templates = LoadTemplates(task.directory, headers);
  const auto others = std::stable_partition(templates.begin(), templates.end(),
                                            [&](const KernelTemplate& one) { return one.name == task.baseline; });
  if (others == templates.begin())
    throw UsageError(fmt::format("task {}: has no template {}, its baseline", task.name, task.baseline));
  return templates;
}

PipelineOptions ToPipelineOptions(const TaskToCheck& asked, const DeviceChoice& device, const std::string& baseline,
                                  const CommandContext& context) {
  PipelineOptions options;
  options.device = device.kind;
  options.ordinals = {device.ordinals.front()};
  options.arch = asked.arch;
  options.baseline_source = baseline;
  options.compile_workers = AvailableCores();
  StartUsually(options);
  options.interrupt = context.interrupt;
  return options;
}

// Runs of the reference are named by it; without answers nothing can be judged.
bool ReferenceFails(const TaskSurvey& survey) {
  for (const SurveyedCase& one : survey.cases) {
    for (const LeftOut& failure : one.failures) {
      if (failure.reason.starts_with("the reference")) return true;
    }
  }
  return false;
}

bool BaselineFails(const TaskSurvey& survey) {
  return std::any_of(survey.cases.begin(), survey.cases.end(), [](const auto& one) { return !one.failures.empty(); });
}

ToolResult ReadNvcc(const JobResult& result) {
  const CompileResult made = ReadCompileResult(result);
  if (made.outcome == Outcome::kOk) return {"nvcc", "clean", ""};
  return {"nvcc", made.outcome == Outcome::kCancelled ? "missing" : "error", made.message};
}

// By nvcc's rules, with the file that launches it.
void CompileWithNvcc(TaskCheck& check, const std::vector<KernelTemplate>& templates, const std::vector<Candidate>& candidates,
                     WorkerSet& workers, const std::stop_token& stop) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const std::string& source = candidates[i].source;
    jobs.push_back(MakeExportJob(
        {MakeExportedKernel(WithoutHeaderStop(source), ParseTemplate(templates[i].name, source), check.task, workers.arch()),
         {},
         {}}));
  }
  const std::vector<JobResult> results = RunAndWait(workers.compile_runner(), std::move(jobs), stop);
  if (stop.stop_requested()) throw Interrupted();
  for (std::size_t i = 0; i < results.size(); ++i) check.templates[i].nvcc = ReadNvcc(results[i]);
}

void Evaluate(TaskCheck& check, const std::vector<Candidate>& candidates, WorkerSet& workers, const std::stop_token& stop) {
  Pipeline pipeline(workers);
  pipeline.Start(candidates);
  std::vector<Evaluation> evaluations = pipeline.Finish(stop, {});
  if (stop.stop_requested()) throw Interrupted();
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    check.templates[i].evaluated = true;
    check.templates[i].evaluation = std::move(evaluations[i]);
  }
}

}  // namespace

TaskCheck CheckTask(const TaskToCheck& asked, const CommandContext& context) {
  const DeviceChoice device = ChooseDevice(asked.device);
  RunOptions run;
  run.task = asked.task;
  run.header_folders = asked.header_folders;
  TaskCheck check;
  check.task = LoadAskedTask(run, context);
  std::vector<KernelTemplate> templates = TemplatesOf(check.task, asked.header_folders);
  if (!asked.kernel.empty()) templates.push_back(LoadKernel(asked.kernel, check.task, asked.header_folders));
  std::vector<Candidate> candidates;
  for (const KernelTemplate& one : templates) {
    if (const auto violated = one.space.Violated(one.space.Defaults()))
      throw UsageError(fmt::format("template {}: its default parameters do not meet `{}`", one.name, *violated));
    candidates.push_back(ToCandidate(static_cast<CandidateId>(candidates.size() + 1), one));
    const bool extra = !asked.kernel.empty() && candidates.size() == templates.size();
    CheckedTemplate& row = check.templates.emplace_back();
    row.name = extra ? asked.kernel : one.name;
    row.baseline = candidates.size() == 1;
    row.hopeless = CanOnlyFail(one, device.kind, asked.arch);
  }
  context.open_scratch_folder();
  CheckTemplates(templates, check.task, context);
  std::optional<WorkerSet> workers;
  workers.emplace(ToPipelineOptions(asked, device, candidates.front().source, context), check.task);
  PrintUnconfined(context.messages, workers->unconfined());
  check.device = workers->device();
  check.arch = workers->arch();
  Print(context.messages, "looks at the cases, bounds and inputs of task {}\n", check.task.name);
  check.survey = SurveyInFreshWorkers(*workers, context.interrupt);
  if (!ReferenceFails(check.survey)) check.reference = workers->TimeReference();
  Print(context.messages, "compiles and runs {} templates\n", templates.size());
  if (!ReferenceFails(check.survey) && check.survey.lax.empty()) {
    // A baseline that fails says of no further input that it is legal.
    if (BaselineFails(check.survey)) workers.emplace(ToPipelineOptions(asked, device, "", context), check.task);
    Evaluate(check, candidates, *workers, context.interrupt);
  }
  CompileWithNvcc(check, templates, candidates, *workers, context.interrupt);
  return check;
}

bool Fails(const CheckedTemplate& one) {
  if (one.nvcc.result == "error") return true;
  // A baseline for another device leaves nothing to compare with here.
  if (!one.evaluated || (one.hopeless && !one.baseline)) return false;
  return one.evaluation.outcome != Outcome::kOk && one.evaluation.outcome != Outcome::kNoisy;
}

}  // namespace evo
