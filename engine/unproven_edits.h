#pragma once

#include <optional>

#include "core/promise.h"
#include "engine/minimisation.h"
#include "engine/rejected_variants.h"

namespace evo {

// A champion without the unproven edits that are not worth their risk.
struct WithoutUnproven {
  std::optional<Evaluation> wrong;  // the champion's, if measuring it again showed that it is wrong; the rest is unused then
  Trial variant;                    // the champion itself if nothing was left out
  int dropped = 0;                  // unproven edits that the variant lacks
  int evaluated = 0;                // genomes that were evaluated, at most the budget
};

// Leaves out unproven edits until the kernel would be slower by kUnprovenWorth without any single one of those that are left.
// Each round evaluates the variants that lack one such edit; those that are not worth their risk are left out together, or half
// of them where they replace each other. The champion is measured again in the first round. Evaluates nothing if no edit is
// unproven. nullopt if interrupted.
std::optional<WithoutUnproven> DropUnproven(const Trial& champion, const Promises& promises, int budget,
                                            const EvaluateTrials& evaluate, const RejectedVariants& rejected);

// Whether a trial passed the gate and all its cases were measured to the end.
bool IsMeasured(const Trial& trial);

// Whether an evaluation shows a fault of the kernel. Other outcomes may be caused by the machine.
bool IsWrong(Outcome outcome);

}  // namespace evo
