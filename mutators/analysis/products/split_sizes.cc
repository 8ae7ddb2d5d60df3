#include "mutators/analysis/products/split_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Which of the numbers the columns and the rows of blocks are for: (m, n, k), (m, k, n), (n, m, k).
constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kAxesOfProducts{{{1, 0}, {2, 0}, {0, 1}}};

// The places among the arguments of a size that is passed most often, at least twice.
std::pair<std::string, std::vector<std::size_t>> OftenPassed(const LaunchDirective& launch) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) places[launch.arguments[i]].push_back(i);
  const auto most = std::max_element(places.begin(), places.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == places.end() || most->second.size() < 2) return {};
  return {most->first, most->second};
}

}  // namespace

MutationContext WithSplitSizes::In(const MutationContext& context) const {
  return {context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
}

std::string WithSplitSizes::WithOwnSizes(std::string text) const {
  for (const auto& [name, own] : sizes) text = WithOtherName(text, name, own);
  return text;
}

std::vector<WithSplitSizes> SplitSizes(const MutationContext& context, int kernel, const LaunchDirective& launch) {
  const auto [size, places] = OftenPassed(launch);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (size.empty() || !std::all_of(size.begin(), size.end(), is_word) || context.genome.parameters.contains(size)) return {};
  if (launch.grid.size() != 2) return {};
  std::vector<std::string> names, arguments = launch.arguments;
  std::map<std::string, std::string> sizes;
  std::string used = context.tree.text();
  for (const std::size_t place : places) {
    names.push_back(UnusedName(used, fmt::format("{}_{}", size, names.size() + 1)));
    used += " " + names.back();
    sizes[names.back()] = size;
    arguments[place] = names.back();
  }
  std::vector<WithSplitSizes> all;
  for (const auto& [columns, rows] : kAxesOfProducts) {
    if (columns >= names.size() || rows >= names.size()) continue;
    const std::string grid = fmt::format("{}, {}", WithOtherName(launch.grid[0].text(), size, names[columns]),
                                         WithOtherName(launch.grid[1].text(), size, names[rows]));
    std::optional<std::string> text = context.tree.text();
    for (const LaunchChange& change : {LaunchChange{launch.kernel, "arguments", fmt::format("{}", fmt::join(arguments, ", "))},
                                       LaunchChange{launch.kernel, "grid", grid}}) {
      if (text) text = RenderLaunchChange(*text, change);
    }
    auto tree = text ? context.tree.Reparsed(*text) : nullptr;
    if (!tree || tree->node(kernel).name != context.tree.node(kernel).name) continue;
    KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
    all.push_back({std::move(tree), std::move(rendered), sizes});
  }
  return all;
}

}  // namespace evo
