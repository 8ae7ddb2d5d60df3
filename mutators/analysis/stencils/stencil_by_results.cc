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
// Blocks, or threads, of the larger launch that are run of both kernels.
constexpr std::int64_t kLargeBlocks = 12, kLargeLoneThreads = 2000;
constexpr std::size_t kMostLargeElements = 4000;
constexpr std::int64_t kLeastLargeSize = 40, kMostLargeNumber = 1100, kLargeCountOfFormulas = 5;

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
    return StoresTheSame(text) ? std::optional(std::move(text)) : std::nullopt;
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
        const auto setting = runs.SettingOf(SmallSizesOfStencil(runs, i, counts));
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
    numbers_.emplace(tree(), runs_.runs(), written_, launches_[0].setting, launches_[1].setting);
    StencilShape shape(tree(), *numbers_, buffers, launches_);
    if (!shape.AddTo(found_)) return Refuse(shape.why());
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

  // Sizes beyond all numbers of the code, and so many elements that threads of a grid of one size have several.
  LaunchRuns::Sizes LargeSizes() {
    const LaunchRuns& runs = runs_.runs();
    std::int64_t next = std::max(runs_.largest_number(), kLeastLargeSize);
    if (launches_[0].setting.Threads() == launches_[1].setting.Threads()) {
      const std::int64_t wanted = 5 * launches_[0].setting.Threads() / 2;
      while ((found_.IsLine() ? next : found_.dimensions == 2 ? next * next : next * next * next) < wanted) next += next / 4;
    }
    LaunchRuns::Sizes sizes;
    for (const std::string& name : runs.names()) {
      next += 3;
      if (const auto whole = runs.whole_blocks().find(name); whole != runs.whole_blocks().end())
        next += (whole->second.threads - next % whole->second.threads) % whole->second.threads;
      sizes[name] = counts_.contains(name) ? kLargeCountOfFormulas : next;
    }
    return sizes;
  }

  bool StoresTheSame(const std::string& text) {
    const auto other = tree().Reparsed(text);
    if (!other) return Refuse("it cannot be written as a plain kernel");
    const KernelTemplate rendered = ParseTemplate(context_.rendered.name, text);
    const MutationContext context{context_.kernel_template,  context_.genome, *other, rendered, nullptr,
                                  context_.product_elsewhere};
    const std::string& name = tree().node(found_.kernel).name;
    int kernel = -1;
    for (const int function : Functions(*other)) {
      if (other->node(function).name == name && IsKernel(*other, function)) kernel = function;
    }
    const LaunchDirective* const launch = kernel < 0 ? nullptr : AlikeLaunches(context, kernel);
    if (launch == nullptr) return Refuse("it cannot be written as a plain kernel");
    FormulaRuns plain(context, kernel, *launch);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto setting = plain.runs().SettingOf(SmallSizesOfStencil(runs_.runs(), i, counts_));
      StoredFormulas stored;
      if (!setting || !plain.Run(*setting, stored) || !AreSame(stored_[i], stored, *other))
        return Refuse("a plain kernel would not store the same");
    }
    if (runs_.largest_number() > kMostLargeNumber)
      return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", runs_.largest_number()));
    const LaunchRuns::Sizes sizes = LargeSizes();
    const auto setting = runs_.runs().SettingOf(sizes), of_plain = plain.runs().SettingOf(sizes);
    StoredFormulas some, same;
    if (!setting || !of_plain) return Refuse("its launch line has no threads with larger sizes");
    if (!runs_.Run(*setting, some, runs_.runs().together() ? kLargeBlocks : kLargeLoneThreads)) return Refuse(runs_.why());
    if (some.empty()) return Refuse("it stores nothing with larger sizes");
    KeepSome(some);
    StencilLaunch large = launches_[0];
    for (std::size_t i = 0; i < 2; ++i) large.lengths[i] = setting->ValueOf(found_.lengths[i].launch);
    for (const auto& [element, formula] : some.begin()->second) {
      const StencilPlace place = large.PlaceOf(element);
      std::int64_t thread = 0, blocks = 0;
      for (std::size_t axis = 3; axis-- > 0;) {
        const std::int64_t at = place[axis] - FirstOfBlocks(found_, axis, runs_.runs().whole_blocks());
        thread = thread * of_plain->block[axis] + at % of_plain->block[axis];
        blocks = blocks * of_plain->grid[axis] + at / of_plain->block[axis];
      }
      if (!plain.RunThread(*of_plain, blocks * of_plain->block[0] * of_plain->block[1] * of_plain->block[2] + thread, same))
        return Refuse("a plain kernel would not store the same");
    }
    return AreSame(some, same, *other) || Refuse("it does something else with larger sizes");
  }

  // Blocks that walk through planes store many. Those that are left lie all over them.
  static void KeepSome(StoredFormulas& stored) {
    std::uint64_t random = 1;
    const std::size_t each = stored.begin()->second.size() / kMostLargeElements + 1;
    std::set<std::int64_t> dropped;
    for (const auto& [element, formula] : stored.begin()->second) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if ((random >> 33) % each != 0) dropped.insert(element);
    }
    for (auto& [buffer, elements] : stored) {
      for (const std::int64_t element : dropped) elements.erase(element);
    }
  }

  // Whether each element has the same formula of elements of the same buffers.
  bool AreSame(const StoredFormulas& stored, const StoredFormulas& others, const SyntaxTree& other_tree) const {
    const auto text_in = [](const SyntaxTree& tree, const ThreadFormula& formula) {
      return FormulaText(formula, [&](const ThreadFormula& part) {
        return part.kind == ThreadFormula::Kind::kElement ? fmt::format("{}[{}]", tree.node(part.memory).name, part.index) : "";
      });
    };
    std::map<std::string, const std::map<std::int64_t, FormulaPointer>*> by_name;
    for (const auto& [buffer, elements] : others) by_name[other_tree.node(buffer).name] = &elements;
    if (by_name.size() != stored.size()) return false;
    for (const auto& [buffer, elements] : stored) {
      const auto same = by_name.find(tree().node(buffer).name);
      if (same == by_name.end() || same->second->size() != elements.size()) return false;
      for (const auto& [index, formula] : elements) {
        const auto other = same->second->find(index);
        if (other == same->second->end() || text_in(tree(), *formula) != text_in(other_tree, *other->second)) return false;
      }
    }
    return true;
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
