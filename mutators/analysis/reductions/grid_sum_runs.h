#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/grid_run.h"

namespace evo {

// What one run of a source added up.
struct SummedElements {
  std::string input, output, input_type, output_type;
  bool adds = false;          // the output's own element, too
  std::int64_t elements = 0;  // 0 to this number less one
  std::int64_t parts = 0;     // as many elements of the output have one sum each
  std::int64_t part = 0;      // elements of each part but the last, which may have fewer; all of them if there is one
  bool empty = false;         // whether one more element of the output, behind those, is the sum of none
};

// Runs a source on random numbers and finds out which elements the numbers that it stores are the sums of.
class GridSumRuns {
 public:
  // The arguments outlive the object.
  GridSumRuns(const MutationContext& context, const std::string& size)
      : size_(size), present_(context.genome.parameters), rendered_(context.rendered), run_(context) {}

  // Whether they are sums of consecutive elements from the first on; also with the blocks in another order, if it may matter.
  bool Run(const Parameters& parameters, std::int64_t size);
  const SummedElements& found() const { return found_; }
  // Why they are not, and whether some run stored such sums, and something else.
  const std::string& why() const { return why_; }
  bool nearly() const { return nearly_; }
  // Whether all that the last run computed of data was sums.
  bool only_sums() const { return only_sums_; }
  // Whether the last run had no blocks, read or wrote beyond the elements, or left no sums: as kernels of whole blocks do for
  // other numbers of elements.
  bool in_blocks() const { return in_blocks_; }
  // Macros and constants whose values were used.
  const std::set<std::string>& names() const { return names_; }

 private:
  bool Refuse(std::string why);
  bool RunIn(const GridSetting& setting, bool& has_tickets);
  // How many elements of it the task compares; nullopt for all.
  std::optional<std::int64_t> Compared(const GridMemory& buffer) const;
  bool FindSums(const GridMemory& input, const GridMemory& output, bool adds);

  const std::string& size_;
  const Parameters& present_;
  const KernelTemplate& rendered_;
  GridRun run_;
  SummedElements found_;
  std::set<std::string> names_;
  std::string why_;
  bool nearly_ = false, only_sums_ = false, in_blocks_ = false;
};

}  // namespace evo
