#include "core/occupancy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace evo {
namespace {

constexpr int kThreadsOfWarp = 32;
// Registers are given to a warp in units of so many, and to each of the four schedulers as many warps.
constexpr int kRegisterUnit = 256;
constexpr int kSchedulers = 4;
// Of each block's shared memory the system keeps so many bytes for itself, since sm_80.
constexpr int kReservedSharedBytes = 1024;
constexpr int kSharedUnit = 128;
constexpr int kKibibyte = 1024;

constexpr auto kLimits = std::to_array<std::pair<int, MultiprocessorLimits>>({
    {75, {32, 16, 64 * kKibibyte}},
    {80, {64, 32, 164 * kKibibyte}},
    {86, {48, 16, 100 * kKibibyte}},
    {87, {48, 16, 164 * kKibibyte}},
    {89, {48, 24, 100 * kKibibyte}},
    {90, {64, 32, 228 * kKibibyte}},
    {100, {64, 32, 228 * kKibibyte}},
    {103, {64, 32, 228 * kKibibyte}},
    {120, {48, 24, 100 * kKibibyte}},
});

int RoundUp(int value, int unit) { return (value + unit - 1) / unit * unit; }

// Takes "4x2x1" after `before` out of `text`; nullopt where there is none.
std::optional<double> ExtentAfter(std::string_view text, std::string_view before) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  const char* at = text.data() + found + before.size();
  const char* const end = text.data() + text.size();
  double product = 1;
  for (int dimension = 0; dimension < 3; ++dimension) {
    std::uint32_t extent = 0;
    const auto [next, failed] = std::from_chars(at, end, extent);
    if (failed != std::errc()) return std::nullopt;
    product *= extent;
    at = next != end && *next == 'x' ? next + 1 : next;
  }
  return product;
}

}  // namespace

MultiprocessorLimits LimitsOf(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (!arch.starts_with(kPrefix)) return {};
  std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), number);
  const auto row = std::find_if(kLimits.begin(), kLimits.end(), [&](const auto& r) { return r.first == number; });
  return row == kLimits.end() ? MultiprocessorLimits{} : row->second;
}

std::vector<DescribedLaunch> LaunchesOf(std::string_view described) {
  std::vector<DescribedLaunch> launches;
  while (!described.empty()) {
    const std::size_t end = std::min(described.find("; "), described.size());
    const std::string_view step = described.substr(0, end);
    described.remove_prefix(std::min(end + 2, described.size()));
    const auto grid = ExtentAfter(step, " grid ");
    const auto block = ExtentAfter(step, " block ");
    if (grid && block) launches.push_back({*grid, static_cast<int>(*block)});
  }
  return launches;
}

OccupancyLimit LimitOf(const KernelFacts& facts, int threads, const MultiprocessorLimits& limits) {
  if (threads <= 0 || limits.warps == 0) return {};
  const int warps = (threads + kThreadsOfWarp - 1) / kThreadsOfWarp;
  OccupancyLimit limit{limits.warps / warps, "block size"};
  const auto lower = [&](int blocks, const char* by) {
    if (blocks < limit.blocks) limit = {blocks, by};
  };
  lower(limits.blocks, "number of blocks");
  if (facts.registers > 0) {
    const int of_warp = RoundUp(facts.registers * kThreadsOfWarp, kRegisterUnit);
    lower(limits.registers / of_warp / kSchedulers * kSchedulers / warps, "registers");
  }
  const int shared = std::max(0, facts.static_shared_bytes) + std::max(0, facts.dynamic_shared_bytes);
  lower(limits.shared_bytes / RoundUp(shared + kReservedSharedBytes, kSharedUnit), "shared memory");
  limit.full = limit.blocks * warps >= limits.warps;
  return limit;
}

}  // namespace evo
