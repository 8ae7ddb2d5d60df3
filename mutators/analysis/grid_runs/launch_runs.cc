#include "mutators/analysis/grid_runs/launch_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// More threads of a launch are no small case.
constexpr std::int64_t kMostGrid = std::int64_t{1} << 40;

// Whether a text is "name / divisor", whatever blanks and parentheses are around it.
bool IsQuotient(std::string_view text, std::string_view name, std::string_view divisor) {
  const auto bare = [](std::string_view of) {
    std::string without;
    std::copy_if(of.begin(), of.end(), std::back_inserter(without), [](char c) { return c != ' ' && c != '(' && c != ')'; });
    return without;
  };
  return bare(text) == bare(name) + "/" + bare(divisor);
}

// What a name is divided by: a word, or what is within parentheses; empty if a text is no such quotient.
std::string DivisorIn(std::string_view text, std::string_view name) {
  const auto skip = [&](std::string_view part) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    const bool there = text.starts_with(part);
    if (there) text.remove_prefix(part.size());
    return there;
  };
  if (!skip(name) || !skip("/") || !skip("")) return "";
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    const bool word = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'z') ||
                      (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '_';
    if (depth == 0 && !word && (text[i] != ')' || i + 1 < text.size())) return "";
  }
  return std::string(text);
}

}  // namespace

LaunchRuns::LaunchRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, int watched,
                       std::set<int> noted)
    : context_(context),
      launch_(launch),
      run_(context, kernel, -1),
      sizes_(context, launch, kernel),
      together_(NeedsBlock(context.tree, kernel)) {
  given_.watched = watched;
  given_.noted = std::move(noted);
  given_.reals = sizes_.reals();
  for (const auto* dimensions : {&launch_.grid, &launch_.block}) {
    for (const Expression& dimension : *dimensions) sizes_.AddNames(dimension);
  }
  Variables values;
  for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
  for (std::size_t axis = 0; axis < std::min(launch_.grid.size(), launch_.block.size()); ++axis) {
    const std::string& threads = launch_.block[axis].text();
    for (const std::string& name : names()) {
      const Expression& grid = launch_.grid[axis];
      if (grid.Names().empty()) continue;
      const bool each = IsQuotient(grid.text(), name, threads);
      const std::string divisor = each ? threads : DivisorIn(grid.text(), name);
      if (divisor.empty()) continue;
      try {
        const std::int64_t count = Expression::Parse(divisor).EvaluateInteger(values);
        const std::int64_t of_block = launch_.block[axis].EvaluateInteger(values);
        // A thread may have several elements.
        if (!each && (count <= of_block || of_block < 1 || count % of_block != 0)) continue;
        if (count > whole_blocks_[name].threads) whole_blocks_[name] = {count, divisor};
      } catch (const Error&) {
        continue;
      }
    }
  }
  std::erase_if(whole_blocks_, [](const auto& one) { return one.second.threads == 1; });
}

bool LaunchRuns::IsFixed(std::size_t axis) const {
  if (axis >= launch_.grid.size()) return false;
  const auto named = launch_.grid[axis].Names();
  return std::none_of(named.begin(), named.end(), [&](const auto& name) {
    return std::find(names().begin(), names().end(), std::string(name)) != names().end();
  });
}

bool LaunchRuns::HasFixedGrid() const {
  bool fixed = true;
  for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis) fixed &= IsFixed(axis);
  return fixed;
}

std::optional<LaunchRuns::Setting> LaunchRuns::SettingOf(const Sizes& sizes) const {
  Setting setting;
  for (const auto& [name, value] : context_.genome.parameters) setting.values[name] = Number::Integer(value);
  for (const auto& [name, value] : sizes) setting.values[name] = Number::Integer(limits_.odd.contains(name) ? value | 1 : value);
  try {
    for (const auto& [parameter, expression] : sizes_.arguments())
      setting.integers[parameter] = expression.EvaluateInteger(setting.values);
    for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis)
      setting.grid[axis] = launch_.grid[axis].EvaluateInteger(setting.values);
    for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis) {
      if (limits_.blocks > 0 && IsFixed(axis)) setting.grid[axis] = std::min(setting.grid[axis], limits_.blocks);
    }
    for (std::size_t axis = 0; axis < launch_.block.size(); ++axis)
      setting.block[axis] = launch_.block[axis].EvaluateInteger(setting.values);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::int64_t threads = 1;
  for (const auto& dimensions : {setting.grid, setting.block}) {
    for (const std::int64_t dimension : dimensions) {
      if (dimension <= 0 || dimension > kMostGrid / threads) return std::nullopt;
      threads *= dimension;
    }
  }
  return setting;
}

std::map<int, std::int64_t> LaunchRuns::BuiltinsOf(const Setting& setting, std::int64_t thread) {
  std::map<int, std::int64_t> builtins;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    builtins[BuiltinSymbol("threadIdx", axis)] = thread % setting.block[axis];
    thread /= setting.block[axis];
    builtins[BuiltinSymbol("blockDim", axis)] = setting.block[axis];
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    builtins[BuiltinSymbol("blockIdx", axis)] = thread % setting.grid[axis];
    thread /= setting.grid[axis];
    builtins[BuiltinSymbol("gridDim", axis)] = setting.grid[axis];
  }
  return builtins;
}

void LaunchRuns::KeepTouches(std::vector<int> counters, std::set<int> of_tile) {
  given_.addresses = true;
  given_.counters = std::move(counters);
  of_tile_ = std::move(of_tile);
}

ThreadTrace LaunchRuns::Run(const Setting& setting, std::int64_t thread, bool symbolic) {
  ThreadSetting one = given_;
  one.integers = setting.integers;
  one.builtins = BuiltinsOf(setting, thread);
  one.symbolic = symbolic;
  if (!together_) return run_.Run(one);
  const std::int64_t size = setting.block[0] * setting.block[1] * setting.block[2], block = thread / size;
  // A launch line may have sizes that the kernel does not get.
  const bool same = setting.integers == last_.integers && setting.grid == last_.grid && setting.block == last_.block;
  if (block != last_.number || symbolic != last_.symbolic || !same) {
    std::vector<ThreadSetting> threads(static_cast<std::size_t>(size), one);
    for (std::int64_t i = 0; i < size; ++i) threads[static_cast<std::size_t>(i)].builtins = BuiltinsOf(setting, block * size + i);
    last_ = {RunBlock(run_, std::move(threads), most_turns_), block, symbolic, setting.integers, setting.grid, setting.block};
    for (ThreadTrace& trace : last_.traces) {
      std::erase_if(trace.touches, [&](const ThreadTrace::Touch& touch) {
        return std::any_of(of_tile_.begin(), of_tile_.end(),
                           [&](int statement) { return IsWithin(context_.tree, touch.node, statement); });
      });
    }
  }
  return last_.traces[static_cast<std::size_t>(thread % size)];
}

}  // namespace evo
