#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo history`: what happened generation by generation and operator by operator; --runs lists the runs, --timing sums the
// stages' clocks.
void AddHistory(CLI::App& app, CommandContext& context);

}  // namespace evo
