#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo best`: the fastest kernel that was shown right; with --export, as a self-contained .cu.
void AddBest(CLI::App& app, CommandContext& context);

}  // namespace evo
