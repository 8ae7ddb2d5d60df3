#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"
#include "mutators/analysis/thread_runs/thread_formula.h"
#include "mutators/mutator.h"

namespace evo {

// By buffer and element, what a launch stores.
using StoredFormulas = std::map<int, std::map<std::int64_t, FormulaPointer>>;

// What threads of a kernel store, as formulas of elements. It refuses a kernel in which two threads store the same element, or
// race for shared memory, or do what is not understood.
class FormulaRuns {
 public:
  // The arguments must outlive the object.
  FormulaRuns(const MutationContext& context, int kernel, const LaunchDirective& launch);

  LaunchRuns& runs() { return runs_; }
  // From now on threads that work together may take as long as is affordable.
  void AllowAll();
  // All threads, or only so many blocks, or threads, evenly among all of them. False if the kernel is refused.
  bool Run(const LaunchRuns::Setting& setting, StoredFormulas& stored, std::int64_t most = 0);
  // The threads that store these elements, where thread `n` of a row of blocks does so: by their numbers.
  bool RunThread(const LaunchRuns::Setting& setting, std::int64_t thread, StoredFormulas& stored);
  const std::string& why() const { return why_; }
  std::int64_t largest_number() const { return largest_number_; }

 private:
  bool Refuse(std::string why);

  const SyntaxTree& tree_;
  LaunchRuns runs_;
  std::int64_t largest_number_ = 0, lone_turns_ = 0;
  std::string why_;
};

// The elements that formulas are computed from, each once.
std::set<std::pair<int, std::int64_t>> ElementsIn(const ThreadFormula& formula);

// The source with a kernel that computes a stencil in whatever way, as a kernel with one thread an element that computes the same
// formula of the same neighbours. Found by running all its threads on numbers while what they compute is kept as formulas;
// afterwards both kernels must store the same formulas. nullopt, with the reason, if it is none; without one if nobody would take
// it for one, which is asked for unless the kernel was `expected` to be one.
// `first_why` gets the reason in any case.
std::optional<std::string> StencilByResults(const MutationContext& context, int kernel, bool expected, std::string& why,
                                            std::string* first_why = nullptr);

}  // namespace evo
