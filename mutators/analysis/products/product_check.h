#pragma once

#include <string>

#include "mutators/analysis/products/product_finder.h"
#include "mutators/mutator.h"

namespace evo {

// Whether a kernel that is written out in this text stores the same as the product that was found, in both launches.
bool StoresTheSame(const MutationContext& context, int kernel, const ProductFinder& product, const std::string& text);

}  // namespace evo
