#pragma once

#include <string>

#include "core/genome.h"
#include "syntax/token.h"

namespace evo {

// Those of `parameters` that decide, by name or through macros, what code the preprocessor removes from a text. The tree, and
// thus where an edit finds its anchors and what a mutator sees, depends on their values. The parameters' own guards (#ifndef) are
// not counted.
Parameters DecidingParameters(const std::string& text, const Parameters& parameters);
// The same for what is removed from a part of the text only.
Parameters DecidingParameters(const std::string& text, const Parameters& parameters, const SourceRange& part);

}  // namespace evo
