#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/genome.h"

namespace evo {

// Unique within a run, given in order from 1.
using CandidateId = std::int64_t;

// A genome with its place in the lineage. The operator "default" marks a template at its default parameters.
struct Candidate {
  CandidateId id = 0;
  int generation = 0;
  int index = 0;  // place within its generation
  Genome genome;
  std::vector<CandidateId> parents;  // none, one or two
  std::string op;                    // operator that made it
  std::vector<std::string> dropped;  // why edits of the genome could not be applied, one line each
  std::string source;                // rendered from the genome: a complete .cu with its evo: directives
  int measurement = 0;               // from 1 on it is measured for itself alone, though its program was before; not stored
};

}  // namespace evo
