#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo verify [ID]`: all checks of a would-be champion on a stored candidate, with the verdict into the database.
void AddVerify(CLI::App& app, CommandContext& context);

}  // namespace evo
