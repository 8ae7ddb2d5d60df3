#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

struct CXTranslationUnitImpl;  // libclang's; its header stays out of ours

namespace evo {

// Copies a translation unit into values, in source order; the root comes first. `text` stands `offset` bytes behind the beginning
// of the main file `file`. A function template is one node, whatever it is instantiated with.
void Flatten(CXTranslationUnitImpl* unit, const std::string& file, const std::string& text, std::uint32_t offset,
             std::vector<SyntaxNode>& nodes);

// Error diagnostics, "line:column: message"; lines of the main file count from behind the first `lines_before`.
std::vector<std::string> ErrorsOf(CXTranslationUnitImpl* unit, const std::string& file, unsigned lines_before);

}  // namespace evo
