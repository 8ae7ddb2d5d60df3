#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo tasks`: the tasks that evo finds, with their templates and cases.
void AddTasks(CLI::App& app, CommandContext& context);

}  // namespace evo
