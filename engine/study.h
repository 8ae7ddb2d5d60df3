#pragma once

#include <functional>
#include <vector>

#include "engine/landscape_search.h"

namespace evo {

// The results of several searches of one landscape after so many evaluations. The searches differ in their seeds only.
struct StudyPoint {
  int evaluations = 0;
  double mean = 0;              // of `reached`
  double standard_error = 0;    // of the mean, from the spread of the seeds; 0 for one seed
  double percentile10 = 0;      // interpolated; nine of ten seeds did better
  std::vector<double> reached;  // of each seed optimum / best so far: 1 at the optimum, 0 without an ok point
};

// The usual numbers of evaluations below `evaluations`, then `evaluations` itself.
std::vector<int> Checkpoints(int evaluations);

// Gives the points of a landscape in the order in which the search with that seed evaluates them.
using SeededSearch = std::function<std::vector<std::size_t>(std::uint64_t seed)>;

// Searches with the seeds first_seed, first_seed + 1, ... on `threads` threads, whose number does not change the result. Gives
// one point for each checkpoint up to `evaluations`. `cancelled` is called before each search; if it returns true, the study ends
// without any point. Precondition: seeds and threads are at least 1; `search` may be called from several threads.
std::vector<StudyPoint> Study(const Landscape& landscape, int evaluations, const SeededSearch& search, std::uint64_t first_seed,
                              int seeds, int threads, const std::function<bool()>& cancelled = {});
// The same with SearchLandscape and search.seed as the first seed.
std::vector<StudyPoint> Study(const Landscape& landscape, const LandscapeSearchOptions& search, int seeds, int threads,
                              const std::function<bool()>& cancelled = {});

}  // namespace evo
