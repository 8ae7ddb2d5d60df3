#pragma once

#include <CLI/App.hpp>

#include "cli/command_context.h"

namespace evo {

// `evo lineage ID`: the way from a template to a candidate, edit by edit.
void AddLineage(CLI::App& app, CommandContext& context);

}  // namespace evo
