#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo mutators`: every mutator with what it does; with a database, the reward of each there, in all runs or in one.
void AddMutators(CLI::App& app, CommandContext& context);

}  // namespace evo
