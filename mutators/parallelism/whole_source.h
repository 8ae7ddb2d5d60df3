#pragma once

#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// What takes the place of all launches of a source.
struct WholeSource {
  std::string kernel;                // new, launched by one of the lines
  std::string text;                  // of the new functions
  std::vector<std::string> lines;    // after `evo:`
  std::string when;                  // sizes for which the new launches run, and the old ones do not; empty for all
  std::string anchor;                // the old kernel before whose first launch the lines are
  std::vector<std::string> kernels;  // all old ones, by their names in launch lines
  std::vector<int> functions;        // their definitions, and those of what only they call
  bool ahead = false;                // the lines are ahead of the loops around that launch
};

// Adds to a proposal that it does so. With a condition the old functions and launches stay beside the new ones.
void ReplaceLaunches(const MutationContext& context, const WholeSource& by, Proposal& proposal);

}  // namespace evo
