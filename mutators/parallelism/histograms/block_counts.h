#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/parallelism/histograms/block_ranges.h"

namespace evo {

// Whether an array of these may be one of counts, or of sums, in shared memory.
bool IsTypeOfCounts(const std::string& type);

// Counts that a block has in shared memory, of each perhaps several copies.
struct BlockCounts {
  int array = -1;      // its declaration
  std::string copies;  // the first extent of two, as spelled; empty if there is one copy
  BlockRange zeroed;   // the numbers that are set to zero; with copies those of all together, unless `each_zeroed`
  bool each_zeroed = false;
  BlockRange flushed;         // the numbers that are added to global memory
  bool flat = false;          // whether the rows are no copies: each element of the array is added for itself
  std::string to;             // where, with `{}` for the number
  std::string buffer;         // the name of the parameter
  bool positive = false;      // whether only those above 0 are
  bool longer = false;        // whether they are longer there
  std::int64_t stride = 0;    // of copies that are parts of one row, as many bins as each has; else 0
  std::int64_t in_row = 0;    // how many there are then
  std::int64_t of_block = 0;  // of counts that each block stores for itself, how many elements it has for them; else 0

  // Whether an element of the array is one of several copies of a count.
  bool has_parts() const { return stride > 0; }
};

// What is converted, of `(unsigned long long)counts[i]`; others as they are.
int WithoutCountCast(const SyntaxTree& tree, int expression);
// Whether what a parameter points to, which `use` names, adds up at least as exactly as the array; then `longer` is known.
bool AddsAsWell(const SyntaxTree& tree, BlockCounts& counts, int use);

// The arrays of counts that a kernel has, and what names their elements.
class BlockArrays {
 public:
  // The arguments outlive the object.
  BlockArrays(const SyntaxTree& tree, const BlockRanges& ranges) : tree_(tree), ranges_(ranges) {}

  // Whether a statement declares arrays of counts in shared memory, and nothing else. They are added.
  bool Add(int statement);
  const std::vector<BlockCounts>& all() const { return counts_; }
  // Those of an array; null for others.
  BlockCounts* Of(int array);
  bool IsNamedIn(int statement);

  // The counts of which an expression is the element with the range's number, in the copy with the number `copy` if there are
  // several; without such a number all rows count as one array, and the element is of that.
  struct Own {
    BlockCounts* counts = nullptr;
    bool flat = false;
    std::int64_t stride = 0;  // of copies that are parts of one row: `counts[copy * stride + i]`
  };
  Own OwnCount(int expression, const BlockRange& range, int copy = -1);
  // `counts[i] = 0`, also of all copies as one array, `((int*)counts)[i]` or `counts[i / BINS][i % BINS]`.
  bool SetToZero(int statement, const BlockRange& range);
  // `for (c = 0; c < n; c++) counts[threadIdx.x + c * threads] = 0`
  bool SetToZeroInSteps(int statement);
  bool IsCopies(const BlockCounts& counts, int bound) const;
  // Of one copy, if there are several.
  std::optional<std::int64_t> BinsOf(const BlockCounts& counts) const;

 private:
  BlockCounts* AllCopies(int element, const BlockRange& range);

  const SyntaxTree& tree_;
  const BlockRanges& ranges_;
  std::vector<BlockCounts> counts_;
};

}  // namespace evo
