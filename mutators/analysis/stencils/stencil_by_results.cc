#include "mutators/analysis/stencils/stencil_by_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "core/expression.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/plain_comparison.h"
#include "mutators/analysis/stencils/plain_stencil.h"
#include "mutators/analysis/stencils/stencil_formula.h"
#include "mutators/analysis/stencils/stencil_shape.h"
#include "mutators/analysis/stencils/stencil_small_runs.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

// Elements of one buffer from which on a formula is taken for that of a stencil.
constexpr std::size_t kFewestNeighbours = 3;
// Elements that are looked at to see whether it may be one.
constexpr std::size_t kFewElements = 200;
// Elements of a buffer that tell enough, and how many threads are run for them.
constexpr std::size_t kFewestStored = 8;
constexpr std::array<std::int64_t, 2> kSomeLoneThreads{64, 2048};
// At edges a few neighbours may be others (ReadAlike). Products read more different ones.
constexpr std::size_t kHalvesOfStencil = 3;
// Those of a grid of one size, most of which do nothing, are cheap; blocks that run together are not.
constexpr std::int64_t kMostThreadsOfFormulas = 100'000, kMostLoneThreads = 300'000;

class StencilOfFormulas {
 public:
  StencilOfFormulas(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : context_(context), written_(WrittenIn(context.tree, kernel)), runs_(context, kernel, launch) {
    found_.kernel = kernel;
    found_.launch = &launch;
  }

  std::optional<std::string> Text() {
    if (!RunSmall() || !FindShape()) return std::nullopt;
    StencilFormulas formulas({tree(), *numbers_, found_, launches_, stored_});
    if (!formulas.Find()) return Refuse(formulas.why()), std::nullopt;
    if (!AreAllSizes(formulas)) return std::nullopt;
    if (!HasWholeBlocks()) return std::nullopt;
    std::string text = WithPlainStencil(context_, found_, formulas, runs_.runs().whole_blocks());
    if (text.empty()) return Refuse("it cannot be written as a plain kernel"), std::nullopt;
    PlainComparison comparison(context_, runs_, {found_, launches_, stored_, counts_});
    if (!comparison.StoresTheSame(text)) return Refuse(comparison.why()), std::nullopt;
    return text;
  }
  // Empty if nobody would take it for a stencil.
  std::string why(bool expected) const { return alike_ || expected ? why_ : ""; }

 private:
  const SyntaxTree& tree() const { return context_.tree; }
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Two launches. Sizes are chosen so that something is stored.
  bool RunSmall() {
    LaunchRuns& runs = runs_.runs();
    if (!runs.refusal().empty()) return Refuse(runs.refusal());
    for (const std::set<std::string>& counts : CountsOfStencil(runs)) {
      counts_ = counts;
      for (std::size_t i = 0; i < 2; ++i) {
        const auto setting = SmallSetting(i);
        stored_[i].clear();
        if (!setting || setting->Threads() > MostThreads()) break;
        launches_[i].setting = *setting;
        if (!IsPlausible(*setting)) return false;
        if (!runs_.Run(*setting, stored_[i])) return Refuse(runs_.why());
        if (stored_[i].empty()) break;
      }
      if (!stored_[1].empty()) break;
    }
    if (stored_[0].empty() || stored_[1].empty()) return Refuse("its threads store nothing where sizes are 11 to 27");
    const bool added = AddThreads(0) && AddThreads(1);
    alike_ = ReadAlike(launches_[0], kHalvesOfStencil);
    return added;
  }

  // Of a large grid of one size a few blocks: threads of others would do nothing with small sizes.
  std::optional<LaunchRuns::Setting> SmallSetting(std::size_t launch) {
    LaunchRuns& runs = runs_.runs();
    const auto sizes = SmallSizesOfStencil(runs, launch, counts_);
    auto setting = runs.SettingOf(sizes);
    if (!setting || setting->Threads() <= MostThreads() || !runs.HasFixedGrid()) return setting;
    runs.LimitGrid(static_cast<std::int64_t>(launch) + 1);
    setting = runs.SettingOf(sizes);
    runs.LimitGrid(0);
    return setting;
  }

  std::int64_t MostThreads() {
    const auto& grid = found_.launch->grid;
    const bool fixed = std::all_of(grid.begin(), grid.end(), [](const Expression& one) { return one.Names().empty(); });
    return fixed && !runs_.runs().together() ? kMostLoneThreads : kMostThreadsOfFormulas;
  }

  // What a few blocks store tells whether it may be a stencil, before all of them are run.
  bool IsPlausible(const LaunchRuns::Setting& setting) {
    if (plausible_) return true;
    StoredFormulas few;
    const bool together = runs_.runs().together();
    const auto has_few = [&] {
      return std::all_of(few.begin(), few.end(),
                         [&](const auto& stored) { return !together && stored.second.size() < kFewestStored; });
    };
    // Most threads of a grid of one size store nothing.
    for (const std::int64_t some : kSomeLoneThreads) {
      few.clear();
      if (!runs_.Run(setting, few, together ? 2 : some)) return Refuse(runs_.why());
      if (together || !has_few()) break;
    }
    StencilLaunch launch;
    for (const auto& [buffer, elements] : few) {
      for (const auto& [index, formula] : elements) {
        if (launch.threads.size() >= kFewElements) break;
        StencilThread& thread = launch.threads.emplace_back(StencilThread{0, index, {}, {}});
        std::map<int, std::size_t> of_buffer;
        for (const auto& [read, at] : ElementsIn(*formula)) {
          plausible_ |= ++of_buffer[read] >= kFewestNeighbours;
          thread.touches.push_back({-1, read, at, false, {}});
        }
      }
    }
    alike_ = ReadAlike(launch, kHalvesOfStencil);
    if (plausible_) runs_.AllowAll();
    return plausible_ || has_few();
  }

  // As threads of a kernel each of which stores one element.
  bool AddThreads(std::size_t launch) {
    const auto& first = stored_[launch].begin()->second;
    std::size_t touches = 0;
    for (const auto& [element, formula] : first) {
      StencilThread thread{0, element, {}, {}};
      for (const auto& [buffer, elements] : stored_[launch]) {
        const auto own = elements.find(element);
        if (own == elements.end() || elements.size() != first.size())
          return Refuse("it stores other elements of one buffer than of another");
        thread.touches.push_back({-1, buffer, element, true, {}});
        for (const auto& [read, index] : ElementsIn(*own->second)) {
          if (index < 0) return Refuse(fmt::format("it reads in front of {}", tree().node(read).name));
          thread.touches.push_back({-1, read, index, false, {}});
        }
      }
      touches += thread.touches.size();
      if (touches > StencilSampler::kMostTouches) return Refuse("it reads too many elements where sizes are 11 to 27");
      launches_[launch].threads.push_back(std::move(thread));
    }
    return true;
  }

  bool FindShape() {
    std::set<int> buffers;
    for (const auto& [buffer, elements] : stored_[0]) buffers.insert(buffer);
    const Stencil begun = found_;
    for (const std::int64_t most : {std::int64_t{1}, kNumbersOfPixel}) {
      found_ = begun;
      numbers_.emplace(tree(), runs_.runs(), written_, launches_[0].setting, launches_[1].setting, most);
      StencilShape shape(tree(), *numbers_, buffers, launches_);
      if (shape.AddTo(found_)) break;
      if (most > 1) return Refuse(why_);
      why_ = shape.why();
    }
    found_.stored.assign(buffers.begin(), buffers.end());
    for (StencilLaunch& launch : launches_) {
      for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
        launch.stores.low[axis] = found_.stores[axis].LowIn(launch.setting);
        launch.stores.end[axis] = launch.setting.ValueOf(found_.stores[axis].end.launch);
      }
    }
    return true;
  }

