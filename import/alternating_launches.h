#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program's text with one launch and an exchange of two pointers, on the lines that it has, where a loop chooses between two
// launches that differ in the order of these pointers: `if (step % 2 == 0) k<<<..>>>(a, b); else k<<<..>>>(b, a);`, or by a flag
// that each iteration turns over. What comes behind must choose between them in the same way, or free both. nullopt if there is
// none.
std::optional<std::string> WithExchanges(const SourceProgram& program);

}  // namespace evo
