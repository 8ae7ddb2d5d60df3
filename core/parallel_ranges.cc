#include "core/parallel_ranges.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace evo {
namespace {

// Copies and conversions are bound by memory long before all processors of a large machine work on them.
constexpr std::size_t kMostThreads = 16;

}  // namespace

void ForRanges(std::size_t count, const std::function<void(const Range&)>& work) {
  const std::size_t ranges = (count + kRangeElements - 1) / kRangeElements;
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t number = next++; number < ranges; number = next++)
      work({number * kRangeElements, std::min(count, (number + 1) * kRangeElements), number});
  };
  if (ranges < 2 * 2) return take();
  // The C library reads a file each time it is asked.
  static const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t threads = std::min({ranges / 2, processors, kMostThreads});
  std::vector<std::future<void>> others;
  // Where no thread can be started, the work is done when it is waited for.
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async | std::launch::deferred, take));
  take();
  for (std::future<void>& other : others) other.get();
}

}  // namespace evo
