#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mutators/mutator.h"

namespace evo {

// The value of an expression of numbers, parameters, macros and constants of the file, under the present parameters; nullopt if
// it is made of anything else.
std::optional<std::int64_t> ConstantValue(const SyntaxTree& tree, std::string_view expression);

// The size of a block in one dimension, as code can spell it where constants are needed; empty if that is not known before the
// launch.
std::string BlockExtent(const MutationContext& context, const LaunchDirective& launch, std::size_t axis);

// How a thread is numbered in its block, and how many there are.
struct BlockThreads {
  std::string number;
  std::string count;
};
BlockThreads ThreadsOf(const MutationContext& context, const LaunchDirective& launch);

// Bytes of a value of a type that CUDA moves as one; 0 if it is none.
int SizeOf(std::string_view type);

}  // namespace evo
