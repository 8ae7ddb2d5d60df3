#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kernel_templates/template_parts.h"

namespace evo {

// Reads a template or a reference, with its local headers in place (template_parts.h). A file may be a variant of another:
// it then has comments, `#define NAME integer` lines and one `#include "FILE.cu"` with a path relative to it, and nothing else,
// so that nvcc compiles it as it is. The result is then the text of FILE with each NAME fixed: its
// `#ifndef NAME / #define NAME value / #endif` block has the new value, and if NAME is a parameter, this value is its only one.
// FILE may be a variant itself. Returns nullopt if `file` cannot be read. Throws UsageError for a NAME that FILE does not define
// in such a block, for a missing FILE, for a line of another kind, and for variants that include each other in a circle.
std::optional<SourceText> ReadTemplate(const std::filesystem::path& file, const HeaderFolders& folders = {});

// Only the text.
std::optional<std::string> ReadTemplateText(const std::filesystem::path& file, const HeaderFolders& folders = {});

}  // namespace evo
