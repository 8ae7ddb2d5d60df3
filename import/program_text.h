#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel_templates/template_parts.h"

namespace evo {

// A source with its local headers in the places of their #include lines.
struct ProgramText {
  std::string text;
  std::vector<TextOrigin> lines;     // of the text's lines, in order
  std::vector<std::string> missing;  // local headers that were not found, as written
};

// Reads a .cu and the local headers that it includes: beside the file that includes them, beside the .cu, and in `folders`. Each
// is read once. Throws UsageError for what is no text of a source: a missing file, a folder, a device, a file of more than 4 MiB,
// bytes that are no text.
ProgramText ReadProgramText(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders);

}  // namespace evo
