#pragma once

#include <optional>
#include <vector>

#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// `condition ? a : b` for a variable that `if (condition) x = a; else x = b;` sets, where nothing else does but a declaration
// with zero. `assigned`: the values that are assigned to it, in order. nullopt for other variables.
struct BranchValue {
  HostExpression value;  // as the host spells it
  SourceRange place;     // of the first of the two values
};
std::optional<BranchValue> ValueOfBranches(const SourceProgram& program, const ProgramVariable& variable,
                                           const std::vector<SourceRange>& assigned);

}  // namespace evo
