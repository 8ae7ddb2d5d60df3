#pragma once

#include <CLI/App.hpp>
#include <stop_token>

#include "cli/command_context.h"

namespace evo {

// `evo run`: evolves a task's kernels. After an interrupted run context.exit_code is 130.
void AddRun(CLI::App& app, CommandContext& context);

}  // namespace evo
