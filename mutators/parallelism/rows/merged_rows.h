#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// What `find` proposes for one kernel with a thread a row that leaves what all launches of a source leave (row_results.h), as
// changes of the source itself.
std::vector<Proposal> InMergedRows(const MutationContext& context,
                                   const std::function<std::vector<Proposal>(const MutationContext&)>& find);
// Why there is no such kernel; empty where nobody would ask.
std::string WhyNoMergedRows(const MutationContext& context);

}  // namespace evo
