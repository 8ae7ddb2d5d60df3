#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo study`: searches a landscape of parameters that was measured point by point, and says how soon the best was found. Needs
// no device.
void AddStudy(CLI::App& app, CommandContext& context);

}  // namespace evo
