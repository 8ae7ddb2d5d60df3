#pragma once

#include <cstddef>

#include "import/source_program.h"

namespace evo {

// One past the last token of the statement that begins at a token.
std::size_t EndOfStatement(const SourceProgram& program, std::size_t at, int depth = 0);
// The text from the first token to the one before the end; empty if there is none.
SourceRange RangeOfTokens(const SourceProgram& program, std::size_t first, std::size_t end);

}  // namespace evo
