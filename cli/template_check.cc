#include "cli/template_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "cli/workers.h"
#include "core/error.h"
#include "core/record_json.h"
#include "evaluator/compiler/rules/source_rules.h"
#include "evaluator/workers/worker_pool.h"
#include "import/kernel_signatures.h"
#include "import/launch_check.h"
#include "platform/cores.h"

namespace evo {
namespace {

// libclang takes a second for a file with many headers.
constexpr std::chrono::milliseconds kCheckDeadline{60'000};
// Each reads the headers for itself, which is most of the work.
constexpr int kMostWorkers = 4;

[[noreturn]] void Refuse(const KernelTemplate& one, int line, const std::string& what) {
  throw UsageError(fmt::format("{}: {}", PlaceOf(one, line), what));
}

// A header that was written for a program may have code of its host. In the template's own file that is one template's failure.
void CheckHeaders(const KernelTemplate& one) {
  const auto objection = CheckSource(one.text);
  if (!objection) return;
  const auto index = static_cast<std::size_t>(objection->line) - 1;
  if (index >= one.lines.size() || one.lines[index].file.ends_with(".cu")) return;
  Refuse(one, objection->line,
         fmt::format("{}: {}; `evo init` takes the device code out of a program", objection->what, objection->remedy));
}

std::vector<JobResult> ReadInWorker(const std::vector<KernelTemplate>& templates, const CommandContext& context) {
  const int workers = std::min({AvailableCores(), static_cast<int>(templates.size()), kMostWorkers});
  WorkerPool pool(UsualPool("import", {{"role", "import"}}, workers));
  std::vector<Job> jobs;
  for (const KernelTemplate& one : templates) {
    Job job;
    job.request.header["text"] = one.text;
    job.deadline = kCheckDeadline;
    jobs.push_back(std::move(job));
  }
  return AskWorkers(pool, std::move(jobs), context.interrupt);
}

// The task as a reference sees it: every output is double.
Task WithDoubleOutputs(Task task) {
  for (Argument& argument : task.arguments) {
    if (argument.role == Role::kOut || argument.role == Role::kInOut) argument.dtype = Dtype::kF64;
  }
  return task;
}

void CheckAll(const std::vector<KernelTemplate>& templates, const std::vector<const Task*>& tasks,
              const CommandContext& context) {
  for (std::size_t i = 0; i < templates.size(); ++i) {
    if (const auto objection = CheckNames(templates[i], *tasks[i])) Refuse(templates[i], objection->line, objection->what);
    CheckHeaders(templates[i]);
  }
  const std::vector<JobResult> results = ReadInWorker(templates, context);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].reply) continue;
    const auto signatures = results[i].reply->header.at("signatures").get<TemplateSignatures>();
    if (const auto objection = CheckLaunches(templates[i], *tasks[i], signatures))
      Refuse(templates[i], objection->line, objection->what);
  }
}

}  // namespace

void CheckTemplates(std::vector<KernelTemplate> templates, const Task& task, const CommandContext& context) {
  std::vector<const Task*> tasks(templates.size(), &task);
  const Task doubles = WithDoubleOutputs(task);
  if (task.reference_kind == ReferenceKind::kKernels) {
    templates.push_back(ParseTemplate("reference", task.reference));
    tasks.push_back(&doubles);
  }
  CheckAll(templates, tasks, context);
}

}  // namespace evo
