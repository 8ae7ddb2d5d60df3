#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo diff A [B]`: the rendered sources of two candidates as a unified diff; of one, against its template at its defaults.
void AddDiff(CLI::App& app, CommandContext& context);

}  // namespace evo
