#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/genome.h"
#include "core/store.h"

namespace evo {

// Renders a genome of a template into a complete .cu. Throws Error if that cannot be done.
using SourceRenderer = std::function<std::string(const TemplateText&, const Genome&)>;

// What main gives the commands. Lives longer than the CLI::App they are added to.
struct CommandContext {
  std::string database = "evo.db";                  // where --db is not given
  std::FILE* out = stdout;                          // results; nothing else goes there
  std::function<SourceRenderer()> make_renderer;    // called only by a command that shows source: it starts a process
  std::vector<std::filesystem::path> task_folders;  // where tasks are looked for, in order
  std::stop_token interrupt;                        // Ctrl-C
  int exit_code = 0;                                // of a command that ended without an error
};

}  // namespace evo
