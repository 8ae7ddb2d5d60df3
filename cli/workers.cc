#include "cli/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/print.h"
#include "core/error.h"
#include "evaluator/scheduling/jobs.h"
#include "evaluator/workers/worker_main.h"
#include "platform/installation.h"

namespace evo {

namespace {

double SecondsOf(std::int64_t answers, const ReferenceCost& cost) { return static_cast<double>(answers) * cost.ms / 1e3; }

// What a user waits for, where that is long.
std::string CostText(const ReferenceCost& cost) {
  constexpr double kLong = 2;  // seconds
  std::string text = fmt::format(": {:.3g} ms for an answer to the small case", cost.ms);
  if (SecondsOf(cost.first_answers, cost) > kLong)
    text += fmt::format(", {:.0f} s before the first candidate, {:.0f} s in each check of a champion",
                        SecondsOf(cost.first_answers, cost), SecondsOf(cost.check_answers, cost));
  return text;
}

}  // namespace

std::vector<std::string> SplitWords(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

WorkerCommand LaunchedBy(std::vector<std::string> launcher) {
  WorkerCommand command{std::move(launcher)};
  command.launched = !command.argv.empty();
  command.argv.push_back((ProgramDirectory() / "evo-worker").string());
  if (command.launched) command.argv.emplace_back(kLaunched);
  return command;
}

WorkerCommand UsualWorker() {
  const char* launcher = std::getenv("EVO_LAUNCHER");
  return LaunchedBy(SplitWords(launcher == nullptr ? "" : launcher));
}

void StartUsually(PipelineOptions& options) {
  const WorkerCommand command = UsualWorker();
  options.worker_argv = LaunchedBy({}).argv;
  if (!command.launched) return;
  options.run_commands.assign(options.ordinals.size(), command.argv);
  options.compile_commands.assign(static_cast<std::size_t>(options.compile_workers), command.argv);
}

WorkerPoolOptions UsualPool(std::string name, nlohmann::json init, int workers) {
  WorkerCommand command = UsualWorker();
  WorkerPoolOptions options{std::move(name), std::move(command.argv), std::move(init), workers};
  options.launched = command.launched;
  return options;
}

std::vector<JobResult> AskWorkers(WorkerPool& pool, std::vector<Job> jobs, const std::stop_token& stop) {
  std::vector<JobResult> results = RunAndWait(pool, std::move(jobs), stop);
  if (stop.stop_requested()) throw Interrupted();
  if (const std::string fatal = pool.fatal(); !fatal.empty()) throw Error(fatal);
  return results;
}

void PrintUnconfined(std::FILE* out, const std::set<std::string>& layers) {
  for (const std::string& layer : layers) Print(out, "workers are less confined here (docs/security.md): {}\n", layer);
}

void RequireFastReference(const Task& task, const ReferenceCost& cost, const std::optional<std::chrono::seconds>& time_limit) {
  // What a run worker may take for its inputs.
  constexpr std::chrono::seconds kLongest = std::chrono::duration_cast<std::chrono::seconds>(2 * kPrepareDeadline);
  const double seconds = SecondsOf(cost.first_answers, cost);
  const auto limit = static_cast<double>(std::min(time_limit.value_or(kLongest), kLongest).count());
  if (seconds <= limit) return;
  throw UsageError(
      fmt::format("{}: too slow for a search{}: {:.3g} ms for an answer to the small case, and the first candidate needs {} "
                  "answers, {:.0f} s, "
                  "more than {:.0f} s; make the small case smaller, or the reference faster{}",
                  (task.directory / task.reference_file).string(),
                  limit < static_cast<double>(kLongest.count()) ? " of this length" : "", cost.ms, cost.first_answers, seconds,
                  limit, limit < static_cast<double>(kLongest.count()) ? ", or the time limit longer" : ""));
}

void PrintReference(std::FILE* out, const Task& task, const std::optional<ReferenceCost>& cost) {
  if (task.reference_kind == ReferenceKind::kBaseline)
    Print(out, "right is what the baseline {} computes: an error that it has is not found\n", task.baseline);
  if (task.reference_kind == ReferenceKind::kPython)
    Print(out, "right is what {} computes{}\n", (task.directory / task.reference_file).string(), cost ? CostText(*cost) : "");
}

WorkerPoolOptions BreedWorkers(const std::vector<TemplateText>& templates, int workers) {
  nlohmann::json init = {{"role", "breed"}, {"templates", nlohmann::json::array()}};
  for (const TemplateText& text : templates) init["templates"].push_back({{"name", text.name}, {"text", text.text}});
  return UsualPool("breed", std::move(init), workers);
}

}  // namespace evo
