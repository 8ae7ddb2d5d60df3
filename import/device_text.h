#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/source_program.h"

namespace evo {

// What is left of a program when the host's part is taken out.
struct DeviceText {
  std::vector<std::string> includes;  // "<cuda_fp16.h>", each once
  std::string heading;                // the comment at the top of the file
  std::string code;                   // as in the program, comments included, without #include lines
  std::vector<std::string> dropped;   // headers that were left out: "<iostream>"
  std::set<std::string> constants;    // __constant__ variables that are left
  std::set<std::string> globals;      // __device__ variables that are left
  std::set<std::string> words;        // every identifier in it
};

// The kernels with everything that they need: helpers, types, constants, macros, aliases, each with the comment before it.
// `types`: that launches pass to templates. `moved`: macros and constants of the file whose definitions are written elsewhere and
// left out here.
DeviceText DeviceTextOf(const SourceProgram& program, const std::set<std::string>& kernels, const std::set<std::string>& types,
                        const std::set<std::string>& moved);

}  // namespace evo
