#pragma once

#include <functional>
#include <string>

#include "db/history.h"

namespace evo {

// Renders a genome of a template into a complete .cu. Throws Error if that cannot be done.
using SourceRenderer = std::function<std::string(const TemplateText&, const Genome&)>;

// The source of a stored candidate. Throws Error if there is none.
using StoredRenderer = std::function<std::string(const RunRecord&, const CandidateRecord&)>;

// The source of a stored candidate, rendered again from its genome. Throws Error if its template is not stored, or if the digest
// of the source is not that of the evaluated source.
std::string RenderStored(const SourceRenderer& render, const RunRecord& run, const CandidateRecord& record);

}  // namespace evo
