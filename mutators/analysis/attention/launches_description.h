#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_launches.h"

namespace evo {

// Fills in what a guess, which holds for all runs, says of an attention: buffers, sizes, types, and the scale. False if it cannot
// be said in a kernel, with the reason.
bool DescribeAttention(const MutationContext& context, const SourceRuns& runs, const AttentionGuess& guess,
                       const std::set<std::string>& names, AttentionOfLaunches& found, std::string& why);

// The numbers of a source's text that a score of minus such a number may be, as spelled.
std::vector<std::string> LargeNumbersIn(const SyntaxTree& tree);

}  // namespace evo
