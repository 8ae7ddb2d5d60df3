#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace evo {

// Reads the bytes of a file; nullopt if it cannot be read.
std::optional<std::string> ReadTextFile(const std::filesystem::path& file);

// Reads the text of a source that a user names, without its byte order mark. Throws UsageError for what is none: a missing file,
// a folder, a device, an empty file, one of more than 4 MiB, bytes that are no text.
std::string ReadSourceFile(const std::filesystem::path& file);

}  // namespace evo
