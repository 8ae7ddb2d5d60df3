#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// A source in which a variable stands for an element of a buffer while a kernel adds up in it: `mean[j] = 0; for (..) mean[j] +=
// x; mean[j] /= n;` is `sum = 0; for (..) sum += x; sum /= n; mean[j] = sum;`. The buffer is passed once, and nothing else of it
// is named in between. Where the element has a value from before the kernel, `c[i] *= beta;` or only `tmp[i] += x;` in the loop,
// the variable begins with it. So is an element that each turn of a loop stores to once more. nullopt if there are none.
std::optional<std::string> WithRegisterSums(const MutationContext& context);

}  // namespace evo
