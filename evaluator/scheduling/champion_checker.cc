#include "evaluator/scheduling/champion_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/json_error.h"
#include "core/part_times.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/baseline_failures.h"
#include "evaluator/scheduling/deadlines.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"
#include "evaluator/scheduling/meanwhile.h"

namespace evo {
namespace {

// No analysis stands behind an unproven edit, so the search for counter-examples has to show what the analysis would have proven.
int AdversaryFactor(const Candidate& candidate) {
  constexpr int kUnproven = 10;
  return candidate.unproven_edits > 0 ? kUnproven : 1;
}

// Each costs a check. A baseline that fails at more of them is meant for a domain that its task does not state.
constexpr std::size_t kMostChampionsAvoided = 12;

// The stages of a check have parts that begin one after another: cases, generators, inputs of the adversary.
constexpr int kDeadlinesPerStage = 20;

std::string TextOf(const Counterexample& on) {
  return on.inputs.empty() ? on.case_name : fmt::format("{} with {}", on.inputs, on.case_name);
}

// Throws Error if the device or the reference failed.
template <typename Record>
Record ReadReply(const Message& reply) {
  auto answer = FromReply<Record>(reply);
  if (const auto* report = std::get_if<InfrastructureReport>(&answer)) throw Error(report->message);
  return std::get<Record>(std::move(answer));
}

ChampionCheck ReadCheck(const JobResult& result) {
  ChampionCheck failed;
  if (result.death) {
    failed.outcome = OutcomeOf(*result.death);
    failed.message = fmt::format("{}: {}", result.stage ? ToString(*result.stage) : "start", result.death->description);
    if (result.run.of_baseline) {
      failed.message += fmt::format(", after the kernel ran; alone the baseline can be run on {}", TextOf(result.run.on));
    } else if (!result.run.on.case_name.empty()) {
      failed.message += fmt::format(", on {}", TextOf(result.run.on));
    } else if (!result.run.part.empty()) {
      failed.message += fmt::format(", in {}", result.run.part);
    }
    return failed;
  }
  try {
    return ReadReply<ChampionCheck>(*result.reply);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    failed.outcome = Outcome::kCrash;
    failed.message = fmt::format("the run worker sent a malformed reply: {}", PlainText(error));
    return failed;
  }
}

// Sizes that are compiled in, and images for others, stay.
void ReplaceImage(CompiledProgram& old, CompiledProgram made) {
  made.sizes = std::move(old.sizes);
  made.others = std::move(old.others);
  old = std::move(made);
}

using Clock = std::chrono::steady_clock;

double SecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double SecondsOfStages(const JobResult& result) {
  return std::accumulate(result.stage_ms.begin(), result.stage_ms.end(), 0.0,
                         [](double sum, const auto& stage) { return sum + stage.second / 1000; });
}

ChampionCheck Failed(Outcome outcome, std::string message) {
  ChampionCheck failed;
  failed.outcome = outcome;
  failed.message = std::move(message);
  return failed;
}

}  // namespace

std::variant<ChampionChecker::Programs, ChampionCheck> ChampionChecker::CompileBoth(const Candidate& candidate,
                                                                                    const Candidate& baseline,
                                                                                    const std::stop_token& stop) const {
  std::vector<Job> jobs;
  jobs.push_back(MakeCompileJob(candidate.source, arch_, true, kCompileDeadline, sizes_));
  jobs.push_back(MakeCompileJob(baseline.source, arch_, true, kCompileDeadline, {sizes_.needed, {}, {}}));
  std::vector<CompileResult> compiled;
  for (const JobResult& result : RunAndWait(compile_, std::move(jobs), stop)) {
    compiled.push_back(RequireCompileResult(result));
    if (compiled.back().outcome != Outcome::kOk) return Failed(compiled.back().outcome, compiled.back().message);
  }
  return Programs{std::move(compiled[0]), std::move(compiled[1])};
}

ChampionRequest ChampionChecker::MakeRequest(const Candidate& candidate, const Candidate& baseline, Programs programs,
                                             std::vector<Counterexample> first) {
  return {{candidate.source, std::move(programs.candidate.program)},
          {candidate.source, std::move(programs.candidate.checked)},
          {baseline.source, std::move(programs.baseline.program)},
          std::move(first),
          AdversaryFactor(candidate),
          {},
          {}};
}

ChampionCheck ChampionChecker::CheckAnswers(const Candidate& candidate, const Candidate& baseline,
                                            std::vector<Counterexample> first, const CheckEffort& effort,
                                            std::chrono::milliseconds deadline, const std::stop_token& stop) const {
  PartTimes times;
  times.Begin("compiling");
  auto programs = CompileBoth(candidate, baseline, stop);
  if (auto* failed = std::get_if<ChampionCheck>(&programs)) return std::move(*failed);
  std::string took = times.Text();
  ChampionRequest request = MakeRequest(candidate, baseline, std::move(std::get<Programs>(programs)), std::move(first));
  request.effort = effort;
  ChampionCheck check = Measure(std::move(request), fresh_workers_.DrawSeeds(), deadline, stop);
  AddParts(took, check.took);
  check.took = std::move(took);
  return check;
}

void ChampionChecker::RunTools(const Candidate& candidate, ChampionCheck& check, const std::stop_token& stop) const {
  if (tools_ == nullptr) return;
  const Seeds seeds = fresh_workers_.DrawSeeds();
  Meanwhile<ToolRun> blocks(stop, [&](const std::stop_token& own) { return tools_->SampleBlocks(candidate.source, seeds, own); });
  PartTimes times;
  times.Begin("lines");
  // The tools meet no other sizes.
  const ImageSizes sizes{sizes_.needed, {}, {}};
  const JobResult result =
      RunAndWait(compile_, {MakeCompileJob(candidate.source, arch_, true, kCompileDeadline, sizes, true)}, stop).front();
  if (stop.stop_requested()) return;
  const CompileResult compiled = RequireCompileResult(result);
  if (compiled.outcome != Outcome::kOk) throw Error(fmt::format("a kernel that compiled before does not: {}", compiled.message));
  AddParts(check.took, times.Text());
  AddToolRuns(*tools_, {candidate.source, compiled.program}, candidate.source, seeds, blocks, check, stop);
}

ChampionCheck ChampionChecker::CheckExport(const Candidate& candidate, const Candidate& baseline,
                                           std::vector<Counterexample> first, const CheckEffort& effort,
                                           std::chrono::milliseconds deadline, const ExportToJudge& exported,
                                           const std::stop_token& stop) const {
  PartTimes times;
  times.Begin("compiling");
  auto compiled = CompileBoth(candidate, baseline, stop);
  if (auto* failed = std::get_if<ChampionCheck>(&compiled)) return std::move(*failed);
  Programs& programs = std::get<Programs>(compiled);
  times.Begin("nvcc");
  const ExportResult nvcc = CompileExport(exported, programs.candidate.program, stop);
  if (nvcc.outcome != Outcome::kOk) {
    ChampionCheck failed = Failed(nvcc.outcome, fmt::format("the exported file: {}", nvcc.tool.message));
    failed.tools = {nvcc.tool};
    return failed;
  }
  std::string took = times.Text();
  const Seeds seeds = fresh_workers_.DrawSeeds();
  ChampionRequest request = MakeRequest(candidate, baseline, std::move(programs), std::move(first));
  request.effort = effort;
  // For the tools, beside what follows: where a device has tools, compilers do not disturb its timing (DevicePolicy).
  const bool is_nvccs = exported.runs_image && nvcc.tool.result == "clean";
  std::optional<Meanwhile<AttachedProgram>> with_lines;
  std::optional<Meanwhile<ToolRun>> blocks;
  if (tools_ != nullptr) {
    const auto make = [&](const std::stop_token& own) {
      return is_nvccs ? WithLines(exported, request.candidate, own) : request.candidate;
    };
    with_lines.emplace(stop, make);
    const auto sample = [&](const std::stop_token& own) { return tools_->SampleBlocks(candidate.source, seeds, own); };
    blocks.emplace(stop, sample);
  }
  ChampionCheck check = Measure(request, seeds, deadline, stop);
  check.tools.insert(check.tools.begin(), nvcc.tool);
  AddParts(took, check.took);
  check.took = std::move(took);
  if (check.outcome != Outcome::kOk || tools_ == nullptr) return check;
  PartTimes waited;
  waited.Begin("lines");
  const AttachedProgram program = with_lines->Get();
  AddParts(check.took, waited.Text());
  AddToolRuns(*tools_, program, is_nvccs ? exported.exported.kernel : candidate.source, seeds, *blocks, check, stop);
  return check;
}

// The same code with the lines of the exported file; without them if nvcc does not make that.
AttachedProgram ChampionChecker::WithLines(ExportToJudge exported, AttachedProgram program, const std::stop_token& stop) const {
  exported.exported.options.push_back("-lineinfo");
  CompiledProgram with_lines = program.program;
  if (CompileExport(exported, with_lines, stop).outcome == Outcome::kOk) program.program = std::move(with_lines);
  return program;
}

// Puts nvcc's images in the place of the candidate's.
ChampionChecker::ExportResult ChampionChecker::CompileExport(const ExportToJudge& exported, CompiledProgram& program,
                                                             const std::stop_token& stop) const {
  std::vector<CompiledProgram*> images{&program};
  for (CompiledProgram& other : program.others) images.push_back(&other);
  std::vector<Job> jobs;
  for (const CompiledProgram* image : images) {
    ExportRequest request{exported.exported, {}, {}};
    if (exported.runs_image) {
      request.kernels = image->kernels;
      request.variables = image->variables;
    }
    for (const auto& [name, value] : image->sizes) request.exported.options.push_back(fmt::format("-D{}={}", name, value));
    jobs.push_back(MakeExportJob(request));
  }
  const std::vector<JobResult> results = RunAndWait(compile_, std::move(jobs), stop);
  if (stop.stop_requested()) return {Outcome::kCancelled, {"nvcc", "missing", "stopped"}};
  std::vector<CompileResult> made;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const CompileResult& one = made.emplace_back(RequireCompileResult(results[i]));
    // Without nvcc the verdict is about NVRTC's image, and says so.
    if (one.outcome == Outcome::kCancelled) return {Outcome::kOk, {"nvcc", "missing", "not compiled with nvcc: " + one.message}};
    if (one.outcome == Outcome::kOk) continue;
    const std::string with = images[i]->sizes.empty() ? "" : fmt::format("with {}: ", ToText(images[i]->sizes));
    return {one.outcome, {"nvcc", "error", with + one.message}};
  }
  if (!exported.runs_image) return {Outcome::kOk, {"nvcc", "clean", "the exported file compiles"}};
  for (std::size_t i = 0; i < images.size(); ++i) ReplaceImage(*images[i], std::move(made[i].program));
  return {Outcome::kOk, {"nvcc", "clean", "the exported file is what was checked"}};
}

