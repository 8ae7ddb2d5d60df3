#pragma once

#include <vector>

#include "import/source_program.h"

namespace evo {

// The parameters between the brackets of the `template <..>` with which a function begins, or which stands right before it.
std::vector<TemplateParameter> TemplateHeadOf(const SourceProgram& program, const SourceRange& function);

}  // namespace evo
