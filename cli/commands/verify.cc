#include "cli/commands/verify.h"

#include <fmt/format.h>

#include <memory>

#include "cli/describe.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "cli/workers.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "evaluator/pipeline.h"

namespace evo {
namespace {

struct Options : HistoryOptions {
  CandidateId id = 0;   // 0: the best
};

struct Subject {
  RunRecord run;
  CandidateRecord candidate;
  CandidateRecord baseline;
};

Subject FindSubject(const Options& options) {
  const History history(options.database);
  const RunSummary run = history.FindRun(options.run);
  const RunId id = run.record.id;
  const auto candidate = options.id != 0 ? std::optional(history.FindCandidate(id, options.id)) : history.Best(id);
  if (!candidate) throw Error(fmt::format("{}: run {} has no kernel that was shown right; name a candidate", options.database, id));
  if (candidate->evaluation.outcome != Outcome::kOk) {
    throw UsageError(fmt::format("candidate {} of run {} has the outcome {}; only what passed the search's checks can be verified", candidate->candidate.id, id,
                                 ToString(candidate->evaluation.outcome)));
  }
  const auto baseline = history.Baseline(id);
  if (!baseline) throw Error(fmt::format("{}: run {} has no baseline to compare with", options.database, id));
  return {run.record, *candidate, *baseline};
}

Candidate Rendered(const CommandContext& context, const RunRecord& run, const CandidateRecord& record) {
  Candidate candidate = record.candidate;
  candidate.source = RenderStored(context.make_renderer(), run, record);
  return candidate;
}

ChampionCheck Check(const CommandContext& context, const Subject& subject, const Task& task) {
  PipelineOptions options;
  options.worker_argv = WorkerCommand();
  options.device = subject.run.device;
  options.ordinals = nlohmann::json::parse(subject.run.options).at("ordinals").get<std::vector<int>>();
  options.arch = subject.run.arch;
  options.l2 = subject.run.l2;
  options.interrupt = context.interrupt;
  Pipeline pipeline(options, task);
  if (pipeline.device().name != subject.run.device_name) {
    throw UsageError(fmt::format("run {} was measured on {}, and this is {}: verify it there, or make a run here", subject.run.id, subject.run.device_name,
                                 pipeline.device().name));
  }
  return pipeline.CheckChampion(Rendered(context, subject.run, subject.candidate), Rendered(context, subject.run, subject.baseline), context.interrupt);
}

void Print(const CommandContext& context, const Options& options, const CandidateRecord& record) {
  if (options.json) {
    nlohmann::ordered_json json = ToJson(record);
    json["verdict"] = Verdict(record);
    fmt::print(context.out, "{}", Dump(json));
    return;
  }
  const ChampionCheck& check = *record.check;
  fmt::print(context.out, "candidate   {}\nverdict     {}\n", record.candidate.id, Verdict(record));
  if (check.outcome == Outcome::kOk) {
    fmt::print(context.out, "speed-up    {} over the baseline, timed in turn: {} us against {} us\n", Ratio(check.speedup), Microseconds(check.candidate_ns),
               Microseconds(check.baseline_ns));
  }
  fmt::print(context.out, "\n");
  Table table({"check", "result", "message"});
  for (const std::string& name : check.held_out_cases) table.Add({"held-out case " + name, "ok", ""});
  for (const ToolResult& tool : check.tools) table.Add({tool.tool, tool.result, OneLine(tool.message, 100)});
  table.Print(context.out);
}

void Verify(CommandContext& context, const Options& options) {
  const Subject subject = FindSubject(options);
  const auto task = FindStoredTask(context, subject.run);
  if (!task) {
    throw Error(fmt::format("task {} is no longer as it was in run {} ({}); verify with the task that the run was made with", subject.run.task, subject.run.id,
                            subject.run.task_directory));
  }
  const ChampionCheck check = Check(context, subject, *task);
  if (check.outcome == Outcome::kCancelled) throw Interrupted();
  const CandidateId id = subject.candidate.candidate.id;
  SqliteStore(options.database).RecordChampion(subject.run.id, id, check);
  Print(context, options, History(options.database).FindCandidate(subject.run.id, id));
  if (check.outcome != Outcome::kOk) context.exit_code = 1;
}

}  // namespace

void AddVerify(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Check a kernel as a champion is: held-out cases, compute-sanitizer, timed against the baseline");
  AddHistoryOptions(*command, context, *options);
  command->add_option("id", options->id, "Candidate (default: the best)")->check(CLI::PositiveNumber);
  command->callback([&context, options] { Verify(context, *options); });
}

}  // namespace evo
