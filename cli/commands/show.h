#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo show ID`: everything known of one candidate.
void AddShow(CLI::App& app, CommandContext& context);

}  // namespace evo
