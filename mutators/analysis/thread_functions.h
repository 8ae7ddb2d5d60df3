#pragma once

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

}  // namespace evo
