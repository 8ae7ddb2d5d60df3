#pragma once

#include <string>
#include <vector>

#include "tests/mutators/mutating.h"

namespace evo {

// A kernel `k` with the given body and the parameters that most bodies use.
inline std::string PlainKernel(const std::string& body,
                               const std::string& parameters = "const float* in, float* out, int n, float scale") {
  return "// evo:launch k(A, B, N, S) grid(1) block(128)\n__global__ void k(" + parameters + ") {\n" + body + "}\n";
}

// The bodies that a mutator makes from the body of a plain kernel.
inline std::vector<std::string> Bodies(const std::string& mutator, const std::string& body) {
  std::vector<std::string> bodies;
  for (const std::string& child : ChildrenOf(mutator, PlainKernel(body))) {
    const std::size_t begin = child.find(") {\n", child.find("__global__")) + 4;
    bodies.push_back(child.substr(begin, child.rfind('}') - begin));
  }
  return bodies;
}

}  // namespace evo
