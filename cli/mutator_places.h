#pragma once

#include <string>

#include "cli/command_context.h"

namespace evo {

// Prints for every template of a task, named or given as a folder, how many places each mutator has in it at its defaults, and
// why a mutator has none where that is not plain. Sources are read in breed workers. Throws UsageError.
void PrintMutatorPlaces(const std::string& task, bool json, const CommandContext& context);

}  // namespace evo
