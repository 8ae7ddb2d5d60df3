#pragma once

#include <utility>
#include <vector>

#include "evaluator/workers/tools_side_by_side.h"

namespace evo {

// Without their times.
inline std::vector<ToolResult> Results(std::vector<ToolRun> runs) {
  std::vector<ToolResult> results;
  for (ToolRun& run : runs) results.push_back(std::move(run.result));
  return results;
}

}  // namespace evo
