#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/bottleneck.h"
#include "core/breeder.h"
#include "core/candidate.h"

namespace evo {

// The children of one generation while they are bred. Child i has parents[i] and, once it was compared with what had been seen,
// digests[i].
struct Offspring {
  int generation = 0;
  // Of the operators, by the bottleneck of the first parent. kNone is always there, for all bottlenecks that are not.
  std::map<Bottleneck, std::vector<std::pair<std::string, double>>> weights;
  // Its children are tries of single operators, which the run waits for, as long as any applies.
  bool tries = false;
  std::vector<BreedRequest> requests;  // selected, not yet bred
  std::vector<std::vector<CandidateId>> parents;
  std::vector<BredChild> children;
  std::set<std::size_t> combined;           // indices of those whose parent got edits that won on others
  std::vector<std::string> digests;         // of the children's sources; empty: no child
  std::vector<std::size_t> fresh;           // indices of the new children, ascending
  std::set<std::string> bred;               // digests of the fresh; a child that is not chosen may be bred again later
  int duplicates = 0;                       // children dropped because they, or what they change, had been seen
  std::map<std::string, int> inapplicable;  // times each operator was drawn and did not apply
};

}  // namespace evo
