#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace evo::testing {

// One broken rule: "engine/evolution.cc:12: engine may not include evaluator (evaluator/scheduling/pipeline.h)".
using Violations = std::vector<std::string>;

// The arrows between the folders, by the #include lines of one file. `path` is relative to the project's root.
Violations ForbiddenIncludes(const std::string& path, std::string_view text);

// Printing, and ending the process, outside the places that talk to the user; in cli/, printing past the context's stream.
Violations Printing(const std::string& path, std::string_view text);

// Handlers that pass on the text of an exception that may be the JSON library's: core/json_error.h has the words for it.
Violations LibraryTexts(const std::string& path, std::string_view text);

// Every .h and .cc of ours under the root, relative to it and sorted; not build trees, not the headers that stand in for the
// toolkit's.
std::vector<std::string> SourceFiles(const std::filesystem::path& root);

}  // namespace evo::testing
