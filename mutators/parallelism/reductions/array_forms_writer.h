#pragma once

#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// The edit that computes numbers of whole arrays anew (array_forms.h): in registers, by shuffles, and in a second launch that
// combines the blocks' results. Found once for each source.
std::vector<Proposal> ArrayFormProposals(const MutationContext& context);
// Why there is none, where somebody may ask.
std::string WhyNoArrayForms(const MutationContext& context);

}  // namespace evo
