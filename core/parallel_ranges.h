#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace evo {

// Elements of a range. Arrays below twice that are worked on by the calling thread alone: starting a thread takes longer.
constexpr std::size_t kRangeElements = 1 << 16;

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t number = 0;
};

// Calls `work` once for each range of kRangeElements of [0, count), the last of which may be shorter, in as many threads as there
// are processors, 16 at most. The ranges do not depend on the machine. Returns when all are done; throws what `work` has thrown,
// from the first thread that did.
void ForRanges(std::size_t count, const std::function<void(const Range&)>& work);

// The results of all ranges, in their order, so that a sum over them is the same with any number of threads.
template <typename Result, typename Work>
std::vector<Result> OfRanges(std::size_t count, const Work& work) {
  std::vector<Result> results((count + kRangeElements - 1) / kRangeElements);
  ForRanges(count, [&](const Range& range) { results[range.number] = work(range); });
  return results;
}

}  // namespace evo
