#include "cli/verify_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/device_choice.h"
#include "cli/export_kernel.h"
#include "cli/exported_kernel.h"
#include "cli/run_setup.h"
#include "cli/template_check.h"
#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task_shape.h"
#include "kernel_templates/text_file.h"
#include "platform/command.h"

namespace evo {
namespace {

// A launch line for the first kernel of the text, with all arguments and sizes of the task.
std::string ExampleLaunch(const std::string& text, const Task& task) {
  const auto found = FindInLines(text, R"(__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  const std::string name = found.empty() ? "NAME" : found[1];
  std::vector<std::string> arguments;
  for (const Argument& argument : task.arguments) arguments.push_back(argument.name);
  arguments.insert(arguments.end(), task.size_names.begin(), task.size_names.end());
  return fmt::format("// evo:launch {}({}) grid({}) block(128)", name, fmt::join(arguments, ", "),
                     task.size_names.empty() ? "1" : fmt::format("ceil_div({}, 128)", task.size_names.front()));
}

}  // namespace

KernelTemplate LoadKernel(const std::string& file, const Task& task, const HeaderFolders& headers) {
  const std::string text = ReadSourceFile(file);
  if (text.find("evo:launch") == std::string::npos) {
    throw UsageError(
        fmt::format("--kernel {}: it does not say how it is launched; add a line such as `{}` with the arguments in "
                    "its own order",
                    file, ExampleLaunch(text, task)));
  }
  KernelTemplate kernel = LoadTemplate(file, headers);
  if (const auto violated = kernel.space.Violated(kernel.space.Defaults()))
    throw UsageError(fmt::format("--kernel {}: its parameters do not meet `{}`", file, *violated));
  return kernel;
}

Candidate ToCandidate(CandidateId id, const KernelTemplate& kernel) {
  Candidate candidate;
  candidate.id = id;
  candidate.index = static_cast<int>(id) - 1;
  candidate.genome = {kernel.name, kernel.digest, kernel.space.Defaults(), {}};
  candidate.op = "default";
  candidate.source = RenderParameters(kernel.text, candidate.genome.parameters);
  return candidate;
}

namespace {

KernelTemplate LoadBaseline(const Task& task, const HeaderFolders& headers) {
  for (KernelTemplate& one : LoadTemplates(task.directory, headers)) {
    if (one.name == task.baseline) return std::move(one);
  }
  throw UsageError(fmt::format("task {}: has no template {}, its baseline", task.name, task.baseline));
}

PipelineOptions ToPipelineOptions(const KernelToVerify& asked, const DeviceChoice& device, const Candidate& baseline,
                                  const CommandContext& context) {
  PipelineOptions options;
  options.device = device.kind;
  options.ordinals = {device.ordinals.front()};
  options.arch = asked.arch;
  options.l2 = asked.l2;
  options.baseline_source = baseline.source;
  options.interrupt = context.interrupt;
  options.tools = asked.tools;
  StartUsually(options);
  return options;
}

}  // namespace

CandidateRecord VerifyKernel(const KernelToVerify& asked, const CommandContext& context) {
  const DeviceChoice device = ChooseDevice(asked.device);
  RunOptions run;
  run.task = asked.task;
  run.task_folders = asked.task_folders;
  run.header_folders = asked.header_folders;
  const Task task = WithSearchShapes(LoadAskedTask(run, context), PolicyOf(device.kind).cases, {});
  const KernelTemplate kernel = LoadKernel(asked.file, task, asked.header_folders);
  const KernelTemplate loaded = LoadBaseline(task, asked.header_folders);
  const Candidate baseline = ToCandidate(1, loaded);
  CandidateRecord record;
  record.candidate = ToCandidate(2, kernel);
  record.candidate.unproven_edits = 1;  // no analysis stands behind any of it
  context.open_scratch_folder();
  CheckTemplates({loaded, kernel}, task, context);
  WorkerSet workers(ToPipelineOptions(asked, device, baseline, context), task);
  PrintUnconfined(context.messages, workers.unconfined());
  PrintReference(context.messages, task);
  Pipeline pipeline(workers);
  // Both are of generation 0, as templates are at the start of a run: no time of another kernel limits them.
  pipeline.Start({baseline, record.candidate});
  const std::vector<Evaluation> evaluations = pipeline.Finish(context.interrupt, {});
  if (context.interrupt.stop_requested()) throw Interrupted();
  if (evaluations[0].outcome != Outcome::kOk) {
    throw Error(fmt::format("task {}: its baseline {} fails: {}: {}", task.name, task.baseline, ToString(evaluations[0].outcome),
                            evaluations[0].message));
  }
  record.evaluation = evaluations[1];
  if (record.evaluation.outcome != Outcome::kOk) return record;
  const std::string& source = record.candidate.source;
  const ExportedKernel exported =
      MakeExportedKernel(WithoutHeaderStop(source), ParseTemplate(kernel.name, source), task, workers.arch());
  record.check = pipeline.CheckExport(record.candidate, exported, baseline, asked.effort, context.interrupt);
  if (record.check->outcome == Outcome::kCancelled) throw Interrupted();
  return record;
}

}  // namespace evo
