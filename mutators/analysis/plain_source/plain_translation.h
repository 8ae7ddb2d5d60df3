#pragma once

#include <optional>

#include "mutators/analysis/plain_source/parameter_differences.h"
#include "mutators/mutator.h"

namespace evo {

// A change of a source that is written out as one of the source itself: whole bodies of functions. nullopt for a change in what
// stands in front of a body, which may be spelled by macros.
std::optional<Proposal> InSource(const Proposal& proposal, const MutationContext& source, const MutationContext& plain,
                                 const ParameterDifferences& differences);

}  // namespace evo