std::vector<AvoidedInputs> FailingSizes::All() const {
  const std::scoped_lock lock(mutex_);
  return sizes_;
}

void FailingSizes::Add(const AvoidedInputs& failing) {
  if (!failing.on.inputs.empty()) return;
  const std::scoped_lock lock(mutex_);
  sizes_.push_back(failing);
}

ChampionCheck ChampionChecker::Measure(ChampionRequest request, const Seeds& seeds, std::chrono::milliseconds deadline,
                                       const std::stop_token& stop) const {
  request.avoided = failing_sizes_.All();
  const auto begin = Clock::now();
  for (auto last = begin;; last = Clock::now()) {
    Job job = MakeRunJob(ToMessage(request), deadline, pauses_compilers_ ? &compile_ : nullptr);
    job.deadlines_per_stage = kDeadlinesPerStage;
    job.deadline_rule = Deadlines::ChampionRule();
    const JobResult result = RunAndWait(*fresh_workers_.StartRunner(seeds), {job}, stop).front();
    auto left_out = LeaveOutAfter(result, job, seeds, stop);
    if (!left_out) {
      ChampionCheck check = ReadCheck(result);
      std::string took = Part("earlier tries", SecondsBetween(begin, last));
      AddParts(took, Part("starting", SecondsBetween(last, Clock::now()) - SecondsOfStages(result)));
      AddParts(took, check.took);
      check.took = std::move(took);
      return check;
    }
    request.avoided.push_back(std::move(*left_out));
    if (request.avoided.size() > kMostChampionsAvoided) {
      throw Error(
          fmt::format("the baseline fails at {} sizes or inputs that the task does not list, at last at {}: {}; say in "
                      "the task's domain for which it is meant",
                      request.avoided.size(), TextOf(request.avoided.back().on), request.avoided.back().reason));
    }
  }
}

// A candidate may have damaged the process, so the baseline has to fail alone as well, unless no candidate was there yet.
std::optional<AvoidedInputs> ChampionChecker::LeaveOutAfter(const JobResult& result, const Job& job, const Seeds& seeds,
                                                            const std::stop_token& stop) const {
  if (auto too_large = TooLargeToTry(result, job)) return too_large;
  auto failed = BaselineFailedOn(result);
  if (!failed || result.stage == Stage::kPrepare) return failed;
  Job alone = MakeRunJob(ToMessage(BaselineRequest{failed->on}), job.deadline, nullptr);
  const JobResult again = RunAndWait(*fresh_workers_.StartRunner(seeds), {std::move(alone)}, stop).front();
  if (auto failed_again = BaselineFailedOn(again)) {
    failing_sizes_.Add(*failed_again);
    return failed_again;
  }
  if (!again.reply) return std::nullopt;
  const std::string reason = ReadReply<BaselineResult>(*again.reply).reason;
  return reason.empty() ? std::nullopt : std::optional(AvoidedInputs{failed->on, reason});
}

}  // namespace evo
