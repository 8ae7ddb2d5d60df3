#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/host_expression.h"
#include "import/host_leaves.h"
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

// The value within the bounds that are known. `bound_of`: what a bound is where it stands.
HostExpression WithClamps(HostExpression value, const std::vector<ValueClamp>& clamps,
                          const std::function<HostExpression(const ValueClamp&)>& bound_of);
// Whether another size bounds a size, `if (pitch < width) pitch = width`, and not a number.
bool NamesSize(const std::map<std::string, HostLeaf>& leaves, const HostExpression& bound);

}  // namespace evo
