#pragma once

#include <functional>
#include <vector>

#include "engine/landscape_search.h"

namespace evo {

// What several searches of one landscape, alike but for their seeds, had reached after so many evaluations.
struct StudyPoint {
  int evaluations = 0;
  double mean = 0;          // of optimum over best so far: 1 is the best there is, 0 means that nothing was ok
  double percentile10 = 0;  // interpolated: nine seeds of ten did better
};

// The usual numbers of evaluations, as far as `evaluations` reaches, which is always the last.
std::vector<int> Checkpoints(int evaluations);

// Searches with the seeds search.seed, search.seed + 1, ... on `threads` threads; the result does not depend on how many. Gives
// one point for each checkpoint; ends early, with nothing for any, when `cancelled` says so, which is asked before each search.
// Precondition: seeds and threads are at least 1.
std::vector<StudyPoint> Study(const Landscape& landscape, const LandscapeSearchOptions& search, int seeds, int threads,
                              const std::function<bool()>& cancelled = {});

}  // namespace evo
