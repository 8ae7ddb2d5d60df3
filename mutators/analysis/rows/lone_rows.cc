#include "mutators/analysis/rows/lone_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mutators/analysis/rows/lone_kernel.h"
#include "mutators/analysis/rows/staged_rows.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// The launch line with blocks of so many threads, as many blocks, if they are given, and no dynamic shared memory.
std::optional<std::string> LoneLaunch(std::string line, const std::string& threads, const std::string& blocks) {
  const auto part = [&](const std::string& word) -> std::pair<std::size_t, std::size_t> {
    const std::size_t at = line.find(" " + word + "(");
    if (at == std::string::npos) return {at, at};
    std::size_t end = at + word.size() + 2;
    for (int depth = 1; end < line.size() && depth > 0; ++end) depth += (line[end] == '(') - (line[end] == ')');
    return {at, end};
  };
  const auto block = part("block");
  if (block.first == std::string::npos) return std::nullopt;
  line.replace(block.first, block.second - block.first, fmt::format(" block({})", threads));
  if (const auto grid = part("grid"); !blocks.empty() && grid.first != std::string::npos)
    line.replace(grid.first, grid.second - grid.first, fmt::format(" grid({})", blocks));
  if (const auto shared = part("shared"); shared.first != std::string::npos)
    line.erase(shared.first, shared.second - shared.first);
  return line;
}

bool MayShareRows(const SyntaxTree& tree, int kernel) {
  return Cooperates(tree, kernel) && tree.node(tree.node(kernel).children.back()).kind_name == "CompoundStmt";
}

// The source in which the bodies of such kernels are others; null if there are none.
using FindBody = std::optional<std::string> (*)(const SyntaxTree&, int);
std::shared_ptr<const SyntaxTree> WithBodies(const SyntaxTree& tree, FindBody body_of) {
  std::string text = tree.text();
  std::vector<int> kernels = Functions(tree);
  std::reverse(kernels.begin(), kernels.end());
  bool found = false;
  for (const int kernel : kernels) {
    if (!IsKernel(tree, kernel) || !MayShareRows(tree, kernel)) continue;
    const auto body = body_of(tree, kernel);
    if (!body) continue;
    const SourceRange range = tree.node(tree.node(kernel).children.back()).range;
    text.replace(range.begin, range.size(), *body);
    found = true;
  }
  return found ? tree.Reparsed(text) : nullptr;
}

// A variable in the place of blockIdx.x, which analyses know as one that never changes.
std::optional<std::string> WithNamedBlock(const SyntaxTree& tree, int kernel) {
  const int body = tree.node(kernel).children.back();
  const auto uses = BuiltinUses(tree, body, "blockIdx", 0);
  if (uses.empty()) return std::nullopt;
  const std::string name = FreshName(tree, "block_row");
  Replacements replacements;
  for (const int use : uses) replacements.emplace_back(use, name);
  return fmt::format("{{\nconst unsigned int {} = blockIdx.x;\n{}", name, TextWith(tree, body, replacements).substr(1));
}

}  // namespace

std::optional<std::string> WithLoneRows(const MutationContext& context, const std::function<void(const std::string&)>& refuse) {
  const auto staged = WithBodies(context.tree, WithoutStagedRows);
  const auto named = WithBodies(staged ? *staged : context.tree, WithNamedBlock);
  const SyntaxTree& tree = named ? *named : staged ? *staged : context.tree;
  const MutationContext plain{context.kernel_template, context.genome,        tree,
                              context.rendered,        context.second_parent, context.product_elsewhere};
  std::string text = tree.text();
  std::vector<std::pair<SourceRange, std::string>> changes;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || !MayShareRows(tree, kernel)) continue;
    const std::string& name = tree.node(kernel).name;
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, name);
    if (launch == nullptr || !launch->cluster.empty() || launch->cooperative) continue;
    std::string body, why, threads = "1", blocks;  // `why` of kernels that share loops in this way
    for (const bool of_warps : {false, true}) {
      LoneKernel lone(plain, kernel, *launch, of_warps);
      body = lone.Body();
      if (lone.has_loop()) why = lone.why();
      if (body.empty()) continue;
      blocks = lone.grid();
      const bool along_y = launch->block.size() > 1 && launch->block[1].text() != "1";
      if (of_warps) threads = along_y ? launch->block[1].text() : fmt::format("{} / 32", Parenthesised(launch->block[0].text()));
      break;
    }
    if (body.empty() && !why.empty()) refuse(fmt::format("{}: {}", name, why));
    if (body.empty()) continue;
    std::size_t begin = 0;
    for (int line = 1; line < launch->line; ++line) begin = text.find('\n', begin) + 1;
    const std::size_t end = text.find('\n', begin);
    const auto line = LoneLaunch(text.substr(begin, end - begin), threads, blocks);
    if (!line) continue;
    changes.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, *line});
    changes.push_back({tree.node(tree.node(kernel).children.back()).range, body});
  }
  if (changes.empty()) return std::nullopt;
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
  for (const auto& [range, with] : changes) text.replace(range.begin, range.end - range.begin, with);
  return text;
}

}  // namespace evo
