// What PartialResults knows of values that the threads of a warp or of a block get together.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mutators/analysis/block_runs/partial_results.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

constexpr char kVotes[] = "votes";  // of conditions, which are not counted yet

}  // namespace

// All lanes of a group that take part get the combination of all of them.
Partials PartialResults::Reduced(const Partials& values, std::string_view combine, std::size_t group, const LaneMask& mask) {
  const std::uint32_t bit = texts_.combines.BitOf(combine);
  Partials reduced(lanes_);
  for (std::size_t first = 0; first < lanes_; first += group) {
    std::optional<Partial> all;
    const std::size_t end = std::min(lanes_, first + group);
    for (std::size_t lane = first; lane < end; ++lane) {
      if (mask[lane]) all = all ? Together(*all, values[lane], bit, refusal_) : AlsoCombined(values[lane], combine);
    }
    for (std::size_t lane = first; lane < end; ++lane) {
      if (mask[lane]) reduced[lane] = *all;
    }
  }
  return reduced;
}

// `__syncthreads_count(c)`, `__ballot_sync(mask, c)`, `__reduce_add_sync(mask, x)` and the like.
Partials PartialResults::Voted(int call, std::string_view callee, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  const bool block = callee == "__syncthreads_count";
  if (parts.size() != (block ? 2u : 3u)) return Refuse(fmt::format("{} is not understood", Quoted(tree_, call)));
  const Partials values = Evaluate(parts.back(), mask);
  if (callee.starts_with("__reduce_")) {
    const std::string_view which = callee.substr(9, callee.find("_sync") - 9);
    return Reduced(values,
                   which == "add"   ? "+"
                   : which == "and" ? "&"
                   : which == "or"  ? "|"
                   : which == "xor" ? "^"
                                    : which,
                   kWarpLanes, mask);
  }
  for (std::size_t lane = 0; lane < lanes_ && !refusal_.given(); ++lane) {
    if (mask[lane] && (values[lane].count > 1 || values[lane].combines != 0 || !IsCount(values[lane])))
      return Refuse(fmt::format("{} does not count conditions", Quoted(tree_, call)));
  }
  if (block) {
    if (!flow_.IsWholeBlock(mask)) return Refuse("not all threads of a block reach a barrier together");
    shared_.PassBarrier();
  }
  return Reduced(values, block ? "+" : kVotes, block ? lanes_ : kWarpLanes, mask);
}

// `__popc(votes)`, of which nothing else can be done.
Partials PartialResults::CountedVotes(int call, const LaneMask& mask) {
  Partials values = Evaluate(tree_.node(call).children[1], mask);
  const std::uint32_t votes = texts_.combines.BitOf(kVotes), sum = texts_.combines.BitOf("+");
  for (std::size_t lane = 0; lane < lanes_ && !refusal_.given(); ++lane) {
    if (!mask[lane]) continue;
    if (values[lane].combines != votes) return Refuse(fmt::format("{} does not count conditions", Quoted(tree_, call)));
    values[lane].combines = sum;
    values[lane].types = 0;
  }
  return values;
}

}  // namespace evo
