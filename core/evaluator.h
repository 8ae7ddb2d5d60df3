#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/counted_elite.h"
#include "core/evaluation.h"
#include "core/hardware_counters.h"
#include "core/stall_line.h"

namespace evo {

// The verdict of one tool about a champion candidate.
struct ToolResult {
  std::string tool;     // "memcheck"; "nvcc": the exported file was compiled with it
  std::string result;   // clean, error, crash, unsupported, timeout or missing
  std::string message;  // one line; if clean, what was looked at where that is not everything
};
BOOST_DESCRIBE_STRUCT(ToolResult, (), (tool, result, message))

// Whether the tool found the candidate to be wrong.
inline bool FoundFault(const ToolResult& tool) { return tool.result == "error" || tool.result == "crash"; }

// How much the time of a kernel depends on the values of its inputs.
struct SlowestInputs {
  double ratio = kNoValue;  // time on the slowest legal inputs over time on the timed inputs; kNoValue: not measured
  std::string inputs;       // the slowest, as in "case r4096_c1024, generator 3": position in the task's list; 0 is the timed one
};
BOOST_DESCRIBE_STRUCT(SlowestInputs, (), (ratio, inputs))

// Something that the verdict does not cover: sizes or inputs that were left out.
struct LeftOut {
  std::string what;    // "X: normal | mask(-inf,first)" or "ROWS=1,COLS=1283"
  std::string reason;  // "the baseline's answer is not finite"
};
BOOST_DESCRIBE_STRUCT(LeftOut, (), (what, reason))

// For which sizes and inputs a kernel was shown right: wherever the task's baseline is right, but for what was left out.
struct VerifiedDomain {
  std::vector<std::string> sizes;   // "ROWS=41,COLS=1283", in the order in which they were checked
  std::vector<std::string> inputs;  // texts of input programs, each checked on the small case at least
  std::vector<LeftOut> left_out;
};
BOOST_DESCRIBE_STRUCT(VerifiedDomain, (), (sizes, inputs, left_out))

// How the search for counter-examples went.
struct AdversaryEffort {
  int inputs = 0;            // tried; 0: no search was made
  double worst = kNoValue;   // largest error over its bound, on a legal input; 1 and more would be wrong
  std::string worst_inputs;  // where that was
};
BOOST_DESCRIBE_STRUCT(AdversaryEffort, (), (inputs, worst, worst_inputs))

// What computes right answers: kernels of the task in double precision, or its baseline, which then is right by definition.
inline constexpr const char* kReferenceKernels = "reference.cu";
inline constexpr const char* kReferenceBaseline = "baseline";

// How long those parts of a champion's check may take that could go on without an end. kNoValue: as long as the device's policy
// says. What was left out because of it, the check says.
struct CheckEffort {
  double search_s = kNoValue;  // the search for counter-examples
  double sizes_s = kNoValue;   // sizes that the task does not list
};
BOOST_DESCRIBE_STRUCT(CheckEffort, (), (search_s, sizes_s))

// Evidence for a champion candidate, taken in a fresh process with fresh seeds.
struct ChampionCheck {
  Outcome outcome = Outcome::kCancelled;  // of the held-out cases
  std::string message;
  // Both timed again in one process, their launches interleaved: per case, then the weighted geometric mean.
  std::vector<CaseMeasurement> candidate;
  std::vector<CaseMeasurement> baseline;
  double candidate_ns = kNoValue;
  double baseline_ns = kNoValue;
  double speedup = kNoValue;                // baseline_ns / candidate_ns
  std::vector<std::string> held_out_cases;  // names of the cases that were checked
  std::vector<ToolResult> tools;            // empty if no tool ran
  std::vector<HardwareCounters> counters;   // of the candidate, then of the baseline; empty if nothing was counted
  std::vector<StallLine> stalls;            // of the candidate, likewise
  std::string not_counted;                  // why something of these two is missing, where it was tried
  SlowestInputs slowest;
  VerifiedDomain domain;
  AdversaryEffort adversary;
  Counterexample counterexample;  // absent unless a check of an answer failed
  // Time on contents that no launch has seen over time on contents that repeat, relative to the baseline's; the largest over the
  // cases. kNoValue: not measured.
  double fresh_ratio = kNoValue;
  std::string reference =
      kReferenceKernels;           // what computed the right answers: kReferenceKernels, kReferenceBaseline, a .py file
  double reference_ms = kNoValue;  // of one answer to a small input, in a process of its own; the median
  std::string took;                // seconds by part: "inputs 2.1 s, listed cases 3.0 s, search 20.0 s"
};
BOOST_DESCRIBE_STRUCT(ChampionCheck, (),
                      (outcome, message, candidate, baseline, candidate_ns, baseline_ns, speedup, held_out_cases, tools, counters,
                       stalls, not_counted, slowest, domain, adversary, counterexample, fresh_ratio, reference, reference_ms,
                       took))

// A result of an earlier run in the same database, measured under the same conditions as the present run.
struct KnownEvaluation {
  std::int64_t run = 0;
  CandidateId candidate = 0;
  Evaluation evaluation;
};

// Compiles, checks and times candidates. Start returns at once. Finish returns the evaluations of the oldest batch, one per
// candidate in the batch's order, and calls `each` from the calling thread for each evaluation as it arrives. After a stop
// request Finish returns soon, with kCancelled for unfinished candidates; batches after the oldest are dropped then, and Finish
// returns nothing for them. At most two batches may be started and unfinished: one compiles while the other is timed. Throws
// Error only if the run cannot go on (the device is gone).
class Evaluator {
 public:
  using Each = std::function<void(const Candidate&, const Evaluation&)>;
  virtual ~Evaluator() = default;
  virtual void Start(std::vector<Candidate> batch) = 0;
  virtual std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) = 0;
  // The champion check but for the tools: held-out cases, hard inputs, interleaved timing. Blocks. Precondition: every batch is
  // finished, and both candidates were evaluated as kOk.
  virtual ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                                     std::stop_token stop) = 0;
  // Adds what the device's tools, such as compute-sanitizer, find in a candidate that passed; a finding fails the check. Adds
  // nothing where there are none, or if stopped. Blocks.
  virtual void RunTools(const Candidate& candidate, ChampionCheck& check, std::stop_token stop) = 0;
  // Asks for the hardware's counters of candidates that are parents often, the most important first, once `generation` is
  // finished. Returns those that have been counted since the last call, each once; where and when there is time to count any is
  // up to the evaluator. Does not block. Precondition: they were evaluated as kOk.
  virtual std::vector<CountedElite> Count(const std::vector<Candidate>& /*elites*/, int /*generation*/) { return {}; }
  // Both, without a limit of time but the device's own.
  ChampionCheck CheckChampion(const Candidate& candidate, const Candidate& baseline, const std::stop_token& stop) {
    ChampionCheck check = CheckAnswers(candidate, baseline, {}, stop);
    if (check.outcome == Outcome::kOk) RunTools(candidate, check, stop);
    return check;
  }
};

}  // namespace evo
