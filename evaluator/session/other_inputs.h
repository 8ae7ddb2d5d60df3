#pragma once

#include <array>
#include <optional>

#include "core/evaluator.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// Times a champion candidate and the baseline on all generators of the search cases; the search times candidates on the first one
// only. What they write is checked. Precondition: the inputs are placed.
class OtherInputs {
 public:
  // All references outlive this.
  OtherInputs(const SessionContext& context, WorkerChannel& channel, ProgramChecker& checker)
      : context_(context), channel_(channel), checker_(checker) {}

  // `check` has the interleaved measurements of the search cases. Fills in the inputs on which the candidate takes longest,
  // compared with the timed ones. kSlower if there are some on which it certainly takes longer than the baseline, and is not
  // slower on the timed inputs of that case: the speed-up would mislead. What the baseline fails on says nothing.
  std::optional<Failure> Compare(Program& candidate, Program& baseline, ChampionCheck& check);

 private:
  // Of the candidate and of the baseline.
  struct Pair {
    std::array<CasesOfProgram, 2> cases;                  // one each
    std::array<double, 2> median_ns{kNoValue, kNoValue};  // of the baseline: kNoValue if it fails
  };

  Gate NewGate() const;
  // `expected` has medians that tell how long the two may take.
  std::optional<Failure> CompareOn(const Case& sizes, Program& candidate, Program& baseline, const Pair& expected,
                                   SlowestInputs& slowest);
  // `pair` has expected medians, which measured ones replace.
  std::optional<Failure> Measure(const Case& sizes, int generator, Program& candidate, Program& baseline, Pair& pair);
  std::optional<Failure> Confirm(Pair& pair, int generator);

  const SessionContext& context_;
  WorkerChannel& channel_;
  ProgramChecker& checker_;
};

}  // namespace evo
