#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// The proposals of source mutators for the last parents: a generation draws many children of few parents, and to find out that
// a kernel is, say, a convolution may take longer than all else. Not thread-safe.
class ProposalMemory {
 public:
  // The child that `mutator.Mutate(context, rng)` makes. `source` is the text of the context's tree.
  std::optional<Genome> Mutate(const SourceMutator& mutator, const MutationContext& context, const std::string& source, Rng& rng);

 private:
  // Proposals depend on nothing else.
  struct Parent {
    Genome genome;
    std::string source;
    std::map<std::string, std::vector<Proposal>, std::less<>> proposals;  // by mutator
  };
  Parent& ParentOf(const Genome& genome, const std::string& source);

  std::list<Parent> parents_;  // most recent first
};

}  // namespace evo
