#pragma once

#include <clang-c/Index.h>

#include <cstdint>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Copies a string of libclang's and gives it back.
std::string Take(CXString string);

// Copies a translation unit into values, in source order; the root comes first. `text` stands `offset` bytes behind the beginning
// of the main file `file`. A function template is one node, whatever it is instantiated with.
void Flatten(CXTranslationUnit unit, const std::string& file, const std::string& text, std::uint32_t offset,
             std::vector<SyntaxNode>& nodes);

}  // namespace evo
