#pragma once

#include <filesystem>
#include <string>

namespace evo {

// The text of a template with its parts in place. `#include "NAME.cuh"` stands for a file of the template's own folder, so that
// templates can share code and nvcc still compiles them as they are; what is returned has the file's text there, between two
// comment lines that name it, and is complete in itself. A part may include others. As with `#pragma once`, which parts begin
// with and which is left out, a part that is already there is not repeated. Throws UsageError, with file and line, for any other
// #include in quotes, for a part that cannot be read, and for parts that include each other in a circle.
std::string IncludeParts(const std::filesystem::path& file, const std::string& text);

}  // namespace evo
