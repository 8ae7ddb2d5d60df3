#pragma once

#include <string>
#include <vector>

#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// A bound to which the host sets a variable that is beyond it: `if (n > most) n = most`, `n = min(n, most)`, or
// `n = n > most ? most : n`.
struct ValueClamp {
  std::string function;  // "min" or "max" of the variable and the bound
  HostExpression bound;  // as the host spells it
  SourceRange place;
};
// Those of a variable of a function, if nothing else is assigned to it behind `first`, its first value. `assigned`: the values
// that are assigned to it, in order.
std::vector<ValueClamp> ClampsOf(const SourceProgram& program, const ProgramVariable& variable,
                                 const std::vector<SourceRange>& assigned, const SourceRange& first);

}  // namespace evo
