#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace evo {

// Reads the bytes of a file; nullopt if it cannot be read.
std::optional<std::string> ReadTextFile(const std::filesystem::path& file);

}  // namespace evo
