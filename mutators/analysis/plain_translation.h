#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "mutators/analysis/struct_parameters.h"
#include "mutators/mutator.h"

namespace evo {

// How the parameters of kernels differ from those of the source, by the kernel's name.
struct ParameterDifferences {
  FieldDeclarations fields;  // of structs, which are parameters of their own
  // A parameter more, as it follows the others, and what the launch line passes for it.
  std::map<std::string, std::pair<std::string, std::string>> added;
};

// The parameters that kernels have in one source and not in an earlier one, as in ParameterDifferences::added.
std::map<std::string, std::pair<std::string, std::string>> AddedParameters(const SyntaxTree& earlier,
                                                                           const MutationContext& later);

// A change of a source that is written out as one of the source itself: whole bodies of functions. nullopt for a change in what
// stands in front of a body, which may be spelled by macros.
std::optional<Proposal> InSource(const Proposal& proposal, const MutationContext& source, const MutationContext& plain,
                                 const ParameterDifferences& differences);

}  // namespace evo
