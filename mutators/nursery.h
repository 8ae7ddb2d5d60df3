#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "kernel_templates/kernel_template.h"
#include "mutators/genome_renderer.h"
#include "mutators/mutator.h"

namespace evo {

// Where children are made, in a breed worker: draws an operator, applies it to the first parent, renders the child. A pure function of the
// request and the templates; what it keeps between requests only saves time.
class Nursery {
 public:
  Nursery(std::vector<KernelTemplate> templates, SyntaxPaths paths);

  // Never throws for what a genome holds: a child that cannot be made is a failure with its reason.
  BredChild Breed(const BreedRequest& request);

 private:
  BredChild TryOperators(const BreedRequest& request, const KernelTemplate& kernel_template);
  bool TryOne(const std::string& op, const MutationContext& context, Rng& rng, BredChild& child);

  std::map<std::string, KernelTemplate> templates_;   // by digest
  GenomeRenderer renderer_;
};

}  // namespace evo
