#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

// Where a line of a text comes from.
struct TextOrigin {
  std::string file;
  int line = 1;
};

// A source with its local headers in the places of their #include lines.
struct SourceText {
  std::string text;
  std::vector<TextOrigin> lines;  // of the text's lines, in order
};

// Folders in which local headers are looked for, as those of nvcc's -I.
using HeaderFolders = std::vector<std::filesystem::path>;

// A template or reference that is complete in itself. `#include "NAME"` stands for a header where nvcc would find it: beside the
// file with this line, else in the first of `folders` that has it. Its text takes the place of the line, between two comment
// lines that name it, so that nvcc still compiles the files as they are. A header with `#pragma once`, or with an include guard
// around it, is there once, without these lines. A header of the toolkit in quotes is written as <NAME> instead. Throws
// UsageError, with file and line, for a header that is not found or cannot be read, for a .cu file, and for headers without a
// guard that include each other in a circle.
SourceText IncludeHeaders(const std::filesystem::path& file, const std::string& text, const HeaderFolders& folders = {});

}  // namespace evo
