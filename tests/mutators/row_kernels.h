#pragma once

#include <string>

#include "tests/mutators/mutating.h"

namespace evo {

inline constexpr const char* kRowLaunch =
    "// evo:param B 64 128\n// evo:launch k(A, O, N, M) grid(ceil_div(N, B)) block(B)\n#ifndef B\n#define B 128\n#endif\n";

// A kernel each of whose threads works on one row.
inline std::string Rows(const std::string& body, const std::string& launch = kRowLaunch, const std::string& before = "") {
  return launch + before +
         "__global__ void k(const float* in, float* out, int n, int m) {\n  const int row = blockIdx.x * B + threadIdx.x;\n" +
         "  if (row >= n) return;\n" + body + "}\n";
}

}  // namespace evo
