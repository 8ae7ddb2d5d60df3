#pragma once

#include <cstdint>
#include <vector>

#include "core/breeder.h"
#include "engine/population.h"

namespace evo {

// Parents of one child: one or two, the first by a tournament of so many draws, the second at random among the others. Each
// member is drawn in inverse proportion to what it took to compile, because its children take about as long: all members have the
// same share of the compilers' time, and a kernel that unrolling has blown up does not use up that of ten others. One whose time
// is not known is drawn as the median of the others, and none more than twice as often as that.
struct Parents {
  std::vector<CandidateId> ids;
  std::vector<Genome> genomes;
  std::vector<std::string> sources;  // as in BreedRequest
};

// A function of the members, of the tournament's size and of (seed, generation, index) only. Precondition: members is not empty,
// the size positive.
Parents SelectParents(const std::vector<Individual>& members, int tournament_size, std::uint64_t seed, std::uint64_t generation,
                      std::uint64_t index);

}  // namespace evo
