#pragma once

#include <optional>
#include <string_view>

#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_node.h"
#include "mutators/analysis/thread_runs/thread_value.h"

namespace evo {

// A built-in type of several numbers, such as float4 or half2.
struct ThreadVectorType {
  std::string_view number;  // the type of each
  int count = 0;            // 0 for what is none
};
ThreadVectorType ThreadVectorTypeOf(std::string_view type);

// The bytes of a number or a vector, const or not; 0 for other types.
int ThreadBytesOf(std::string_view type);
// What a pointer points to, or the elements of an array are, without const; empty for other types.
std::string_view PointedThreadType(std::string_view type);

// The component of a vector that a member's name means; -1 if it is none.
int ThreadComponentOf(std::string_view member);

// What a function that makes or takes vectors makes of values; nullopt if it is not known.
std::optional<ThreadValue> VectorCalled(ThreadArithmetic& arithmetic, std::string_view callee, const ThreadArguments& arguments);

}  // namespace evo
