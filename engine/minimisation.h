#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/evaluator.h"

namespace evo {

// A variant of a champion, rendered and measured. Its id is 0 if it could not be rendered or was not evaluated.
struct Trial {
  Candidate candidate;  // its genome without the edits that could not be applied
  Evaluation evaluation;
};

// A genome to be measured: for the first time, where another of the same program will do, or once more (as Candidate counts
// measurements).
struct TrialRequest {
  Genome genome;
  int measurement = 0;
};

// Evaluates genomes side by side; one trial each, in order. nullopt if the run was interrupted meanwhile.
using EvaluateTrials = std::function<std::optional<std::vector<Trial>>(const std::vector<TrialRequest>&)>;

// A champion with the edits that it needs.
struct Minimised {
  std::optional<Evaluation> wrong;   // of the champion, where measuring it again showed that it is; nothing else counts then
  Trial variant;                     // the champion itself if none can be left out
  std::vector<CandidateId> without;  // for each of its edits the candidate that lacks it; 0: not evaluated
};

// Most evaluations that one champion is worth: some minutes of a run, enough for 40 edits of which few matter.
inline constexpr int kMinimisationBudget = 64;

// Forms of a champion that are put to its check before it stays as it is.
inline constexpr int kMinimisedVariants = 3;

// Cuts the edits of a champion to those that it needs to be as fast, by delta debugging: leaves out one chunk after another of
// the edit list, all chunks side by side, then all those together that were not missed; in ever smaller chunks, until no single
// edit can be left out. Evaluates `budget` genomes at most; what it asks for that is not evaluated, for whatever reason, is
// needed. The champion is measured again first, as it became champion by a measurement that was lucky as well; a variant that
// seems slower by no more than 3% is measured once more beside the champion, and is slower if it is so both times. What is left
// when that is spent keeps the speed but may hold more than is needed. Parameters stay. Forms that the champion's check has
// `rejected`, whatever they measured, and other variants of their programs count as slower, and at least half of the edits that
// each of them left out stay; which half differs from one refusal to the next. nullopt if interrupted.
std::optional<Minimised> Minimise(const Trial& champion, int budget, const EvaluateTrials& evaluate,
                                  const std::vector<Trial>& rejected = {});

// Whether a trial passed the gate and the champion does not beat it.
bool KeepsSpeed(const Trial& trial, const Trial& champion);

// The same of two checks, in each of which the baseline was timed in turn: so that it does not matter what the clocks were in
// between.
bool KeepsSpeed(const ChampionCheck& minimised, const ChampionCheck& champion);

}  // namespace evo
