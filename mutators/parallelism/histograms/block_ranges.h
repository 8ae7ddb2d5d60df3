#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// What the threads of a block do for each number below `count`.
struct BlockRange {
  std::string count;
  std::vector<int> statements;  // what is done
  int index = -1;               // the declaration of the number; -1: the thread's number itself
  std::string spelled;          // the count, as an operand of code at another place

  bool given() const { return !count.empty(); }
};

// `for (int i = 0; i < bound; i++) statement`
struct Repeated {
  int counter = -1, bound = -1, statement = -1;
};

// Reads how the threads of a block share numbers among them, by their own number in the block.
class BlockRanges {
 public:
  // The arguments outlive the object.
  BlockRanges(const MutationContext& context, int kernel, const LaunchDirective& launch);

  // `for (i = threadIdx.x; i < n; i += blockDim.x) ..`, `if (threadIdx.x < n) ..` or a statement of all threads.
  std::optional<BlockRange> RangeOf(int statement) const;
  // `for (i = 0; i < n; i++) ..` of all threads, or of the first one: what is done for each number.
  std::optional<BlockRange> WholeRangeOf(int statement) const;
  // Whether an expression is the number of a range.
  bool IsIndex(int expression, const BlockRange& range) const;
  // Whether a bound is the same for all threads, and known where they count.
  bool IsBound(int expression) const;
  // Whether all numbers of the second range are of the first one, and all numbers below a bound.
  bool Covers(const BlockRange& first, const BlockRange& second) const;
  bool Covers(const BlockRange& range, std::int64_t bound) const;
  // `i`, or `base + i` with a base that is the same for the block, as text with `{}` for the number; empty for others.
  std::string PlaceOf(int expression, const BlockRange& range) const;
  // The number s of an expression `i + c * s`, where i is the number of a range and c a variable.
  std::optional<std::int64_t> StepOf(int expression, const BlockRange& range, int variable) const;
  // Whether an expression is the block's own place among those of a grid of one dimension: `blockIdx.x * bins + i`.
  bool IsOfBlock(int expression, std::int64_t bins, const BlockRange& range) const;
  // How many numbers a range has, and how many threads a block, if that is known.
  std::optional<std::int64_t> NumberOf(const BlockRange& range) const;
  std::optional<std::int64_t> Threads() const;
  // Whether an expression is the number of a range divided by a number, `i / 16`, or the rest, `i % 16`.
  bool IsDivided(int expression, std::string_view spelled, std::int64_t by, const BlockRange& range) const;
  const std::set<int>& written() const { return written_; }

 private:
  bool IsThreadNumber(int expression, int depth = 2) const;
  bool IsTimes(int expression, int variable, std::optional<std::int64_t>& by) const;
  bool IsBlockSize(std::string_view text) const;
  std::string_view Size() const { return flat_ ? "blockDim.x" : "blockDim.x * blockDim.y"; }

  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  std::set<int> written_;
  bool flat_;  // the block has one dimension
};

// Also with a suffix, `0u`; nullopt for what is no number.
std::optional<std::int64_t> WholeNumber(const SyntaxTree& tree, int expression);
// Whether it is 0, also as a real number.
bool IsZeroNumber(const SyntaxTree& tree, int expression);
std::optional<Repeated> AsRepeated(const SyntaxTree& tree, int statement);
// The array that an expression names, as it is, as pointer of another type or by its first element; -1 for others.
int ArrayBehind(const SyntaxTree& tree, int expression);

}  // namespace evo
