#include "mutators/analysis/stencils/stencil_tile.h"

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// How deep variables are followed to what uses them.
constexpr int kTileDepth = 8;

bool IsSharedVariable(const SyntaxTree& tree, int node) { return tree.node(node).kind_name == "VarDecl" && IsShared(tree, node); }

// The arrays that a statement declares in shared memory; nullopt if one of these is not understood.
std::optional<std::vector<int>> TilesOf(const SyntaxTree& tree, int statement) {
  std::vector<int> tiles;
  if (tree.node(statement).kind_name != "DeclStmt") return tiles;
  for (const int variable : tree.node(statement).children) {
    if (IsSharedVariable(tree, variable)) tiles.push_back(variable);
  }
  if (tiles.empty()) return tiles;
  const bool all = tiles.size() == tree.node(statement).children.size();
  const bool known = std::all_of(tiles.begin(), tiles.end(),
                                 [&](int tile) { return IsLocalArray(tree, tile) && !tree.node(tile).type.ends_with("[]"); });
  return all && known && tree.Text(statement).find("extern") == std::string_view::npos ? std::optional(tiles) : std::nullopt;
}

bool IsAmong(const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

// Whether all that a statement stores are elements of tiles and variables of its own, and no thread leaves in it.
bool OnlyFills(const SyntaxTree& tree, int statement, const std::vector<int>& tiles) {
  if (Cooperates(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).kind_name == "ReturnStmt") return false;
    const int target = Assigned(tree, node);
    if (target < 0) continue;
    const int owner = Owner(tree, target);
    if (owner < 0 || !(IsAmong(tiles, owner) || IsWithin(tree, owner, statement))) return false;
  }
  return true;
}

bool IsOnlyFor(const SyntaxTree& tree, const Stencil& stencil, int node, int depth) {
  if (IsOfTile(tree, stencil, node)) return true;
  if (std::any_of(stencil.sites.begin(), stencil.sites.end(), [&](const auto& site) { return IsWithin(tree, node, site.node); }))
    return true;
  // What declares a coordinate is written anew.
  if (std::any_of(stencil.roles.begin(), stencil.roles.end(), [&](const auto& role) { return IsWithin(tree, node, role.first); }))
    return true;
  int variable = node;
  while (variable >= 0 && variable != stencil.kernel && tree.node(variable).kind_name != "VarDecl")
    variable = tree.node(variable).parent;
  if (depth == 0 || variable < 0 || variable == stencil.kernel) return false;
  const auto& uses = tree.UsesOf(variable);
  return std::all_of(uses.begin(), uses.end(), [&](int use) { return IsOnlyFor(tree, stencil, use, depth - 1); });
}

}  // namespace

std::optional<std::set<int>> TileStatements(const SyntaxTree& tree, int body, const std::set<int>& effects) {
  const auto& statements = tree.node(body).children;
  std::size_t behind = 0;  // the last barrier
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (IsBlockBarrier(tree, statements[i])) behind = i + 1;
  }
  std::set<int> found;
  std::vector<int> tiles;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const int statement = statements[i];
    const auto declared = TilesOf(tree, statement);
    if (!declared) return std::nullopt;
    tiles.insert(tiles.end(), declared->begin(), declared->end());
    const bool declares = tree.node(statement).kind_name == "DeclStmt";
    if (!declared->empty() || IsBlockBarrier(tree, statement)) {
      found.insert(statement);
    } else if (i >= behind || declares) {
      if (Cooperates(tree, statement, true, effects)) return std::nullopt;
    } else {
      if (tree.node(statement).kind_name != kPragmaKind && !OnlyFills(tree, statement, tiles)) return std::nullopt;
      found.insert(statement);
    }
    if (i < behind) continue;
    for (const int node : Subtree(tree, statement)) {
      const int target = Assigned(tree, node), owner = target < 0 ? -1 : Owner(tree, target);
      if (owner >= 0 && IsAmong(tiles, owner)) return std::nullopt;
    }
  }
  return behind > 0 && !tiles.empty() ? std::optional(found) : std::nullopt;
}

int TileAt(const SyntaxTree& tree, int node) {
  const SyntaxNode& element = tree.node(node);
  if (element.kind_name != "ArraySubscriptExpr" || tree.node(element.parent).kind_name == "ArraySubscriptExpr") return -1;
  const int array = Owner(tree, node);
  return array >= 0 && IsSharedVariable(tree, array) ? array : -1;
}

bool IsOfTile(const SyntaxTree& tree, const Stencil& stencil, int node) {
  return std::any_of(stencil.of_tile.begin(), stencil.of_tile.end(),
                     [&](int statement) { return IsWithin(tree, node, statement); });
}

bool IsOnlyForTile(const SyntaxTree& tree, const Stencil& stencil, int node) {
  return !stencil.of_tile.empty() && IsOnlyFor(tree, stencil, node, kTileDepth);
}

bool AreTilesNeighbours(const SyntaxTree& tree, const Stencil& stencil) {
  for (const int statement : stencil.of_tile) {
    if (tree.node(statement).kind_name != "DeclStmt") continue;
    for (const int tile : tree.node(statement).children) {
      const auto& uses = tree.UsesOf(tile);
      const bool all = std::all_of(uses.begin(), uses.end(), [&](int use) { return IsOnlyFor(tree, stencil, use, 1); });
      if (!all) return false;
    }
  }
  return true;
}

}  // namespace evo
