#include "mutators/parallelism/convolutions/convolution_names.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <string_view>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Names of the texts that the source may have already, and get a number behind them then.
constexpr std::array kConvolutionNames{
    "kWarps"sv,    "kThreads"sv,     "kWarpM"sv,       "kWarpN"sv, "kPairs"sv, "kRows"sv,   "kRow"sv,   "tiles"sv,   "tile_f"sv,
    "tile_x"sv,    "warp"sv,         "lane"sv,         "own_m"sv,  "own_n"sv,  "filters"sv, "pixels"sv, "taps"sv,    "products"sv,
    "blocks_m"sv,  "first"sv,        "first_image"sv,  "start"sv,  "count"sv,  "n"sv,       "image"sv,  "first_m"sv, "from_x"sv,
    "place"sv,     "wanted"sv,       "plane"sv,        "top"sv,    "left"sv,   "pixel"sv,   "at_y"sv,   "within"sv,  "at_x"sv,
    "inside"sv,    "sums"sv,         "steps"sv,        "step"sv,   "next"sv,   "values"sv,  "round"sv,  "t"sv,       "row"sv,
    "k"sv,         "filter"sv,       "channel"sv,      "tap"sv,    "line"sv,   "lines"sv,   "away"sv,   "from"sv,    "describe"sv,
    "tile"sv,      "part_k"sv,       "part_m"sv,       "part_n"sv, "i"sv,      "j"sv,       "e"sv,      "p"sv,       "r"sv,
    "own"sv,       "source"sv,       "down"sv,         "along"sv,  "slot"sv,   "value"sv,   "end"sv,    "kAlongM"sv, "kAlongN"sv,
    "kColumns"sv,  "high_m"sv,       "low_m"sv,        "high_n"sv, "low_n"sv,  "eight"sv,   "part"sv,   "total"sv,   "group"sv,
    "of_image"sv,  "of_group"sv,     "group_blocks"sv, "end_m"sv,  "at_z"sv,   "front"sv,   "inward"sv, "weights"sv, "weight"sv,
    "tile_rows"sv, "tile_columns"sv, "blocks_n"sv,     "first_n"sv};

// The text with another name in the place of this one, but in lines of comments.
std::string WithOtherNameInCode(const std::string& text, std::string_view name, const std::string& other) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    result += line.find_first_not_of(' ') == line.find("//") ? line : WithOtherName(line, name, other);
    at = end;
  }
  return result;
}

}  // namespace

std::string WithSumsOf(std::string text, const std::string& element) {
  if (element != "int") return text;
  text = WithOtherName(text, "float", "int");
  boost::replace_all(text, "0.0f", "0");
  return text;
}

std::string WithFreeNames(std::string text, const std::string& kept) {
  for (const std::string_view name : kConvolutionNames) {
    const std::string unused = UnusedName(kept, std::string(name));
    if (unused != name) text = WithOtherNameInCode(text, name, unused);
  }
  return text;
}

}  // namespace evo
