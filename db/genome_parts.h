#pragma once

#include <memory>
#include <vector>

#include "core/genome.h"

namespace evo {

// A genome in parts that it shares with others, most of all with its parents: a long run in parts is a fraction of the whole.
struct GenomeParts {
  std::shared_ptr<const Genome> head;              // all but the edits that follow
  std::vector<std::shared_ptr<const Edit>> edits;  // those that come after the head's own

  // Precondition: it has a head.
  Genome Whole() const;
};

}  // namespace evo
