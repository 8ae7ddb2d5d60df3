#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// A source with a matrix product that was found by what its launch leaves, as a kernel in which each thread adds up the products
// of one element.
struct ProductByResults {
  std::string text;
  bool in_order = false;  // whether it added up in the order of k, too; else only the real value is the same
};

// Found by running the kernel's launch on numbers and comparing what it leaves with products of what it reads, for several sizes,
// of which one is beyond all numbers of the code. It does not matter how threads share the work. nullopt if it leaves something
// else, with the reason if it leaves a product in some runs, or if its threads race.
std::optional<ProductByResults> FindProductByResults(const MutationContext& context, int kernel, std::string& why);

}  // namespace evo
