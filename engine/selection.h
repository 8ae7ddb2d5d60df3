#pragma once

#include <cstdint>
#include <vector>

#include "core/breeder.h"
#include "engine/population.h"

namespace evo {

// The parents of one child, one or two. The first wins a tournament, the second is drawn among the others.
//
// Members are drawn in inverse proportion to their compile times. A child takes about as long to compile as its parent, so all
// members get the same share of the compilers' time, and a kernel that unrolling has blown up does not use the time of ten
// others. A member whose compile time is not known counts as the median. No member is drawn more than twice as often as the
// median.
struct Parents {
  std::vector<CandidateId> ids;
  std::vector<Genome> genomes;
  std::vector<std::string> sources;  // as in BreedRequest
};

// A function of the members, the tournament's size and (seed, generation, index) only. Precondition: members is not empty and the
// size is positive.
Parents SelectParents(const std::vector<Individual>& members, int tournament_size, std::uint64_t seed, std::uint64_t generation,
                      std::uint64_t index);

}  // namespace evo
