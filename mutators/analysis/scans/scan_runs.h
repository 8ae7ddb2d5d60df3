#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/scans/prefix_scan.h"

namespace evo {

// Finds out by running a source whether it computes prefix sums: of how many elements, of which array into which.
class ScanRuns {
 public:
  // `found` has the sizes' names, and gets the arrays and what is known of them. The arguments outlive the object.
  ScanRuns(const MutationContext& context, const std::vector<const LaunchDirective*>& launches, PrefixScan& found)
      : launches_(launches), present_(context.genome.parameters), found_(found), run_(context) {}

  // Whether it does so for this number of elements. Where a block takes a ticket, also with tickets in another order.
  bool IsScan(const Parameters& parameters, std::int64_t elements);
  // Why it did not, and whether only because it left elements of the output without a value.
  const std::string& why() const { return why_; }
  bool left_elements() const { return left_elements_; }
  bool took_too_long() const { return why_ == kGridRunTooLong; }
  bool was_outside() const { return why_.starts_with("it reads or writes outside"); }
  // The largest number between these, of which the first is right and the second is not, times so many elements.
  std::int64_t MostBetween(const Parameters& parameters, std::int64_t right, std::int64_t wrong, std::int64_t times = 1);
  // Threads of the largest block.
  std::int64_t ThreadsOf(const Parameters& parameters) const;
  // The fewest elements for which each launch has a block.
  std::int64_t LeastOf(const Parameters& parameters) const;

  // Numbers of elements to try: one, a block and one, some blocks and a part of one, more; tiles of no more than so many.
  std::vector<std::int64_t> Elements(const Parameters& parameters, std::int64_t most, std::int64_t most_of_tiles) const;
  // Elements for more blocks than a block has threads, in more than two rounds; whether they are not too many.
  std::int64_t RoundsOf(const Parameters& parameters) const;
  bool HasRounds(const Parameters& parameters, std::int64_t most) const { return RoundsOf(parameters) <= most; }
  // Elements of a block, where more of them mean more blocks; else all that a single block is tried with.
  std::int64_t TileOf(const Parameters& parameters) const;
  // Macros and constants whose values were used.
  const std::set<std::string>& names() const { return names_; }

 private:
  bool Refuse(std::string why);
  Variables VariablesOf(const Parameters& parameters, std::int64_t elements) const;
  bool IsScanIn(const GridSetting& setting, bool& has_tickets);
  bool IsScanOf(const GridTrace& trace, const GridMemory& output);
  bool IsTotal(const GridTrace& trace, const std::string& type, std::uint64_t sum) const;

  const std::vector<const LaunchDirective*>& launches_;
  const Parameters& present_;
  PrefixScan& found_;
  GridRun run_;
  std::set<std::string> names_;
  std::string why_;
  bool left_elements_ = false;
  std::size_t right_ = 0;  // elements of the output before the first that is wrong
};

// Whether code names numbers that are larger than those of elements which every scan is tried with.
bool HasLargeNumbers(std::string_view code);

// Fewer than a warp has and more, odd; of any block a part.
inline constexpr std::int64_t kFewScanned = 37;

}  // namespace evo
