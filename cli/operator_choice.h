#pragma once

#include <map>
#include <string>
#include <vector>

namespace evo {

// The weights of the mutators that a run may draw: those in `only` (all, if it is empty) that are not in `without`. Both hold
// names of mutators, `edits` (all that change source) or `parameters` (all that only set parameters). Throws UsageError for an
// unknown name, or if no mutator is left.
std::map<std::string, double> ChooseOperators(const std::vector<std::string>& only, const std::vector<std::string>& without);

}  // namespace evo
