#pragma once

#include <filesystem>

namespace evo {

// evo's folder for what can be made again: $XDG_CACHE_HOME/evo or ~/.cache/evo; empty if neither variable is set.
std::filesystem::path UserCacheFolder();

// The folder, created if need be and for its owner alone; empty if it cannot be created, or is another user's, who may have
// written what is in it.
std::filesystem::path OwnFolder(const std::filesystem::path& folder);

// Whether it is a file, and no link, of this user.
bool IsOwnFile(const std::filesystem::path& file);

// Removes from a folder what was not marked as used for 30 days.
void RemoveUnused(const std::filesystem::path& folder);
void MarkUsed(const std::filesystem::path& file);

}  // namespace evo
