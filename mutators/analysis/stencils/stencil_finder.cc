#include "mutators/analysis/stencils/stencil_finder.h"

#include <fmt/format.h>

#include <set>

#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/stencils/stencil_effects.h"
#include "mutators/analysis/stencils/stencil_roles.h"
#include "mutators/analysis/stencils/stencil_sampler.h"
#include "mutators/analysis/stencils/stencil_shape.h"
#include "mutators/analysis/stencils/stencil_sites.h"
#include "mutators/analysis/stencils/stencil_small_runs.h"
#include "mutators/analysis/stencils/stencil_tables.h"
#include "mutators/analysis/stencils/stencil_trials.h"

namespace evo {

std::variant<Stencil, std::string> StencilFinder::Find() {
  const SyntaxTree& tree = context_.tree;
  LaunchRuns runs(context_, *found_.launch, found_.kernel, tree.node(found_.kernel).children.back(),
                  std::set<int>(candidates_.begin(), candidates_.end()));
  if (!runs.refusal().empty()) return runs.refusal();
  for (const auto& [name, whole] : runs.whole_blocks()) {
    const std::size_t known = found_.whole_blocks.size();
    for (const auto& [parameter, expression] : runs.arguments()) {
      if (expression.text() == name && found_.whole_blocks.size() == known)
        found_.whole_blocks.push_back({tree.node(parameter).name, whole.text});
    }
    if (found_.whole_blocks.size() == known)
      return fmt::format("its grid has only whole blocks of {}, which is not passed to it", name);
  }
  runs.KeepTouches(counters_, found_.of_tile);
  runs.given().effects = found_.effects;
  runs.given().choices = ChoicesOfReals(tree, found_.kernel);
  StencilSampler sampler(runs, decided_);
  StencilSmallRuns small(runs, sampler);
  const bool ran = small.Run();
  plausible_ = small.plausible();
  if (!ran) return small.why();
  StencilLaunches& launches = small.launches();
  const std::set<int> written = WrittenIn(tree, found_.kernel);
  const LaunchNumbers numbers(tree, runs, written, launches[0].setting, launches[1].setting);
  const Stencil begun = found_;
  StencilShape shape(tree, numbers, sampler.stored(), launches);
  if (!shape.AddTo(found_)) {
    found_ = begun;
    const LaunchNumbers multiples(tree, runs, written, launches[0].setting, launches[1].setting, kNumbersOfPixel);
    StencilShape of_pixels(tree, multiples, sampler.stored(), launches);
    if (!of_pixels.AddTo(found_)) return shape.why();
  }
  StencilSites sites(tree, counters_, launches);
  if (!sites.AddTo(found_)) return sites.why();
  found_.roles = StencilRolesOf(launches, candidates_);
  StencilTables(tree, numbers, sampler.stored(), launches).AddTo(found_);
  StencilTrials trials(context_, runs, sampler, sites, launches);
  if (!trials.RunLarge(found_, small.counts()) || !trials.RunSymbolic(found_)) return trials.why();
  found_.stored.assign(sampler.stored().begin(), sampler.stored().end());
  return found_;
}

}  // namespace evo
