#include "mutators/memory/exchange_tile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

class ExchangeTileWriter {
 public:
  ExchangeTileWriter(const SyntaxTree& tree, const TileWork& work, const TileAxes& axes)
      : tree_(tree), work_(work), axes_(axes) {}

  // The statements that declare what an address needs; nullopt if these load, or if their variables change.
  std::optional<std::set<int>> NeededFor(int address) const {
    std::set<int> needed;
    if (LoadsInParts(address)) return std::nullopt;
    for (const int named : NamedIn(tree_, address)) {
      const int statement = tree_.node(named).parent;
      if (std::find(work_.statements.begin(), work_.statements.end(), statement) == work_.statements.end()) {
        if (IsInStatements(tree_, work_, named)) return std::nullopt;
        continue;
      }
      for (const int variable : tree_.node(statement).children) {
        if (tree_.node(variable).kind_name != "VarDecl" || tree_.node(variable).children.empty() ||
            WrittenIn(tree_, work_.kernel).contains(variable) || IsMemoryName(tree_, variable) ||
            !IsPure(tree_, tree_.node(variable).children.back()) || LoadsIn(tree_, tree_.node(variable).children.back()))
          return std::nullopt;
        const auto more = NeededFor(tree_.node(variable).children.back());
        if (!more) return std::nullopt;
        needed.insert(more->begin(), more->end());
      }
      needed.insert(statement);
    }
    return needed;
  }

  // The element that is stored is itself no load.
  bool LoadsInParts(int address) const {
    if (address != work_.target) return LoadsIn(tree_, address);
    const auto& parts = tree_.node(address).children;
    return std::any_of(parts.begin(), parts.end(), [&](int part) { return LoadsIn(tree_, part); });
  }

  // The statements without declarations that only the address needs.
  std::set<int> NeededForValue() const {
    std::set<int> needed, named = NamedIn(tree_, work_.value);
    for (auto at = work_.statements.rbegin(); at != work_.statements.rend(); ++at) {
      const SyntaxNode& statement = tree_.node(*at);
      const bool used =
          std::any_of(statement.children.begin(), statement.children.end(), [&](int v) { return named.contains(v); });
      if (*at == work_.store || (statement.kind_name == "DeclStmt" && !used)) continue;
      needed.insert(*at);
      named.merge(NamedIn(tree_, *at));
    }
    return needed;
  }

  std::string LineOf(int statement) const {
    std::string text(tree_.Text(statement));
    if (!text.ends_with(";") && !text.ends_with("}")) text += ";";
    return text;
  }

  // One of the two passes over the tile.
  std::string Pass(bool stores, const std::string& tile, const std::string& row) const {
    const bool along_fast = axes_.loads_fast != stores;
    const std::string place =
        along_fast ? fmt::format("{}[{}][threadIdx.x]", tile, row) : fmt::format("{}[threadIdx.x][{}]", tile, row);
    std::string text = fmt::format("  for (int {0} = threadIdx.y; {0} < {1}; {0} += {2}) {{\n", row, kTile, kTileRows);
    text += fmt::format("    const {} {} = {} + {};\n", axes_.fast_type, axes_.fast, axes_.fast_first,
                        along_fast ? "threadIdx.x" : row);
    text += fmt::format("    const {} {} = {} + {};\n", axes_.slow_type, axes_.slow, axes_.slow_first,
                        along_fast ? row : "threadIdx.x");
    text += fmt::format("    if ({}) {{\n", fmt::join(axes_.conditions, " && "));
    std::string indent = "      ";
    if (!axes_.inside.empty()) {
      text += fmt::format("{}{}\n{}if ({}) {{\n", indent, axes_.inside, indent, axes_.inside_condition);
      indent += "  ";
    }
    const std::set<int> needed = stores ? *NeededFor(work_.target) : NeededForValue();
    for (const int statement : work_.statements) {
      if (statement == work_.store || axes_.declared.contains(statement)) continue;
      if (needed.contains(statement)) text += indent + LineOf(statement) + "\n";
    }
    text += stores ? fmt::format("{}{} = {};\n", indent, tree_.Text(work_.target), place)
                   : fmt::format("{}{} = {};\n", indent, place, tree_.Text(work_.value));
    if (!axes_.inside.empty()) text += "      }\n";
    return text + "    }\n  }\n";
  }

  Proposal Write() const {
    const std::string tile = FreshName(tree_, "tile"), row = FreshName(tree_, "part");
    std::string text =
        fmt::format("{{\n  __shared__ {} {}[{}][{}];\n", WithoutConst(tree_.node(work_.target).type), tile, kTile, kTile + 1);
    text += axes_.before + Pass(false, tile, row) + "  __syncthreads();\n" + Pass(true, tile, row) + "}";
    Proposal proposal;
    const int body = tree_.node(work_.kernel).children.back();
    proposal.changes.push_back({body, Placement::kReplace, std::move(text)});
    proposal.launch.push_back({work_.launch->kernel, "block", fmt::format("{}, {}", kTile, kTileRows)});
    proposal.launch.push_back({work_.launch->kernel, "grid", fmt::format("{}", fmt::join(axes_.grid, ", "))});
    return proposal;
  }

 private:
  const SyntaxTree& tree_;
  const TileWork& work_;
  const TileAxes& axes_;
};

}  // namespace

bool IsInStatements(const SyntaxTree& tree, const TileWork& work, int declaration) {
  return std::any_of(work.statements.begin(), work.statements.end(),
                     [&](int statement) { return IsWithin(tree, declaration, statement); });
}

std::optional<std::set<int>> StatementsFor(const SyntaxTree& tree, const TileWork& work, int address) {
  const TileAxes none;
  return ExchangeTileWriter(tree, work, none).NeededFor(address);
}

Proposal WrittenTile(const SyntaxTree& tree, const TileWork& work, const TileAxes& axes) {
  return ExchangeTileWriter(tree, work, axes).Write();
}

}  // namespace evo
