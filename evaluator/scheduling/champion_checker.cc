#include "evaluator/scheduling/champion_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <variant>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/deadlines.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"

namespace evo {
namespace {

// No analysis stands behind an unproven edit, so the search for counter-examples has to show what the analysis would have proven.
int AdversaryFactor(const Candidate& candidate) {
  constexpr int kUnproven = 10;
  return candidate.unproven_edits > 0 ? kUnproven : 1;
}

// The stages of a check have parts that begin one after another: cases, generators, inputs of the adversary.
constexpr int kDeadlinesPerStage = 20;

ChampionCheck ReadCheck(const Message& reply) {
  std::variant<ChampionCheck, InfrastructureReport> answer;
  try {
    answer = FromReply<ChampionCheck>(reply);
  } catch (const std::exception& error) {
    ChampionCheck failed;
    failed.outcome = Outcome::kCrash;
    failed.message = fmt::format("the run worker sent a malformed reply: {}", PlainText(error));
    return failed;
  }
  if (const auto* report = std::get_if<InfrastructureReport>(&answer)) throw Error(report->message);
  return std::get<ChampionCheck>(std::move(answer));
}

// An error that a tool reports fails the check.
void JudgeTools(ChampionCheck& check) {
  const auto found =
      std::find_if(check.tools.begin(), check.tools.end(), [](const ToolResult& tool) { return tool.result == "error"; });
  if (found == check.tools.end()) return;
  const bool race = found->tool.starts_with("racecheck") || found->tool.starts_with("synccheck") ||
                    found->message.find("race in ") != std::string::npos;  // as the emulation says it
  check.outcome = race ? Outcome::kNondeterministic : Outcome::kCheating;
  check.message = fmt::format("{}: {}", found->tool, found->message);
}

}  // namespace

Seeds UnpredictableSeeds() {
  std::random_device entropy;
  Seeds seeds;
  for (std::size_t i = 0; i < kPoolSeeds; ++i) seeds.push_back((static_cast<std::uint64_t>(entropy()) << 32) | entropy());
  return seeds;
}

ChampionCheck ChampionChecker::Check(const Candidate& candidate, const Candidate& baseline, std::vector<Counterexample> first,
                                     std::chrono::milliseconds deadline, const std::stop_token& stop,
                                     const std::optional<ExportToJudge>& exported) const {
  std::vector<Job> jobs;
  for (const Candidate* one : {&candidate, &baseline}) jobs.push_back(MakeCompileJob(one->source, arch_, true, kCompileDeadline));
  std::vector<CompileResult> compiled;
  for (const JobResult& result : RunAndWait(compile_, std::move(jobs), stop)) {
    compiled.push_back(ReadCompileResult(result));
    if (compiled.back().outcome == Outcome::kOk) continue;
    ChampionCheck failed;
    failed.outcome = compiled.back().outcome;
    failed.message = compiled.back().message;
    return failed;
  }
  std::vector<ToolResult> tools;
  if (exported) {
    ExportResult nvcc = CompileExport(*exported, compiled[0].program, stop);
    tools.push_back(std::move(nvcc.tool));
    if (nvcc.outcome != Outcome::kOk) {
      ChampionCheck failed;
      failed.outcome = nvcc.outcome;
      failed.message = fmt::format("the exported file: {}", tools.back().message);
      failed.tools = std::move(tools);
      return failed;
    }
  }
  const Seeds seeds = fresh_workers_.DrawSeeds();
  const AttachedProgram program{candidate.source, compiled[0].program};
  const ChampionRequest request{program,
                                {candidate.source, compiled[0].checked},
                                {baseline.source, compiled[1].program},
                                std::move(first),
                                AdversaryFactor(candidate)};
  ChampionCheck check = Measure(request, seeds, deadline, stop);
  check.tools.insert(check.tools.begin(), tools.begin(), tools.end());
  if (check.outcome != Outcome::kOk) return check;
  for (ToolResult& tool : fresh_workers_.RunSanitizer(program, seeds, stop)) check.tools.push_back(std::move(tool));
  JudgeTools(check);
  return check;
}

// Puts nvcc's image in the place of the candidate's.
ChampionChecker::ExportResult ChampionChecker::CompileExport(const ExportToJudge& exported, CompiledProgram& program,
                                                             const std::stop_token& stop) const {
  const std::vector<CompiledKernel> kernels = exported.runs_image ? program.kernels : std::vector<CompiledKernel>{};
  const JobResult result = RunAndWait(compile_, {MakeExportJob(exported.exported, kernels)}, stop).front();
  if (stop.stop_requested()) return {Outcome::kCancelled, {"nvcc", "missing", "stopped"}};
  CompileResult made = ReadCompileResult(result);
  // Without nvcc the verdict is about NVRTC's image, and says so.
  if (made.outcome == Outcome::kCancelled) return {Outcome::kOk, {"nvcc", "missing", "not compiled with nvcc: " + made.message}};
  if (made.outcome != Outcome::kOk) return {made.outcome, {"nvcc", "error", made.message}};
  if (!exported.runs_image) return {Outcome::kOk, {"nvcc", "clean", "the exported file compiles"}};
  program = std::move(made.program);
  return {Outcome::kOk, {"nvcc", "clean", "the exported file is what was checked"}};
}

ChampionCheck ChampionChecker::Measure(const ChampionRequest& request, const Seeds& seeds, std::chrono::milliseconds deadline,
                                       const std::stop_token& stop) const {
  const std::unique_ptr<JobRunner> runner = fresh_workers_.StartRunner(seeds);
  Job job = MakeRunJob(ToMessage(request), deadline, pauses_compilers_ ? &compile_ : nullptr);
  job.deadlines_per_stage = kDeadlinesPerStage;
  const JobResult result = RunAndWait(*runner, {job}, stop).front();
  if (result.death) {
    ChampionCheck failed;
    failed.outcome = OutcomeOf(*result.death);
    failed.message = fmt::format("{}: {}", result.stage ? ToString(*result.stage) : "start", result.death->description);
    return failed;
  }
  return ReadCheck(*result.reply);
}

}  // namespace evo
