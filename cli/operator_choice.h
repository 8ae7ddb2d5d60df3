#pragma once

#include <map>
#include <string>
#include <vector>

namespace evo {

// The weights of the mutators that a run may draw. `only` and `without` name mutators; `edits` stands for all that change source,
// `parameters` for those that set parameters and nothing else; an empty `only` for all. Throws UsageError for a name that is
// neither, or if nothing is left.
std::map<std::string, double> ChooseOperators(const std::vector<std::string>& only, const std::vector<std::string>& without);

}  // namespace evo
