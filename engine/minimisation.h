#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/promise.h"

namespace evo {

// A variant of a champion, rendered and measured. Its id is 0 if it could not be rendered or was not evaluated.
struct Trial {
  Candidate candidate;  // its genome without the edits that could not be applied
  Evaluation evaluation;
};

// A genome to be measured, for the comparison with the champion in this minimisation: what the run, the baseline included,
// measured before does not count. `measurement` tells apart the measurements of one genome. The champion's begin with 1, because
// 0 is that of the search.
struct TrialRequest {
  Genome genome;
  int measurement = 0;
};

// Evaluates genomes in one batch. Gives one trial for each, in order; nullopt if the run was interrupted meanwhile.
using EvaluateTrials = std::function<std::optional<std::vector<Trial>>(const std::vector<TrialRequest>&)>;

// A champion with the edits that it needs.
struct Minimised {
  std::optional<Evaluation> wrong;   // the champion's, if measuring it again showed that it is wrong; the rest is unused then
  Trial variant;                     // the champion itself if it needs all its edits
  int unproven_dropped = 0;          // unproven edits that were worth less than kUnprovenWorth and may have been worth something
  std::vector<CandidateId> without;  // for each edit of the variant the candidate without it; 0: not evaluated
};

// Evaluations for one champion at most: some minutes of a run, enough for 40 edits of which few matter.
inline constexpr int kMinimisationBudget = 64;

// Variants of a champion that are put to the champion check at most. If all fail, the champion stays as it is.
inline constexpr int kMinimisedVariants = 3;

// How many times slower a kernel must be without an unproven edit for the edit to stay. Such an edit is a risk that no analysis
// bounds, and a reader of the kernel has to understand it. Five percent is well above the noise of a measurement and below every
// gain for which a person would take that risk.
inline constexpr double kUnprovenWorth = 1.05;

// Cuts the edits of a champion to those that it needs to be as fast, by delta debugging. The edit list is cut into chunks. One
// batch evaluates the variants that each lack one chunk; then all chunks that are removable alone are left out together. This is
// repeated with ever smaller chunks until no single edit is removable. Parameters stay, except those
// that an edit which goes has brought.
//
// Before that, unproven edits are left out, one after another, unless the kernel is slower without the edit by kUnprovenWorth.
//
// At most `budget` genomes are evaluated. An edit whose variant was not evaluated, for whatever reason, counts as needed, so the
// result keeps the speed but may have more edits than it needs.
//
// The champion is measured again first, because luck in its measurement helped to make it champion. A variant that seems slower
// by at most 3% is measured once more together with the champion, and counts as slower if it is slower both times.
//
// `rejected` are variants that failed the champion check. They count as slower, as do other variants of their programs, and at
// least half of the edits that each of them lacked stay. Which half alternates with the number of rejected variants.
//
// nullopt if interrupted.
std::optional<Minimised> Minimise(const Trial& champion, const Promises& promises, int budget, const EvaluateTrials& evaluate,
                                  const std::vector<Trial>& rejected = {});

// Whether a trial passed the gate and is not slower than the champion by more than the noise.
bool KeepsSpeed(const Trial& trial, const Trial& champion);

// The same for two champion checks. Times are relative to the baseline, whose launches were interleaved in both, so a change of
// the clocks between the checks does not matter. With `unproven_dropped` the variant may be slower by as much as so many unproven
// edits that were left out may have been worth, but keeps at least half of the champion's gain over the baseline (by ratios):
// many edits of a few percent each are a speed-up.
bool KeepsSpeed(const ChampionCheck& minimised, const ChampionCheck& champion, int unproven_dropped = 0);

}  // namespace evo
