#include "mutators/analysis/stencils/plain_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "core/expression.h"
#include "kernel_templates/kernel_template.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/plain_stencil.h"
#include "mutators/analysis/stencils/stencil_small_runs.h"

namespace evo {
namespace {

// Blocks, or threads, of the larger launch that are run of both kernels.
constexpr std::int64_t kLargeBlocks = 12, kLargeLoneThreads = 2000;
constexpr std::size_t kMostLargeElements = 4000;
constexpr std::int64_t kLeastLargeSize = 40, kMostLargeNumber = 1100, kLargeCountOfFormulas = 5;
// In hundredths of an axis, how far some of these elements are at least, where an axis is no few elements.
constexpr std::int64_t kReachedOfHundred = 85, kMostBeforeTheEnd = 2;
// Elements of a launch of few blocks, and how long an axis is at least.
constexpr std::int64_t kMostOfFewBlocks = 40'000, kLeastOfFewBlocks = 6;

// Blocks that walk through planes store many. Those that are left lie all over them.
void KeepSomeFormulas(StoredFormulas& stored) {
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

}  // namespace

bool PlainComparison::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool PlainComparison::StoresTheSame(const std::string& text) {
  const auto other = tree_.Reparsed(text);
  if (!other) return Refuse("it cannot be written as a plain kernel");
  other_ = other.get();
  const KernelTemplate rendered = ParseTemplate(context_.rendered.name, text);
  const MutationContext context{context_.kernel_template, context_.genome, *other, rendered, nullptr, context_.product_elsewhere};
  const std::string& name = tree_.node(known_.found.kernel).name;
  int kernel = -1;
  for (const int function : Functions(*other)) {
    if (other->node(function).name == name && IsKernel(*other, function)) kernel = function;
  }
  const LaunchDirective* const launch = kernel < 0 ? nullptr : AlikeLaunches(context, kernel);
  if (launch == nullptr) return Refuse("it cannot be written as a plain kernel");
  FormulaRuns plain(context, kernel, *launch);
  return SameSmall(plain) && SameLarge(plain) && SameWithFewBlocks(plain);
}

bool PlainComparison::SameSmall(FormulaRuns& plain) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto setting = plain.runs().SettingOf(SmallSizesOfStencil(runs_.runs(), i, known_.counts));
    StoredFormulas stored;
    if (!setting || !plain.Run(*setting, stored) || !AreSame(known_.stored[i], stored))
      return Refuse("a plain kernel would not store the same");
  }
  return true;
}

bool PlainComparison::SameLarge(FormulaRuns& plain) {
  const Stencil& found = known_.found;
  LaunchRuns& runs = runs_.runs();
  if (runs_.largest_number() > kMostLargeNumber)
    return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", runs_.largest_number()));
  const LaunchRuns::Sizes sizes = LargeSizes();
  const auto setting = runs.SettingOf(sizes), of_plain = plain.runs().SettingOf(sizes);
  StoredFormulas some, same;
  if (!setting || !of_plain) return Refuse("its launch line has no threads with larger sizes");
  if (!runs_.Run(*setting, some, runs.together() ? kLargeBlocks : kLargeLoneThreads)) return Refuse(runs_.why());
  if (some.empty()) return Refuse("it stores nothing with larger sizes");
  StencilLaunch large = known_.launches[0];
  for (std::size_t i = 0; i < 2; ++i) large.lengths[i] = setting->ValueOf(found.lengths[i].launch);
  if (!ReachesTheEnd(large, *setting, some)) return Refuse("with larger sizes it stores only some of the elements");
  KeepSomeFormulas(some);
  for (const auto& [element, formula] : some.begin()->second) {
    const StencilPlace place = large.PlaceOf(element);
    std::int64_t thread = 0, blocks = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      const std::int64_t at = place[axis] - FirstOfBlocks(found, axis, runs.whole_blocks());
      thread = thread * of_plain->block[axis] + at % of_plain->block[axis];
      blocks = blocks * of_plain->grid[axis] + at / of_plain->block[axis];
    }
    if (!plain.RunThread(*of_plain, blocks * of_plain->block[0] * of_plain->block[1] * of_plain->block[2] + thread, same))
      return Refuse("a plain kernel would not store the same");
  }
  return AreSame(some, same) || Refuse("it does something else with larger sizes");
}

// Whether elements of a launch, of which the last block's are among them, are not all in front of a number of the code.
bool PlainComparison::ReachesTheEnd(const StencilLaunch& launch, const LaunchRuns::Setting& setting,
                                    const StoredFormulas& stored) const {
  std::array<std::int64_t, 3> last{};
  for (const auto& [element, formula] : stored.begin()->second) {
    const StencilPlace place = launch.PlaceOf(element);
    for (std::size_t axis = 0; axis < last.size(); ++axis) last[axis] = std::max(last[axis], place[axis]);
  }
  const std::size_t axes = known_.found.IsLine() ? 1 : known_.found.dimensions;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (last[axis] < setting.ValueOf(known_.found.stores[axis].end.launch) * kReachedOfHundred / 100 - kMostBeforeTheEnd)
      return false;
  }
  return true;
}

