#include "cli/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/print.h"
#include "core/error.h"
#include "evaluator/scheduling/jobs.h"
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

std::vector<std::string> WorkerCommand() {
  std::vector<std::string> command;
  if (const char* launcher = std::getenv("EVO_LAUNCHER")) {
    std::istringstream words(launcher);
    for (std::string word; words >> word;) command.push_back(word);
  }
  command.push_back((ProgramDirectory() / "evo-worker").string());
  return command;
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
  return {"breed", WorkerCommand(), init, workers};
}

}  // namespace evo
