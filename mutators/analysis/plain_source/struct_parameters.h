#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// By the name of a kernel, names and the declarations by which its body gets them from its parameters.
using FieldDeclarations = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

// The source with the fields of structs that kernels take by value as parameters of their own, also in its launch lines; nullopt
// if there are none. `declarations` gets those of these parameters.
std::optional<std::string> WithoutStructs(const MutationContext& context, FieldDeclarations& declarations);

}  // namespace evo
