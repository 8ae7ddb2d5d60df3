#pragma once

#include <cstdint>
#include <string_view>

namespace evo {

// A function of one number that kernels call and that is computed in double precision. Those that convert compute nothing.
struct ThreadFunction {
  std::string_view name;
  double (*compute)(double) = nullptr;
  bool exponential = false;
  bool base_two = false;  // exponential
  bool rounds = false;    // to half or bfloat16
  bool converts = false;  // keeps the number as it is
};

// Null if no such function is known.
const ThreadFunction* ThreadFunctionNamed(std::string_view name);

// What a function of a header does to a thread.
struct ThreadCallee {
  enum class Kind : std::uint8_t {
    kUnknown,
    kFunction,  // of one number
    kAbsolute,
    kLargest,
    kSmallest,
    kDivide,
    kMultiply,
    kAdd,
    kFused,
    kLoad,
    kBitsOfFloat,
    kFloatOfBits,
    kNothing,  // what a thread sees: a fence, a message, a check
    kAtomicAdd,
    kAtomicSubtract,
    kAtomicMax,
    kAtomicMin,
    kAtomicExchange,
    kAtomicIncrement,
    kAtomicCompare,
    kBlockBarrier,
    kWarpBarrier,
    kShuffle,  // from a lane by its number
    kShuffleXor,
    kShuffleDown,
    kShuffleUp,
  };

  explicit ThreadCallee(std::string_view called);
  bool shuffles() const { return kind >= Kind::kShuffle; }
  bool is_atomic() const { return kind >= Kind::kAtomicAdd && kind <= Kind::kAtomicCompare; }

  std::string_view name;
  Kind kind = Kind::kUnknown;
  const ThreadFunction* function = nullptr;
};

}  // namespace evo
