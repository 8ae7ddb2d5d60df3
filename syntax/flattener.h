#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

struct CXTranslationUnitImpl;  // a type of libclang, whose header is not included here

namespace evo {

// Copies a translation unit into values, in source order. The root comes first. `text` begins `offset` bytes after the beginning
// of the main file `file`. A function template is one node, however often it is instantiated.
void Flatten(CXTranslationUnitImpl* unit, const std::string& file, const std::string& text, std::uint32_t offset,
             std::vector<SyntaxNode>& nodes);

// The error diagnostics as "line:column: message". In the main file, the first `lines_before` lines are not counted.
std::vector<std::string> ErrorsOf(CXTranslationUnitImpl* unit, const std::string& file, unsigned lines_before);

}  // namespace evo
