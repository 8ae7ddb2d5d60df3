#pragma once

#include <string>

#include "kernel_templates/task.h"

namespace evo {

// Understands "normal", "normal(mean,deviation)", "uniform(low,high)", "constant(value)", "one_hot", "sparse(share)",
// "index<BOUND", "permutation", "offsets<BOUND". BOUND is an expression. Throws Error: what is wrong, without file or place.
Generator ParseGenerator(const std::string& text);

// Whether values of that kind can be elements of the type: index, permutation and offsets are integers; normal, uniform and
// sparse are real.
bool Fits(Generator::Kind kind, Dtype dtype);

}  // namespace evo
