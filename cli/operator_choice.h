#pragma once

#include <map>
#include <string>
#include <vector>

namespace evo {

// The weights of the mutators that a run may draw: those in `only` (all, if it is empty) that are not in `without` and, with
// `proven_only`, that promise something. Both lists hold names of mutators, `edits` (all that change source) or `parameters` (all
// that only set parameters). A mutator that `only` names has its own weight, also if it is unproven. Throws UsageError for an
// unknown name, for an unproven mutator that `only` names although `proven_only` is set, or if no mutator is left to draw.
std::map<std::string, double> ChooseOperators(const std::vector<std::string>& only, const std::vector<std::string>& without,
                                              bool proven_only = false);

// Removes the mutators whose children cannot be compiled for an architecture. Throws UsageError if no other can be drawn.
void LeaveOutForeign(std::map<std::string, double>& operators, const std::string& arch);

// Whether none of these mutators changes source.
bool SetOnlyParameters(const std::map<std::string, double>& operators);

}  // namespace evo
