#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel_templates/template_parts.h"

namespace evo {

// A source with its local headers in the places of their #include lines. One that is not found is included as <NAME>.
struct ProgramText {
  std::string text;
  std::vector<TextOrigin> lines;  // of the text's lines, in order
};

// Reads a .cu and the local headers that it includes: beside the file that includes them, beside the .cu, and in `folders`. One
// in <> is local if it lies in `folders`. Each is read once. Throws UsageError for what is no text of a source: a missing file, a
// folder, a device, a file of more than 4 MiB, bytes that are no text.
ProgramText ReadProgramText(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders);

}  // namespace evo
