#include "story/unified_diff.h"

#include <fmt/format.h>

#include <dtl/dtl.hpp>
#include <sstream>
#include <vector>

namespace evo {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string UnifiedDiff(const std::string& from_name, const std::string& from, const std::string& to_name,
                        const std::string& to) {
  dtl::Diff<std::string> diff(Lines(from), Lines(to));
  diff.onHuge();
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream hunks;
  diff.printUnifiedFormat(hunks);
  const std::string text = hunks.str();
  return text.empty() ? "" : fmt::format("--- {}\n+++ {}\n{}", from_name, to_name, text);
}

}  // namespace evo
