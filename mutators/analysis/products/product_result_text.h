#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/products/product_guess.h"
#include "mutators/mutator.h"

namespace evo {

// The source with a kernel whose threads compute one element each of a product that it was found to be. Numbers that it
// does not know become parameters. nullopt, with the reason, if it computes a function that is not known for its type.
std::optional<std::string> TextOfProduct(const MutationContext& context, int kernel, const LaunchDirective& launch,
                                         const ProductGuess& guess, std::string& why);

}  // namespace evo
