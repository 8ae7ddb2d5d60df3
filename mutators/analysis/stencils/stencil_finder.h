#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"

namespace evo {

// Finds out whether a kernel is a stencil by running its threads. stencil.cc has what its text must be.
class StencilFinder {
 public:
  // `found` has the kernel, its launch line and its statements; `candidates`: variables that may have a role; `counters`: those
  // of the loops that stay. The context must outlive the object.
  StencilFinder(const MutationContext& context, Stencil found, std::vector<int> candidates, std::vector<int> counters)
      : context_(context), found_(std::move(found)), candidates_(std::move(candidates)), counters_(std::move(counters)) {}
  // Why the kernel is no stencil, or nothing.
  std::variant<Stencil, std::string> Find();
  // Whether elements decide what threads read, so that they are run with others, too.
  void SetDecided(bool decided) { decided_ = decided; }
  // Whether its threads read elements as far away as each other, so that it may be taken for a stencil.
  bool plausible() const { return plausible_; }

 private:
  const MutationContext& context_;
  Stencil found_;
  std::vector<int> candidates_;
  std::vector<int> counters_;
  bool plausible_ = false, decided_ = false;
};

}  // namespace evo
