#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/changed_templates.h"
#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/edit_promises.h"
#include "cli/export_kernel.h"
#include "cli/exported_kernel.h"
#include "cli/header_folders.h"
#include "cli/print.h"
#include "cli/run_options.h"
#include "cli/store_waits.h"
#include "cli/stored_options.h"
#include "cli/stored_run.h"
#include "cli/verdict.h"
#include "cli/verify_kernel.h"
#include "cli/workers.h"
#include "core/error.h"
#include "db/file_identity.h"
#include "db/sqlite_store.h"
#include "evaluator/scheduling/pipeline.h"

namespace evo {
namespace {

constexpr int kNotVerified = 3;

// What of the time the parts get that could go on without an end.
CheckEffort EffortWithin(std::chrono::seconds time) {
  const auto seconds = static_cast<double>(time.count());
  return {.search_s = 2 * seconds / 3, .sizes_s = seconds / 3};
}

struct VerifyOptions : HistoryOptions {
  CandidateId id = 0;                // 0: the best
  std::string against;               // a database; empty: the candidate is timed against its baseline
  std::optional<RunId> against_run;  // else the latest
  CandidateId against_id = 0;        // 0: the best
  KernelToVerify kernel;             // instead of a candidate, if it has a file
};

struct Subject {
  RunRecord run;
  CandidateRecord candidate;
  RunRecord against_run;
  CandidateRecord against;  // the baseline of the run, or a candidate of another run
};

CandidateRecord FindMeasured(const History& history, const std::string& database, RunId run, CandidateId id) {
  const auto candidate = id != 0 ? std::optional(history.FindCandidate(run, id)) : history.Best(run);
  if (!candidate) throw Error(fmt::format("{}: run {} has no kernel that was shown right; name a candidate", database, run));
  if (candidate->evaluation.outcome == Outcome::kOk) return *candidate;
  throw UsageError(fmt::format("candidate {} of run {} has the outcome {}; only what passed the search's checks can be verified",
                               candidate->candidate.id, run, ToString(candidate->evaluation.outcome)));
}

Subject FindSubject(const VerifyOptions& options) {
  const History history(options.database);
  const RunSummary run = history.FindRun(options.run);
  const RunId id = run.record.id;
  const CandidateRecord candidate = FindMeasured(history, options.database, id, options.id);
  if (options.against.empty()) {
    const auto baseline = history.Baseline(id);
    if (!baseline) throw Error(fmt::format("{}: run {} has no baseline to compare with", options.database, id));
    return {run.record, candidate, run.record, *baseline};
  }
  const History other(options.against);
  const RunSummary other_run = other.FindRun(options.against_run);
  if (other_run.record.task_digest != run.record.task_digest) {
    throw UsageError(
        fmt::format("--against {}: run {} is of task {}, run {} of {} is of {}, or one of them has changed; only kernels of one "
                    "task can be compared",
                    options.against, other_run.record.id, other_run.record.task, id, options.database, run.record.task));
  }
  return {run.record, candidate, other_run.record, FindMeasured(other, options.against, other_run.record.id, options.against_id)};
}

Candidate Rendered(const CommandContext& context, const RunRecord& run, const CandidateRecord& record) {
  Candidate candidate = record.candidate;
  candidate.source = RenderStored(context.make_renderer(), run, record);
  candidate.unproven_edits = CountUnproven(candidate.genome);
  return candidate;
}

// What --export and --with-host would write.
ExportedKernel Exported(const Subject& subject, const Task& task, const Candidate& rendered, const std::string& database,
                        const std::string& arch) {
  const History history(database);
  const RunId run = subject.run.id;
  const std::string text = ExportKernel({subject.run, task, subject.candidate, history.Baseline(run),
                                         history.Lineage(run, subject.candidate.candidate.id), rendered.source});
  return MakeExportedKernel(text, ParseTemplate(rendered.genome.template_name, rendered.source), task, arch);
}

ChampionCheck Check(const CommandContext& context, const VerifyOptions& asked, const Subject& subject, const Task& task) {
  const bool alone = asked.against.empty();
  PipelineOptions options;
  options.device = subject.run.device;
  const StoredOptions stored = OptionsOf(subject.run);
  if (!stored.executor) options.ordinals = stored.ordinals;  // those that were elsewhere have other numbers here
  options.arch = subject.run.arch;
  options.l2 = subject.run.l2;
  options.baseline_source = BaselineSource(subject.run);
  options.interrupt = context.interrupt;
  options.tools = alone;
  StartUsually(options);
  context.open_scratch_folder();
  WorkerSet workers(options, task);
  if (workers.device().name != subject.run.device_name) {
    throw UsageError(fmt::format("run {} was measured on {}, and this is {}: verify it there, or make a run here", subject.run.id,
                                 subject.run.device_name, workers.device().name));
  }
  Pipeline pipeline(workers);
  const Candidate candidate = Rendered(context, subject.run, subject.candidate);
  const Candidate against = Rendered(context, subject.against_run, subject.against);
  if (!alone) return pipeline.CheckChampion(candidate, against, context.interrupt);
  return pipeline.CheckExport(candidate, Exported(subject, task, candidate, asked.database, workers.arch()), against,
                              asked.kernel.effort, context.interrupt);
}

void PrintVerified(const CommandContext& context, const VerifyOptions& options, const CandidateRecord& record) {
  if (options.json) {
    nlohmann::ordered_json json = ToJson(record);
    json["verdict"] = Verdict(record);
    PrintLines(context.out, Dump(json));
    return;
  }
  Print(context.out, "candidate   {}\n", record.candidate.id);
  PrintVerdict(context.out, record);
}

std::string Name(const RunRecord& run, const CandidateRecord& record) {
  return fmt::format("candidate {} of run {}", record.candidate.id, run.id);
}

// Nothing of this is stored: speed-ups in a database are over the baseline of the same run.
void PrintAgainst(const CommandContext& context, const VerifyOptions& options, const Subject& subject,
                  const ChampionCheck& check) {
  if (options.json) {
    nlohmann::ordered_json json = {{"run", subject.run.id},
                                   {"candidate", subject.candidate.candidate.id},
                                   {"against_run", subject.against_run.id},
                                   {"against", subject.against.candidate.id},
                                   {"check", ToJson(check)}};
    PrintLines(context.out, Dump(json));
    return;
  }
  Print(context.out, "candidate   {}\nagainst     {} of {}\n", Name(subject.run, subject.candidate),
        Name(subject.against_run, subject.against), options.against);
  if (check.outcome != Outcome::kOk) {
    Print(context.out, "verdict     failed: {}: {}\n", ToString(check.outcome), OneLine(check.message, 200));
    return;
  }
  Print(context.out, "ratio       {} times as fast in interleaved timing: {} us against {} us\n", Ratio(check.speedup),
        Microseconds(check.candidate_ns), Microseconds(check.baseline_ns));
}

void VerifyFile(CommandContext& context, const VerifyOptions& options) {
  const CandidateRecord record = VerifyKernel(options.kernel, context);
  if (!Passed(record)) context.exit_code = kNotVerified;
  if (options.json) {
    nlohmann::ordered_json json = {{"kernel", options.kernel.file}, {"task", options.kernel.task}};
    json.update(VerdictJson(record));
    PrintLines(context.out, Dump(json));
    return;
  }
  Print(context.out, "kernel      {}\ndevice      {} ({}), L2 {}\n", options.kernel.file, record.evaluation.device_name,
        record.evaluation.device, record.evaluation.l2);
  PrintVerdict(context.out, record);
}

void Verify(CommandContext& context, const VerifyOptions& options) {
  if (!options.kernel.file.empty()) return VerifyFile(context, options);
  const auto file = IdentityOf(options.database);
  const Subject subject = FindSubject(options);
  const auto task = FindStoredTask(context, subject.run);
  if (!task) {
    throw Error(fmt::format("task {} is no longer as it was in run {} ({}); verify with the task that the run was made with",
                            subject.run.task, subject.run.id, subject.run.task_directory));
  }
  for (const RunRecord* run : {&subject.run, &subject.against_run}) {
    if (run == &subject.run || !options.against.empty()) SayWhatChanged(context.messages, task->directory, *run);
  }
  const ChampionCheck check = Check(context, options, subject, *task);
  if (check.outcome == Outcome::kCancelled) throw Interrupted();
  if (check.outcome != Outcome::kOk) context.exit_code = kNotVerified;
  if (!options.against.empty()) return PrintAgainst(context, options, subject, check);
  const CandidateId id = subject.candidate.candidate.id;
  if (IdentityOf(options.database) != file)
    throw Error(fmt::format("{}: deleted or replaced while evo checked the kernel; the verdict is not stored", options.database));
  SqliteStore(options.database, LockWaitOf(context), DiskWaitOf(context)).RecordChampion(subject.run.id, id, check);
  PrintVerified(context, options, History(options.database).FindCandidate(subject.run.id, id));
}

void AddKernelOptions(CLI::App& command, KernelToVerify& kernel) {
  CLI::Option* file =
      command.add_option("--kernel", kernel.file, "Check this .cu, which evo need not have made, instead; nothing is stored");
  CLI::Option* task = command.add_option("--task", kernel.task, "The task that it solves, by name or folder")->needs(file);
  file->needs(task)->excludes("id")->excludes("--run")->excludes("--against");
  command.add_option("-I", kernel.task_folders, "Further folders with tasks")->allow_extra_args(false)->needs(file);
  AddHeaderFolders(command, kernel.header_folders)->needs(file);
  command.add_option("--device", kernel.device, "auto, cpu, cuda or cuda:N")->needs(file)->capture_default_str();
  command.add_option("--arch", kernel.arch, "Compile for this architecture, as in evo run")->needs(file);
  command.add_option("--l2", kernel.l2, "State of the L2 cache when a kernel is timed")
      ->check(CLI::IsMember({"hot", "cold"}))
      ->needs(file)
      ->capture_default_str();
}

}  // namespace

void AddVerify(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check a kernel as a champion is checked: on held-out cases, with compute-sanitizer, timed against the baseline");
  AddHistoryOptions(*command, context, *options);
  command->add_option("id", options->id, "Candidate (default: the best)")->check(CLI::PositiveNumber);
  CLI::Option* against = command->add_option(
      "--against", options->against,
      "Time it interleaved with the best kernel of a run of this database instead of the baseline; no tools are run, nothing is "
      "stored");
  command->add_option("--against-run", options->against_run, "The run of that database (default: the latest)")->needs(against);
  command->add_option("--against-id", options->against_id, "The candidate of that run (default: the best)")
      ->check(CLI::PositiveNumber)
      ->needs(against);
  command
      ->add_option_function<std::string>(
          "--time-limit", [options](const std::string& text) { options->kernel.effort = EffortWithin(ParseDuration(text)); },
          "How long searching inputs and trying unlisted sizes may take together, as in 30s; the verdict says what it tried "
          "(default: as long as the device's own limits allow)")
      ->excludes(against);
  AddKernelOptions(*command, options->kernel);
  command->callback([&context, options] { Verify(context, *options); });
}

}  // namespace evo
