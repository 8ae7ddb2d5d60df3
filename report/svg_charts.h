#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace evo {

// The charts of a report alone, below each other, as one SVG: best so far over evaluations and over seconds, and the cloud of
// candidates. `data` is ReportData(). Texts are escaped; there is no script and no reference to anything outside.
std::string SvgCharts(const nlohmann::json& data);

}  // namespace evo
