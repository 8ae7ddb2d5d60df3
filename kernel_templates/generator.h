#pragma once

#include <string>

#include "kernel_templates/task.h"

namespace evo {

// Parses "normal", "normal(mean,deviation)", "uniform(low,high)", "constant(value)", "one_hot", "sparse(share)",
// "index<BOUND", "permutation", "offsets<BOUND". BOUND is an expression. Throws Error, which says what is
// wrong but neither file nor line.
Generator ParseGenerator(const std::string& text);

// Whether elements of this type can have values of this kind. Index, permutation and offsets give integers; normal, uniform and
// sparse give real numbers; a constant and one_hot fit every type.
bool Fits(Generator::Kind kind, Dtype dtype);

}  // namespace evo