// Sizes beyond all numbers of the code, and so many elements that threads of a grid of one size have several.
LaunchRuns::Sizes PlainComparison::LargeSizes() const {
  const LaunchRuns& runs = runs_.runs();
  const Stencil& found = known_.found;
  std::int64_t next = std::max(runs_.largest_number(), kLeastLargeSize);
  // As an index, the product of three must not be too long.
  if (found.dimensions == 2 || next + next / 4 <= kMostLargeNumber) next += next / 4;
  if (runs.HasFixedGrid()) {
    const auto setting = runs.SettingOf(SmallSizesOfStencil(runs, 0, known_.counts));
    const std::int64_t wanted = setting ? 5 * setting->Threads() / 2 : 0;
    while ((found.IsLine() ? next : found.dimensions == 2 ? next * next : next * next * next) < wanted) next += next / 4;
  }
  LaunchRuns::Sizes sizes;
  for (const std::string& name : runs.names()) {
    next += 3;
    if (const auto whole = runs.whole_blocks().find(name); whole != runs.whole_blocks().end())
      next += (whole->second.threads - next % whole->second.threads) % whole->second.threads;
    sizes[name] = known_.counts.contains(name) ? kLargeCountOfFormulas : next;
  }
  return sizes;
}

// Threads that take several elements each come to all of them: where there are more elements than threads along each axis, all
// threads are run, of a large grid those of one block. Which axis of the grid is which of the elements is not known, and so both
// ways round are tried.
bool PlainComparison::SameWithFewBlocks(FormulaRuns& plain) {
  LaunchRuns& runs = runs_.runs();
  bool any_fixed = false;
  for (std::size_t axis = 0; axis < 3; ++axis) any_fixed |= runs.IsFixed(axis);
  if (!any_fixed) return true;
  for (const bool turned : {false, true}) {
    std::optional<LaunchRuns::Setting> setting, of_plain;
    for (const std::int64_t blocks : {0, 1}) {
      runs.LimitGrid(blocks);
      const auto few = setting ? std::nullopt : runs.SettingOf(SmallSizesOfStencil(runs, 0, known_.counts));
      if (const auto sizes = few ? SizesOfFewBlocks(*few, turned) : std::nullopt) {
        setting = runs.SettingOf(*sizes);
        of_plain = plain.runs().SettingOf(*sizes);
      }
    }
    runs.LimitGrid(0);
    if (!setting || !of_plain) return Refuse("its grid has the same number of blocks for all sizes, and a block is too large");
    StoredFormulas all, same;
    if (!runs_.Run(*setting, all)) return Refuse(runs_.why());
    if (!plain.Run(*of_plain, same) || !AreSame(all, same))
      return Refuse("its grid has the same number of blocks for all sizes, and its threads do not come to all elements");
  }
  return true;
}

std::optional<LaunchRuns::Sizes> PlainComparison::SizesOfFewBlocks(const LaunchRuns::Setting& few, bool turned) const {
  const LaunchRuns& runs = runs_.runs();
  const Stencil& found = known_.found;
  const std::size_t axes = found.IsLine() ? 1 : found.dimensions;
  std::array<std::int64_t, 3> wanted{}, threads{};
  std::int64_t elements = 1, all = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    threads[axis] = few.block[axis] * (runs.IsFixed(axis) ? few.grid[axis] : 1);
    all *= threads[axis];
  }
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t of_grid = turned && axis < 2 && axes > 1 ? 1 - axis : axis;
    const bool fixed = runs.IsFixed(of_grid);
    wanted[axis] = std::max(kLeastOfFewBlocks, fixed ? threads[of_grid] + 3 : 0) + 2 * static_cast<std::int64_t>(axis);
    elements *= wanted[axis];
  }
  // Threads of one axis take elements of several.
  for (std::int64_t& one : wanted) {
    while (one > 0 && one < all && elements < 2 * all) {
      elements = elements / one * (one + 4);
      one += 4;
    }
  }
  LaunchRuns::Sizes sizes = SmallSizesOfStencil(runs, 1, known_.counts);
  for (std::size_t axis = axes; axis-- > 0;) {
    for (const std::string& name : Expression::Parse(found.stores[axis].end.launch).Names()) {
      if (known_.counts.contains(name) || !sizes.contains(name)) continue;
      const auto whole = runs.whole_blocks().find(name);
      const std::int64_t unit = whole == runs.whole_blocks().end() ? 1 : whole->second.threads;
      sizes[name] = (wanted[axis] + unit - 1) / unit * unit;
    }
  }
  return elements <= kMostOfFewBlocks ? std::optional(sizes) : std::nullopt;
}

// Whether each element has the same formula of elements of the same buffers.
bool PlainComparison::AreSame(const StoredFormulas& stored, const StoredFormulas& others) const {
  const auto text_in = [](const SyntaxTree& tree, const ThreadFormula& formula) {
    return FormulaText(formula, [&](const ThreadFormula& part) {
      return part.kind == ThreadFormula::Kind::kElement ? fmt::format("{}[{}]", tree.node(part.memory).name, part.index) : "";
    });
  };
  std::map<std::string, const std::map<std::int64_t, FormulaPointer>*> by_name;
  for (const auto& [buffer, elements] : others) by_name[other_->node(buffer).name] = &elements;
  if (by_name.size() != stored.size()) return false;
  for (const auto& [buffer, elements] : stored) {
    const auto same = by_name.find(tree_.node(buffer).name);
    if (same == by_name.end() || same->second->size() != elements.size()) return false;
    for (const auto& [index, formula] : elements) {
      const auto other = same->second->find(index);
      if (other == same->second->end() || text_in(tree_, *formula) != text_in(*other_, *other->second)) return false;
    }
  }
  return true;
}

}  // namespace evo
