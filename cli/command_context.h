#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "story/rendering.h"

namespace evo {

// What main gives the commands. Outlives the CLI::App that they are added to.
struct CommandContext {
  std::string database = "evo.db";                  // unless --db is given
  std::FILE* out = stdout;                          // for results only
  std::FILE* messages = stderr;                     // for progress and warnings
  std::function<SourceRenderer()> make_renderer;    // starts a process: call it only to show source
  std::function<void()> open_scratch_folder;        // call it before workers are started
  std::vector<std::filesystem::path> task_folders;  // where tasks are looked for, in order
  std::stop_token interrupt;                        // Ctrl-C
  std::vector<std::string> arguments;               // of the program, as they were given
  int exit_code = 0;                                // of the program, if the command ends without an error
};

}  // namespace evo
