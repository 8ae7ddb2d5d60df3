#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace evo {

// Throws UsageError if there is something of this name.
void RefuseExisting(const std::filesystem::path& folder);

// Writes the files of a task into a new folder, which appears whole or not at all. Returns why the task does not load; empty if
// it does. Throws Error if the folder cannot be written.
std::string WriteImportedTask(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

}  // namespace evo
