#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace evo {

// The page that scripts of report/page/ built, with the data of a report in it. The page is one file: its script and its style
// are in it, and its policy allows neither other scripts nor any request, except to the server of a page that is served.

// JSON for the inside of a <script> element of a page: whatever its texts are, it cannot end the element, begin a comment or be
// seen as anything but text. Text that is not UTF-8 is replaced.
std::string EmbeddedJson(const nlohmann::json& data);

// The page as a file of its own. Throws Error if `page` is not the page of this version.
std::string ReportDocument(std::string_view page, const nlohmann::json& data);

// The page as `evo serve` sends it: without data, allowed to ask its own server.
std::string ServedDocument(std::string_view page);

}  // namespace evo
