#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mutators/mutator.h"

namespace evo {

// The value of an expression of literals, parameters, macros and file-scope constants, under the present parameters. nullopt if
// it contains anything else, or depends on a size that is compiled in.
std::optional<std::int64_t> ConstantValue(const SyntaxTree& tree, std::string_view expression);

// The same for a real number: a literal, a macro or a file-scope constant that is one, or an infinity by its usual names.
std::optional<double> RealConstant(const SyntaxTree& tree, std::string_view text);

// The text of the number that a name stands for, as a macro or a file-scope constant; empty if it is none.
std::string_view LiteralBehind(const SyntaxTree& tree, std::string_view name);

// The text that a name stands for, as a macro without arguments that is defined once or as a file-scope constant; empty if it is
// neither.
std::string_view MeaningOf(const SyntaxTree& tree, std::string_view name);

// The parameters on which an expression depends, directly or through macros and constants, with their present values: those that
// an edit needs if it is right because of the expression's present value. All parameters if the expression contains a name that
// stands for none of these.
Parameters ParametersBehind(const MutationContext& context, std::string_view expression);

// Whether an expression depends on a macro of evo:size, directly or through macros and constants: it has another value in another
// case.
bool DependsOnSize(const SyntaxTree& tree, std::string_view expression);

// The size of a block in one dimension, spelled as a constant expression; empty if the size is known only at the launch.
std::string BlockExtent(const MutationContext& context, const LaunchDirective& launch, std::size_t axis);

// Expressions for the number of a thread within its block and for the number of threads in the block.
struct BlockThreads {
  std::string number;
  std::string count;
};
BlockThreads ThreadsOf(const MutationContext& context, const LaunchDirective& launch);

// The size in bytes of a scalar or vector type that CUDA moves as a unit; 0 for other types.
int SizeOf(std::string_view type);

}  // namespace evo
