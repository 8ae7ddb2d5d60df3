#pragma once

#include <string>

#include "kernel_templates/task.h"

namespace evo {

// Parses "normal", "normal(mean,deviation)", "uniform(low,high)", "constant(value)", "one_hot", "sparse(share)",
// "log_uniform(low,high)", "cauchy(scale)", "index<BOUND", "permutation", "offsets<BOUND". BOUND is an expression. Throws Error,
// which says what is wrong but neither file nor line.
Generator ParseGenerator(const std::string& text);

// The fewest characters that give the number again: "1e+09", "-inf".
std::string ShortestText(double number);
// The generator with all its numbers, "normal(0,1)" for "normal". ParseGenerator reads it as the same generator.
std::string ToText(const Generator& generator);

// Whether elements of this type can have values of this kind. Index, permutation and offsets give integers; a constant and
// one_hot fit every type; all others give real numbers.
bool Fits(Generator::Kind kind, Dtype dtype);

}  // namespace evo
