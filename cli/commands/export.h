#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo export --csv|--json`: every candidate of a run, for other programs.
void AddExport(CLI::App& app, CommandContext& context);

}  // namespace evo
