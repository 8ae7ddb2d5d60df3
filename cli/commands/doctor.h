#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo doctor`: what evo found on this machine, what is missing and how to get it. Exit code 1 if something it cannot do without
// is missing.
void AddDoctor(CLI::App& app, CommandContext& context);

}  // namespace evo
