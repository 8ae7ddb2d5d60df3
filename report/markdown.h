#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace evo {

// The champion's story as Markdown, for a pull request: figures, steps, evidence, and the difference from the baseline. `data` is
// ReportData(). Texts of the database cannot leave their place: a table's cell, or a block of code.
std::string StoryMarkdown(const nlohmann::json& data, const std::string& difference);

// A text as the content of a table's cell or of a line.
std::string MarkdownText(std::string_view text);

}  // namespace evo
