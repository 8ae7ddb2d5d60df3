#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/genome.h"

namespace evo {

// Unique within a run, assigned in order from 1.
using CandidateId = std::int64_t;

// A genome and its place in the lineage. The operator "default" marks a template with its default parameters.
struct Candidate {
  CandidateId id = 0;
  int generation = 0;
  int index = 0;  // position within its generation
  Genome genome;
  std::vector<CandidateId> parents;  // none, one or two
  std::string op;                    // name of the operator that made it
  std::vector<std::string> dropped;  // why edits of the genome could not be applied, one line each
  std::string source;                // rendered from the genome: a complete .cu with its evo: directives
  int measurement = 0;     // if not 0, the candidate is measured even if the same program was measured before; not stored
  int unproven_edits = 0;  // edits whose operators promise nothing, if it is to be checked as a champion; not stored
};

}  // namespace evo
