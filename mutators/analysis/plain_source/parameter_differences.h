#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "mutators/analysis/plain_source/struct_parameters.h"
#include "mutators/mutator.h"

namespace evo {

// How what stands in front of the bodies of kernels differs from the source, by the kernel's name.
struct ParameterDifferences {
  FieldDeclarations fields;  // of structs, which are parameters of their own
  // Parameters more, as they follow the others, and what the launch line passes for them.
  std::map<std::string, std::pair<std::string, std::string>> added;
  std::set<std::string> free_blocks;  // whose `__launch_bounds__` are gone
};

// The parameters that kernels have in one source and not in an earlier one, as in ParameterDifferences::added.
std::map<std::string, std::pair<std::string, std::string>> AddedParameters(const SyntaxTree& earlier,
                                                                           const MutationContext& later);

}  // namespace evo
