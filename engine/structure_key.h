#pragma once

#include <span>
#include <string>

#include "core/genome.h"
#include "engine/operator_selection.h"

namespace evo {

// The structure of a kernel: its template and the names of its restructuring edits, of which `selection` knows.
std::string StructureKey(const std::string& template_digest, std::span<const Edit> edits, const OperatorSelection& selection);

}  // namespace evo