  // A number of the launch line that no length and no edge follows from, such as a mode, could be another one in the next launch.
  bool AreAllSizes(const StencilFormulas& formulas) {
    std::set<std::string> names = counts_;
    const auto add = [&](const std::string& text) {
      if (text.empty()) return;
      const auto named = Expression::Parse(text).Names();
      names.insert(named.begin(), named.end());
    };
    for (const Stencil::Number& length : found_.lengths) add(length.launch);
    using Ranges = std::array<Stencil::Range, 3>;
    for (const Ranges* ranges : std::initializer_list<const Ranges*>{&found_.stores, &found_.reads, &formulas.inside()}) {
      for (const Stencil::Range& range : *ranges) add(range.end.launch), add(range.from.launch);
    }
    for (const auto& [parameter, expression] : runs_.runs().arguments()) {
      const auto named = expression.Names();
      const bool known = std::all_of(named.begin(), named.end(), [&](const auto& name) {
        return names.contains(std::string(name)) || context_.genome.parameters.contains(std::string(name));
      });
      if (!known && !tree().UsesOf(parameter).empty())
        return Refuse(fmt::format("{} may decide what it does", tree().node(parameter).name));
    }
    return true;
  }

  // Whether each size of which the grid has whole blocks is that of an axis.
  bool HasWholeBlocks() {
    const WholeBlocksOfSizes& whole = runs_.runs().whole_blocks();
    return std::all_of(whole.begin(), whole.end(), [&](const auto& one) {
      bool along = false;
      for (std::size_t axis = 0; axis < (found_.IsLine() ? 1 : found_.dimensions); ++axis)
        along |= WholeBlocksAlong(found_, axis, whole) == &one;
      return along || Refuse(fmt::format("its grid has only whole blocks of {}, which no axis has", one.first));
    });
  }

  const MutationContext& context_;
  const std::set<int> written_;
  FormulaRuns runs_;
  Stencil found_;
  StencilLaunches launches_;
  std::array<StoredFormulas, 2> stored_;
  std::optional<LaunchNumbers> numbers_;
  std::set<std::string> counts_;
  bool plausible_ = false, alike_ = false;
  std::string why_;
};

}  // namespace

std::optional<std::string> StencilByResults(const MutationContext& context, int kernel, bool expected, std::string& why,
                                            std::string* first_why) {
  const SyntaxNode& node = context.tree.node(kernel);
  if (node.kind_name != "FunctionDecl" || node.children.empty()) return std::nullopt;
  if (IsKnownElsewhere(context, kernel)) return std::nullopt;
  if (context.tree.node(node.children.back()).kind_name != "CompoundStmt") return std::nullopt;
  const LaunchDirective* const launch = AlikeLaunches(context, kernel);
  if (launch == nullptr || !launch->cluster.empty() || launch->cooperative || launch->when) return std::nullopt;
  StencilOfFormulas stencil(context, kernel, *launch);
  auto text = stencil.Text();
  if (!text) why = stencil.why(expected);
  if (!text && first_why != nullptr) *first_why = stencil.why(true);
  return text;
}

}  // namespace evo
