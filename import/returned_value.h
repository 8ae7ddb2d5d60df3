#pragma once

#include <optional>

#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// What a function of the host returns, as an expression of its parameters, where its statements are declarations and changes of
// numbers, choices between them, and loops that double or halve one: helpers such as div_up or next_power_of_two. nullopt if it
// does anything else.
std::optional<HostExpression> ReturnedValue(const SourceProgram& program, const ProgramFunction& function);

}  // namespace evo
