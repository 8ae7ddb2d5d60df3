#include "core/parallel_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace evo {
namespace {

TEST(ForRanges, CoverEachElementOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kRangeElements, kRangeElements + 1, 9 * kRangeElements - 3}) {
    std::vector<int> visits(count);
    ForRanges(count, [&](const Range& range) {
      EXPECT_EQ(range.begin, range.number * kRangeElements);
      for (std::size_t i = range.begin; i < range.end; ++i) ++visits[i];
    });
    EXPECT_EQ(std::vector<int>(count, 1), visits);
  }
}

TEST(ForRanges, ThrowWhatTheWorkThrows) {
  std::atomic<int> done = 0;
  EXPECT_THROW(ForRanges(8 * kRangeElements,
                         [&](const Range& range) {
                           if (range.number == 3) throw std::runtime_error("third");
                           ++done;
                         }),
               std::runtime_error);
  EXPECT_LE(done, 7);
}

TEST(OfRanges, AreInTheOrderOfTheRanges) {
  const auto begins = OfRanges<std::size_t>(3 * kRangeElements + 1, [](const Range& range) { return range.begin; });
  EXPECT_THAT(begins, testing::ElementsAre(0, kRangeElements, 2 * kRangeElements, 3 * kRangeElements));
}

}  // namespace
}  // namespace evo
