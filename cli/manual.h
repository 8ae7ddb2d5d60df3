#pragma once

#include <CLI/App.hpp>
#include <string>

namespace evo {

// Texts about the program and its commands, made from the same descriptions as --help.

// A page for man(1), in roff: of `command`, or of the whole program with a list of its commands if it is `app` itself.
std::string ManualPage(const CLI::App& app, const CLI::App& command, const std::string& version);

// Scripts that complete commands, flags and, where a flag has few values, those; files elsewhere.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);

}  // namespace evo
