#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_launches.h"
#include "mutators/analysis/grid_runs/source_runs.h"

namespace evo {

// What is passed for parameters that a scale names; nullopt, with the reason, if that is not one for all launches.
std::optional<std::vector<AttentionOfLaunches::Passed>> PassedFor(const SyntaxTree& tree,
                                                                  const std::vector<SourceRuns::Link>& links,
                                                                  const std::string& scale, std::string& why);

}  // namespace evo
