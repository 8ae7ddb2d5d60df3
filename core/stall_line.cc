#include "core/stall_line.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace evo {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr double kLeastShare = 0.02;
constexpr std::size_t kMostCode = 160;
// What a warp that issues an instruction, or could, is said to wait for.
constexpr const char* kNothing = "nothing: it issues instructions";

struct StallName {
  std::string_view reason;
  std::string_view words;
};
constexpr auto kStalls = std::to_array<StallName>({
    {"long_scoreboard", "global memory"},
    {"short_scoreboard", "shared memory or special functions"},
    {"barrier", "barriers"},
    {"math_pipe_throttle", "a busy arithmetic pipe"},
    {"mio_throttle", "the queue to shared memory"},
    {"lg_throttle", "the queue to global memory"},
    {"tex_throttle", "the queue to textures"},
    {"wait", "the instruction before"},
    {"membar", "a memory fence"},
    {"gmma", "tensor cores"},
    {"sleeping", "sleep"},
    {"branch_resolving", "a branch"},
    {"no_instruction", "instructions to arrive"},
    {"no_inst", "instructions to arrive"},
    {"imc_miss", "constants to arrive"},
    {"dispatch_stall", "dispatch"},
    {"drain", "stores at the end"},
    {"selected", kNothing},
    {"not_selected", kNothing},
});

std::string CodeOf(std::string_view source, int line) {
  for (int at = 1; at < line; ++at) {
    const std::size_t end = source.find('\n');
    if (end == std::string_view::npos) return "";
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  const std::size_t first = source.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(source.substr(first, kMostCode));
}

}  // namespace

std::string_view DescribeStall(std::string_view reason) {
  const auto found = std::find_if(kStalls.begin(), kStalls.end(), [&](const StallName& one) { return one.reason == reason; });
  return found == kStalls.end() ? reason : found->words;
}

std::vector<StallLine> StallLines(const std::vector<StallSample>& samples, std::string_view source) {
  std::map<int, std::map<std::string_view, std::uint64_t>> by_line;
  double all = 0;
  for (const StallSample& one : samples) {
    all += static_cast<double>(one.samples);
    if (one.line > 0 && one.samples > 0) by_line[one.line][DescribeStall(one.reason)] += one.samples;
  }
  std::vector<StallLine> lines;
  for (const auto& [line, waits] : by_line) {
    double here = 0;
    std::pair<std::string_view, std::uint64_t> most;
    for (const auto& [wait, count] : waits) {
      here += static_cast<double>(count);
      if (count > most.second) most = {wait, count};
    }
    if (here / all >= kLeastShare) lines.push_back({line, here / all, std::string(most.first), CodeOf(source, line)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const StallLine& a, const StallLine& b) { return a.share > b.share; });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  return lines;
}

}  // namespace evo
