#pragma once

#include <memory>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source of which only one launch is looked at. What is scratch for all of them together is not for one: it has no workspaces.
class LaunchAlone {
 public:
  // The source outlives the object.
  LaunchAlone(const MutationContext& source, const LaunchDirective& launch);
  const MutationContext& context() const { return context_; }

 private:
  KernelTemplate rendered_;
  MutationContext context_;
};

// Of a source with several launches each that is the only one of its kernel, runs always and once, and whose threads work
// together.
std::vector<std::unique_ptr<LaunchAlone>> LaunchesAlone(const MutationContext& source);

}  // namespace evo
