#pragma once

#include <optional>
#include <string>

namespace evo {

struct FileAccess;

// Restricts the calling thread, and what it starts, to these files by Landlock: also no TCP, no signals and no abstract sockets
// to processes outside, as far as the kernel has these. Precondition: no new privileges. Why it is not in force; nullopt if it
// is.
std::optional<std::string> RestrictFiles(const FileAccess& files);

}  // namespace evo
