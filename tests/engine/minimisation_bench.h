#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/minimisation.h"
#include "tests/engine/edited_kernels.h"
#include "tests/engine/fakes.h"

namespace evo::testing {

// The time of a set of edits; negative: the kernel is wrong.
using TimeOf = std::function<double(const std::set<std::string>&)>;

// Minimises a champion whose edits "e0" to "e99" are proven and all others unproven.
struct MinimisationBench {
  explicit MinimisationBench(const std::vector<std::string>& edits, TimeOf of) : time_of(std::move(of)) {
    champion.candidate.id = 1;
    champion.candidate.genome = EditedAt(1, edits);
    champion.evaluation = Timed(time_of(Names(champion.candidate.genome)));
  }

  std::optional<std::vector<Trial>> Evaluate(const std::vector<TrialRequest>& requests) {
    std::vector<Trial> trials;
    for (const auto& [genome, measurement] : requests) {
      ++evaluated;
      Trial& trial = trials.emplace_back();
      trial.candidate.id = evaluated + 1;
      trial.candidate.genome = genome;
      const double ns = time_of(Names(genome)) * (measurement == 0 ? bad_luck : 1);
      if (ns > 0)
        trial.evaluation = Timed(ns);
      else
        trial.evaluation.outcome = Outcome::kWrongResult;
      if (measurement > 0 && !wrong_again.empty() && Names(genome) == wrong_again)
        trial.evaluation.outcome = Outcome::kWrongResult;
      if (champion_is_pruned && measurement > 0) trial.evaluation.cases.at(0).pruned = true;
      trial.evaluation.program_digest = program_of(Names(genome));
      names[trial.candidate.id] = Names(genome);
    }
    ++batches;
    return trials;
  }
  std::optional<Minimised> Run(int budget = kMinimisationBudget, const std::vector<Trial>& rejected = {}) {
    return Minimise(
        champion, NumberedAreExact(), budget, [&](const std::vector<TrialRequest>& requests) { return Evaluate(requests); },
        rejected);
  }

  TimeOf time_of;
  bool champion_is_pruned = false;
  std::set<std::string> wrong_again;  // the edits of a kernel that is right only the first time
  double bad_luck = 1;                // factor on the time of first measurements
  // By default every set of edits makes another program.
  std::function<std::string(const std::set<std::string>&)> program_of = [](const std::set<std::string>& there) {
    return fmt::format("{}", fmt::join(there, " "));
  };
  Trial champion;
  std::map<CandidateId, std::set<std::string>> names;  // the edits of the evaluated
  int evaluated = 0;
  int batches = 0;
};

}  // namespace evo::testing
