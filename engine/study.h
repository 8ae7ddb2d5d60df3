#pragma once

#include <functional>
#include <vector>

#include "engine/landscape_search.h"

namespace evo {

// The results of several searches of one landscape after so many evaluations. The searches differ in their seeds only.
struct StudyPoint {
  int evaluations = 0;
  double mean = 0;          // mean of optimum / best so far: 1 if all found the optimum; 0 for a search without an ok point
  double percentile10 = 0;  // interpolated; nine of ten seeds did better
};

// The usual numbers of evaluations below `evaluations`, then `evaluations` itself.
std::vector<int> Checkpoints(int evaluations);

// Searches with the seeds search.seed, search.seed + 1, ... on `threads` threads, whose number does not change the result. Gives
// one point for each checkpoint. `cancelled` is called before each search; if it returns true, the study ends without any point.
// Precondition: seeds and threads are at least 1.
std::vector<StudyPoint> Study(const Landscape& landscape, const LandscapeSearchOptions& search, int seeds, int threads,
                              const std::function<bool()>& cancelled = {});

}  // namespace evo
