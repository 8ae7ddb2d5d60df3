#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/minimisation.h"

namespace evo {

// The variants of a champion that failed the champion check, and what follows from them for other variants.
class RejectedVariants {
 public:
  // `champion_edits`: of the champion that they are variants of.
  RejectedVariants(const std::vector<Trial>& rejected, std::size_t champion_edits);

  // False for other variants of their programs, and for a variant that keeps fewer than half of the edits that one of them
  // lacked.
  bool Allow(const Trial& trial) const;

 private:
  std::set<std::string> programs_;  // digests
  std::size_t fewest_edits_ = 0;
};

}  // namespace evo
