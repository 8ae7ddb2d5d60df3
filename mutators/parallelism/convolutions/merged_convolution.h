#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// What `find` proposes for a source in which a kernel with a thread an element has the place of the launches, or of one of them,
// if these leave a convolution, as changes of the source itself.
std::vector<Proposal> InMergedConvolution(const MutationContext& context,
                                          const std::function<std::vector<Proposal>(const MutationContext&)>& find);

// Why there are none; empty where nobody would ask. `refuse` says why it leaves kernels of a source as they are.
std::vector<std::string> WhyNoMergedConvolution(const MutationContext& context,
                                                const std::function<std::vector<std::string>(const MutationContext&)>& refuse);

}  // namespace evo
