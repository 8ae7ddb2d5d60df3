#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/messages/requests.h"
#include "evaluator/scheduling/champion_tools.h"
#include "evaluator/scheduling/seeds.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// What the user gets of a candidate.
struct ExportToJudge {
  ExportedKernel exported;
  bool runs_image = true;  // nvcc's image takes the place of the candidate's; else it only has to compile
};

// Makes the processes in which champion candidates are checked. WorkerSet implements it; a test's fake answers instead.
class FreshWorkers {
 public:
  virtual ~FreshWorkers() = default;
  // Seeds of the inputs of one check.
  virtual Seeds DrawSeeds() { return UnpredictableSeeds(); }
  // A runner that starts a new process for every job, with inputs drawn from these seeds.
  virtual std::unique_ptr<JobRunner> StartRunner(const Seeds& seeds) = 0;
};

// Sizes that a task does not list and at which the baseline failed alone: that is a matter of the sizes and not of what is drawn,
// so that later checks leave them out. Safe to use from several threads.
class FailingSizes {
 public:
  std::vector<AvoidedInputs> All() const;
  // Inputs are not kept: the next check draws others.
  void Add(const AvoidedInputs& failing);

 private:
  mutable std::mutex mutex_;
  std::vector<AvoidedInputs> sizes_;
};

// Checks champion candidates: held-out cases and interleaved timing against the baseline in a fresh process, with seeds that did
// not exist when the candidate was bred, then the tools. What needs a processor alone, and the device not, is done beside. Where
// the baseline ends the process on sizes or inputs that the task does not list, and does so alone, too, the check is repeated in
// another process without them.
class ChampionChecker {
 public:
  // `tools`: nullptr where the device has none or they are not wanted. `pauses_compilers`: compile workers stand still while a
  // kernel is timed. `sizes`: for sources that have them compiled in.
  ChampionChecker(JobRunner& compile, FreshWorkers& fresh_workers, ChampionTools* tools, std::string arch, bool pauses_compilers,
                  ImageSizes sizes = {})
      : compile_(compile),
        fresh_workers_(fresh_workers),
        tools_(tools),
        arch_(std::move(arch)),
        pauses_compilers_(pauses_compilers),
        sizes_(std::move(sizes)) {}

  // As those of Evaluator. `deadline`: of each stage. `first`: inputs that have failed candidates of this task. Throw Error if
  // the device or the reference fails, or the baseline again and again.
  ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, std::vector<Counterexample> first,
                             const CheckEffort& effort, std::chrono::milliseconds deadline, const std::stop_token& stop) const;
  void RunTools(const Candidate& candidate, ChampionCheck& check, const std::stop_token& stop) const;
  // Both, with the user's file compiled with nvcc as well: the verdict is about its image, and the tool "nvcc" says how that
  // went.
  ChampionCheck CheckExport(const Candidate& candidate, const Candidate& baseline, std::vector<Counterexample> first,
                            const CheckEffort& effort, std::chrono::milliseconds deadline, const ExportToJudge& exported,
                            const std::stop_token& stop) const;

 private:
  struct Programs {
    CompileResult candidate;
    CompileResult baseline;
  };
  // The check that failed if one of them does not compile.
  std::variant<Programs, ChampionCheck> CompileBoth(const Candidate& candidate, const Candidate& baseline,
                                                    const std::stop_token& stop) const;
  static ChampionRequest MakeRequest(const Candidate& candidate, const Candidate& baseline, Programs programs,
                                     std::vector<Counterexample> first);
  struct ExportResult {
    Outcome outcome = Outcome::kOk;
    ToolResult tool;
  };
  AttachedProgram WithLines(ExportToJudge exported, AttachedProgram program, const std::stop_token& stop) const;
  ExportResult CompileExport(const ExportToJudge& exported, CompiledProgram& program, const std::stop_token& stop) const;
  ChampionCheck Measure(ChampionRequest request, const Seeds& seeds, std::chrono::milliseconds deadline,
                        const std::stop_token& stop) const;
  // What the check has to be repeated without; nullopt if its result stands.
  std::optional<AvoidedInputs> LeaveOutAfter(const JobResult& result, const Job& job, const Seeds& seeds,
                                             const std::stop_token& stop) const;

  JobRunner& compile_;
  FreshWorkers& fresh_workers_;
  ChampionTools* tools_;
  std::string arch_;
  bool pauses_compilers_;
  ImageSizes sizes_;
  mutable FailingSizes failing_sizes_;
};

}  // namespace evo
