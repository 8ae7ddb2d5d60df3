#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace evo {

// Text of a template or of a reference. A file may be a variant of another: comments, `#define NAME integer` lines and one
// `#include "FILE.cu"` whose path is relative to it, and nothing else, so that nvcc compiles it as it stands. What is returned
// then is the text of FILE with each NAME fixed: its `#ifndef NAME / #define NAME value / #endif` block has the new value, and if
// it is a parameter, the value is its only one. FILE may be a variant itself. nullopt if `file` cannot be read. Throws
// UsageError: a NAME that FILE does not define in such a block, a missing FILE, a line of another kind behind the #include of a
// .cu file, variants in a circle.
std::optional<std::string> ReadTemplateText(const std::filesystem::path& file);

}  // namespace evo
