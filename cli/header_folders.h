#pragma once

#include <CLI/CLI.hpp>

#include "kernel_templates/template_parts.h"

namespace evo {

// Adds --include, which several commands have. Folders that do not exist are a UsageError.
CLI::Option* AddHeaderFolders(CLI::App& command, HeaderFolders& folders);

}  // namespace evo
