#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/memory/exchange_tile.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The functions of the file that a kernel calls, by whatever they are called, and it.
std::vector<int> FunctionsBehind(const SyntaxTree& tree, int kernel) {
  std::vector<int> found{kernel};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto tokens = tree.Tokens(tree.node(found[i]).range);
    for (const int function : Functions(tree)) {
      const bool named = std::find(tokens.begin(), tokens.end(), tree.node(function).name) != tokens.end();
      if (named && std::find(found.begin(), found.end(), function) == found.end()) found.push_back(function);
    }
  }
  return found;
}

// Whether the lanes of a warp work together. Other threads would form a warp after the exchange.
bool KnowsItsWarp(const SyntaxTree& tree, int kernel) {
  for (const int function : FunctionsBehind(tree, kernel)) {
    for (const int node : Subtree(tree, function)) {
      const SyntaxNode& at = tree.node(node);
      if (at.opaque || at.kind_name.find("Asm") != std::string::npos || at.kind_name == "UnexposedStmt") return true;
      const std::string_view callee = LibraryCallee(tree, node);
      if (callee.ends_with("_sync") || callee == "__syncwarp" || callee == "__activemask") return true;
      if (at.kind_name == "DeclRefExpr" && (at.name == "warpSize" || at.type.find("wmma") != std::string::npos)) return true;
    }
  }
  return false;
}

class CoalesceExchange : public SourceMutator {
 public:
  std::string_view name() const override { return "coalesce_exchange"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "exchanges the roles of threadIdx.x and threadIdx.y, so that neighbouring threads access other elements, or brings "
           "elements that are stored in another order than they are loaded through a tile in shared memory";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals = InPlainSource(context, Find);
    std::vector<Proposal> tiles = InPlainSource(context, ExchangeTiles, ThreadLoops::kOfElements);
    proposals.insert(proposals.end(), tiles.begin(), tiles.end());
    return proposals;
  }

  std::vector<std::string> Refusals(const MutationContext& context) const override {
    if (!Proposals(context).empty()) return {};
    return RefusalsInPlainSource(context, ExchangeTiles, WhyNoExchangeTiles, ThreadLoops::kOfElements);
  }

 private:
  static std::vector<Proposal> Find(const MutationContext& context) {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
      if (!launch || launch->block.size() < 2 || !launch->cluster.empty() || KnowsItsWarp(tree, kernel)) continue;
      if (BuiltinUses(tree, kernel, "threadIdx", 0).empty() || BuiltinUses(tree, kernel, "threadIdx", 1).empty()) continue;
      if (auto threads = Exchanged(tree, kernel, {"threadIdx", "blockDim"})) {
        // First only the threads in another order, then the blocks, too.
        threads->launch.push_back(Turned(*launch, "block"));
        proposals.push_back(std::move(*threads));
      }
      if (launch->grid.size() < 2) continue;
      if (auto all = Exchanged(tree, kernel, {"threadIdx", "blockDim", "blockIdx", "gridDim"})) {
        all->launch.push_back(Turned(*launch, "block"));
        all->launch.push_back(Turned(*launch, "grid"));
        proposals.push_back(std::move(*all));
      }
    }
    return proposals;
  }

  static LaunchChange Turned(const LaunchDirective& launch, const std::string& field) {
    std::vector<std::string> dimensions;
    for (const Expression& dimension : field == "grid" ? launch.grid : launch.block) dimensions.push_back(dimension.text());
    std::swap(dimensions[0], dimensions[1]);
    return {launch.kernel, field, fmt::format("{}", fmt::join(dimensions, ", "))};
  }

  // nullopt if a device function or a macro uses one of the built-in variables, too.
  static std::optional<Proposal> Exchanged(const SyntaxTree& tree, int kernel, const std::vector<std::string>& builtins) {
    Proposal proposal;
    for (const std::string& builtin : builtins) {
      if (IsUsedElsewhere(tree, kernel, builtin)) return std::nullopt;
      for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
        for (const int use : BuiltinUses(tree, kernel, builtin, axis))
          proposal.changes.push_back({use, Placement::kReplace, fmt::format("{}.{}", builtin, axis == 0 ? "y" : "x")});
      }
    }
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeCoalesceExchange() { return std::make_unique<CoalesceExchange>(); }

}  // namespace evo
