#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import/source_program.h"

namespace evo {

// The program's text with each host function that calls itself around launches written out level by level, on the lines that it
// has: scan calls scan_evo_level_1, and so on, and the last of them calls itself. So the launches of all levels stand
// one after another, with the buffers of their level, and the host's conditions say which are made. nullopt if no function is
// like that.
std::optional<std::string> WithLevels(const SourceProgram& program);

// Whether the parser has understood all that WithLevels wrote.
bool HasAllLevels(const SourceProgram& written);

// The level of a function that WithLevels wrote, 0 for the one that the program has itself; nullopt for others.
std::optional<int> LevelOf(const SourceProgram& program, int function);
// The name without its level.
std::string_view PlainName(std::string_view name);

}  // namespace evo
