#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"

namespace evo {

// What a tool said of a would-be champion.
struct ToolResult {
  std::string tool;     // "memcheck"
  std::string result;   // clean, error, unsupported, timeout or missing
  std::string message;  // one line; empty if clean
};
BOOST_DESCRIBE_STRUCT(ToolResult, (), (tool, result, message))

// How much the time of a kernel depends on what it computes with.
struct SlowestInputs {
  double ratio =
      kNoValue;        // time on the legal inputs that take it longest, over that on those that are timed; kNoValue: not measured
  std::string inputs;  // "case r4096_c1024, generator 3": generators are counted as the task lists them, the timed one is 0
};
BOOST_DESCRIBE_STRUCT(SlowestInputs, (), (ratio, inputs))

// Evidence for a would-be champion, taken in a fresh process with fresh seeds.
struct ChampionCheck {
  Outcome outcome = Outcome::kCancelled;  // of the held-out cases
  std::string message;
  // Re-timed against the baseline, alternating launch by launch in the same process; per case, then the weighted geometric mean.
  std::vector<CaseMeasurement> candidate;
  std::vector<CaseMeasurement> baseline;
  double candidate_ns = kNoValue;
  double baseline_ns = kNoValue;
  double speedup = kNoValue;                // baseline_ns / candidate_ns
  std::vector<std::string> held_out_cases;  // names of those that were checked
  std::vector<ToolResult> tools;            // of `evo verify`; empty if none was run
  SlowestInputs slowest;
};
BOOST_DESCRIBE_STRUCT(ChampionCheck, (),
                      (outcome, message, candidate, baseline, candidate_ns, baseline_ns, speedup, held_out_cases, tools, slowest))

// What an earlier run of the same database found, under the conditions of this one.
struct KnownEvaluation {
  std::int64_t run = 0;
  CandidateId candidate = 0;
  Evaluation evaluation;
};

// Compiles, checks and times candidates. Start returns at once; Finish gives one Evaluation per candidate of the batch that was
// started first, in its order, and calls `each` (from the calling thread) as they come in. After a stop request Finish returns
// soon, with kCancelled for what was not finished. At most two batches are under way, so that the next one compiles while this
// one is timed. Throws Error only for what ends the run (the device is gone).
class Evaluator {
 public:
  using Each = std::function<void(const Candidate&, const Evaluation&)>;
  virtual ~Evaluator() = default;
  virtual void Start(std::vector<Candidate> batch) = 0;
  virtual std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) = 0;
  // Blocks. Precondition: every batch is finished; both candidates were evaluated kOk.
  virtual ChampionCheck CheckChampion(const Candidate& candidate, const Candidate& baseline, std::stop_token stop) = 0;
};

}  // namespace evo
