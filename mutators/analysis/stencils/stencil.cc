#include "mutators/analysis/stencils/stencil.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/stencil_effects.h"
#include "mutators/analysis/stencils/stencil_finder.h"
#include "mutators/analysis/stencils/stencil_tile.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Reads of one buffer from which on a kernel is taken for a stencil, and loops around one read.
constexpr int kReadsOfStencil = 3;
// Of differences: reads of each of several buffers.
constexpr int kReadsOfDifference = 2;
constexpr int kLoopsOfStencil = 2;
// Turns of a loop over neighbours, which the compiler must write out.
constexpr std::int64_t kMostNeighbourTurns = 32;
// How deep variables are followed to what they are computed from.
constexpr int kPlaceDepth = 8;

bool IsForLoop(const SyntaxTree& tree, int node) { return tree.node(node).kind_name == "ForStmt"; }

bool IsAnyLoop(const SyntaxTree& tree, int node) {
  constexpr std::array kLoops{"ForStmt"sv, "WhileStmt"sv, "DoStmt"sv, "CXXForRangeStmt"sv};
  return std::find(kLoops.begin(), kLoops.end(), tree.node(node).kind_name) != kLoops.end();
}

bool IsBuiltin(std::string_view name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim" || name == "warpSize";
}

bool BeginsBelowZero(const SyntaxTree& tree, int loop) {
  const auto counted = WithCountedHeader(tree, loop);
  return counted && tree.Text(counted->start).starts_with('-');
}

// Whether a kernel reads several elements of a buffer, or of an array in shared memory, that are named apart, in loops one in the
// other, or in one that begins below 0.
bool ReadsSeveral(const SyntaxTree& tree, int kernel) {
  std::map<int, int> reads;
  int differences = 0;
  for (const int node : Subtree(tree, kernel)) {
    const int pointer = PointerAt(tree, node);
    const int root = pointer < 0 ? TileAt(tree, node) : RootOf(tree, pointer);
    if (root < 0 || (pointer >= 0 && tree.node(root).kind_name != "ParmDecl")) continue;
    int loops = 0;
    for (int at = tree.node(node).parent; at != kernel && at >= 0; at = tree.node(at).parent) {
      if (!IsForLoop(tree, at) || !AsCountedLoop(tree, at)) continue;
      loops += BeginsBelowZero(tree, at) ? kLoopsOfStencil : 1;
    }
    differences += ++reads[root] == kReadsOfDifference ? 1 : 0;
    if (reads[root] >= kReadsOfStencil || loops >= kLoopsOfStencil || differences >= kReadsOfDifference) return true;
  }
  return false;
}

// Whether the text of a kernel speaks of neighbours: a loop that begins below 0, or two elements whose indices are differences.
bool NamesNeighbours(const SyntaxTree& tree, int kernel) {
  int subtracted = 0;
  for (const int node : Subtree(tree, kernel)) {
    if (IsForLoop(tree, node) && BeginsBelowZero(tree, node)) return true;
    if (tree.node(node).kind_name != "ArraySubscriptExpr") continue;
    if (tree.Text(tree.node(node).children.back()).find('-') != std::string_view::npos) ++subtracted;
  }
  return subtracted >= 2;
}

// Reads what a kernel consists of.
class StencilParts {
 public:
  StencilParts(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {
    found_.kernel = kernel;
  }

  std::variant<Stencil, std::string> Read() {
    const SyntaxNode& node = tree_.node(kernel_);
    if (node.children.empty() || tree_.node(node.children.back()).kind_name != "CompoundStmt") return "";
    body_ = node.children.back();
    if (!ReadsSeveral(tree_, kernel_) || IsKnownElsewhere(context_, kernel_)) return "";
    found_.launch = AlikeLaunches(context_, kernel_);
    found_.effects = StencilEffects(context_, kernel_);
    if (Works(found_.effects)) found_.of_tile = TileStatements(tree_, body_, found_.effects).value_or(std::set<int>());
    if (const std::string why = WhyNotAlone(); !why.empty()) return NamesNeighbours(tree_, kernel_) ? why : "";
    Flatten(tree_.node(body_).children);
    if (const std::string why = WhyNotRepeatable(); !why.empty()) return NamesNeighbours(tree_, kernel_) ? why : "";
    StencilFinder finder(context_, found_, Variables(), Counters());
    finder.SetDecided(IsDecidedByElements());
    auto found = finder.Find();
    if (std::holds_alternative<std::string>(found) && !finder.plausible() && !NamesNeighbours(tree_, kernel_)) return "";
    return found;
  }

  // What the numbers cannot show.
  std::string Check(Stencil& stencil) const {
    const auto traffic = TrafficOf(tree_, kernel_, stencil.Beside());
    if (!traffic) return "it is not clear to which buffers it stores";
    for (const int buffer : stencil.buffers) {
      const std::string& name = tree_.node(buffer).name;
      if (traffic->stored.contains(buffer)) return fmt::format("it stores to {}, whose neighbours it reads", name);
      if (IsPassedTwice(tree_, context_.rendered, buffer)) return fmt::format("{} may be the memory of another one", name);
    }
    for (const int buffer : traffic->stored) {
      if (std::find(stencil.stored.begin(), stencil.stored.end(), buffer) == stencil.stored.end())
        return fmt::format("it stores to {} in none of the runs", tree_.node(buffer).name);
    }
    for (const int name : NodesOfKind(tree_, "DeclRefExpr")) {
      const SyntaxNode& use = tree_.node(name);
      if (!IsBuiltin(use.name) || (use.function >= 0 && use.function != kernel_ && IsKernel(tree_, use.function))) continue;
      const bool known = std::any_of(stencil.roles.begin(), stencil.roles.end(),
                                     [&](const auto& role) { return IsWithin(tree_, name, role.first); });
      if (!known && !IsOnlyForTile(tree_, stencil, name))
        return fmt::format("what `{}` stands for in it is not understood", tree_.Text(use.parent));
    }
    for (const Stencil::Site& site : stencil.sites) {
      if (!AddLoops(site.node, stencil.loops))
        return fmt::format("a loop around `{}` has no fixed, small number of turns", tree_.Text(site.node));
      const SyntaxNode& read = tree_.node(site.node);
      const bool narrow = read.kind_name == "ArraySubscriptExpr" && WithoutConst(tree_.node(read.children[1]).type) == "int";
      stencil.wide |= !narrow && TileAt(tree_, site.node) < 0;
    }
    if (!AreTilesNeighbours(tree_, stencil)) return "not all that it reads in shared memory are neighbours";
    for (const int node : NodesOfKind(tree_, "ArraySubscriptExpr")) {
      const bool narrow = WithoutConst(tree_.node(tree_.node(node).children[1]).type) == "int";
      stencil.wide |= !narrow && PointerAt(tree_, node) >= 0 && IsOfTile(tree_, stencil, node);
    }
    std::erase_if(stencil.tables, [&](const Stencil::Table& table) {
      const auto& uses = tree_.UsesOf(table.buffer);
      const auto is_read = [&](int use) { return table.nodes.contains(tree_.node(use).parent); };
      const auto in_loops = [&](int node) { return AddLoops(node, stencil.loops); };
      return traffic->stored.contains(table.buffer) || IsPassedTwice(tree_, context_.rendered, table.buffer) ||
             !std::all_of(uses.begin(), uses.end(), is_read) || !std::all_of(table.nodes.begin(), table.nodes.end(), in_loops);
    });
    return "";
  }

 private:
  // Whether threads work together, apart from these statements.
  bool Works(const std::set<int>& effects) const { return Cooperates(tree_, body_, true, effects); }

  // Adds the loops around a node. False if one of them cannot be written out.
  bool AddLoops(int node, std::set<int>& loops) const {
    std::set<int> around;
    for (int at = tree_.node(node).parent; at != body_; at = tree_.node(at).parent) {
      if (!IsAnyLoop(tree_, at) || left_out_.contains(at)) continue;
      const auto loop = AsCountedLoop(tree_, at);
      const auto turns = loop ? TripCount(tree_, *loop) : std::nullopt;
      if (!turns || *turns > kMostNeighbourTurns) return false;
      around.insert(at);
    }
    loops.merge(around);
    return true;
  }

  // Why its threads cannot be others.
  std::string WhyNotAlone() const {
    const SyntaxNode& node = tree_.node(kernel_);
    if (node.kind_name != "FunctionDecl") return "it is a function template";
    if (found_.launch == nullptr) return "its launch lines differ, or there is none";
    if (!found_.launch->cluster.empty() || found_.launch->cooperative) return "its blocks are launched as clusters or together";
    if (tree_.Text({node.range.begin, tree_.node(body_).range.begin}).find("__launch_bounds__") != std::string_view::npos)
      return "its __launch_bounds__ rule out other blocks";
    for (const int at : Subtree(tree_, body_)) {
      if (tree_.node(at).opaque) return fmt::format("what the macro `{}` does in it is not understood", tree_.Text(at));
    }
    if (Works(found_.effects) && found_.of_tile.empty())
      return "its threads work together already: barriers, shuffles, atomics or shared memory";
    return "";
  }

  // Whether the thread's number and sizes alone decide a condition, or anything else that is computed.
  bool IsOfThread(int expression, int depth) const {
    if (depth == 0 || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
    const std::set<int> written = WrittenIn(tree_, kernel_);
    const auto named = NamedIn(tree_, expression);
    return std::all_of(named.begin(), named.end(), [&](int name) {
      const SyntaxNode& declared = tree_.node(name);
      if (declared.function < 0 && declared.kind_name != "VarDecl") return true;
      if (!IsIntegerType(declared.type) || written.contains(name)) return false;
      return declared.kind_name == "ParmDecl" || (!declared.children.empty() && IsOfThread(declared.children.back(), depth - 1));
    });
  }

  // Whether elements decide what a thread reads, or whether it goes on.
  bool IsDecidedByElements() const {
    for (const int node : Subtree(tree_, body_)) {
      const SyntaxNode& choice = tree_.node(node);
      const bool chooses =
          choice.kind_name == "IfStmt" || choice.kind_name == "ConditionalOperator" || choice.kind_name == "SwitchStmt";
      if (!chooses || choice.children.empty() || IsOfThread(choice.children[0], kPlaceDepth)) continue;
      for (const int within : Subtree(tree_, node)) {
        if (IsWithin(tree_, within, choice.children[0])) continue;
        if (tree_.node(within).kind_name == "ReturnStmt" || PointerAt(tree_, within) >= 0) return true;
      }
    }
    return false;
  }

  // Whether a thread, in a kernel with tiles, stores nothing if it does not come to a statement behind those so far.
  bool DecidesAlone() const {
    return !found_.of_tile.empty() && std::none_of(found_.statements.begin(), found_.statements.end(),
                                                   [&](int statement) { return StoresIn(tree_, statement); });
  }

  // `if (x >= w) return;` in a kernel with tiles. Each element of those that are stored has a thread that goes on.
  bool OnlyKeepsThreadsAway(int statement) {
    const SyntaxNode& branch = tree_.node(statement);
    if (!DecidesAlone() || branch.kind_name != "IfStmt" || branch.children.size() != 2) return false;
    const int then = branch.children[1], only = OnlyStatement(tree_, then);
    if (tree_.node(only < 0 ? then : only).kind_name != "ReturnStmt" || !IsOfThread(branch.children[0], kPlaceDepth))
      return false;
    found_.of_tile.insert(statement);
    return true;
  }

  // The statements, and those of a loop that runs once and is the last of them.
  void Flatten(const std::vector<int>& statements) {
    for (const int statement : statements) {
      if (found_.of_tile.contains(statement) || OnlyKeepsThreadsAway(statement)) continue;
      if (DecidesAlone() && statement == statements.back() && tree_.node(statement).kind_name == "IfStmt" &&
          tree_.node(statement).children.size() == 2 && IsOfThread(tree_.node(statement).children[0], kPlaceDepth)) {
        const int then = tree_.node(statement).children[1];
        found_.of_tile.insert(tree_.node(statement).children[0]);
        Flatten(tree_.node(then).kind_name == "CompoundStmt" ? tree_.node(then).children : std::vector<int>{then});
        continue;
      }
      const auto loop = statement == statements.back() ? AsCountedLoop(tree_, statement) : std::nullopt;
      if (!loop || TripCount(tree_, *loop) != 1 || !StoresIn(tree_, loop->parts.body)) {
        if (tree_.node(statement).kind_name != kPragmaKind || !IsLastPragma(statements, statement))
          found_.statements.push_back(statement);
        continue;
      }
      found_.once[loop->counter] = std::string(tree_.Text(loop->start));
      left_out_.insert(statement);
      const SyntaxNode& body = tree_.node(loop->parts.body);
      Flatten(body.kind_name == "CompoundStmt" ? body.children : std::vector<int>{loop->parts.body});
    }
  }

  // The pragma of a loop that is left out goes with it.
  bool IsLastPragma(const std::vector<int>& statements, int pragma) const {
    const auto loop = AsCountedLoop(tree_, statements.back());
    return loop && loop->parts.pragma == pragma && TripCount(tree_, *loop) == 1 && StoresIn(tree_, loop->parts.body);
  }

  // Why what a thread does for its element cannot stand in a loop over elements.
  std::string WhyNotRepeatable() const {
    const std::set<int> written = WrittenIn(tree_, kernel_);
    for (const int child : tree_.node(kernel_).children) {
      if (tree_.node(child).kind_name == "ParmDecl" && written.contains(child))
        return fmt::format("it changes its parameter {}", tree_.node(child).name);
    }
    for (const int node : Subtree(tree_, body_)) {
      const std::string& kind = tree_.node(node).kind_name;
      if (kind == "LambdaExpr" || kind == "GotoStmt" || kind == "LabelStmt" || kind.find("Asm") != std::string::npos)
        return fmt::format("it has a {}", kind);
      if (kind != "ReturnStmt") continue;
      for (int at = tree_.node(node).parent; at != body_; at = tree_.node(at).parent) {
        if (IsAnyLoop(tree_, at) && !left_out_.contains(at)) return "it returns out of a loop";
      }
    }
    return "";
  }

  // The integers that only their initialisers write.
  std::vector<int> Variables() const {
    const std::set<int> written = WrittenIn(tree_, kernel_);
    std::vector<int> variables;
    for (const int node : Subtree(tree_, body_)) {
      const SyntaxNode& declared = tree_.node(node);
      const std::string type = WithoutConst(declared.type);
      if (declared.kind_name != "VarDecl" || declared.children.empty() || !IsArithmetic(type) || type == "float" ||
          type == "double" || written.contains(node) || IsMemoryName(tree_, node) || found_.once.contains(node) ||
          IsOfTile(tree_, found_, node))
        continue;
      bool in_loop = false;
      for (int at = declared.parent; at != body_; at = tree_.node(at).parent)
        in_loop |= IsAnyLoop(tree_, at) && !left_out_.contains(at);
      if (!in_loop) variables.push_back(node);
    }
    return variables;
  }

  std::vector<int> Counters() const {
    std::vector<int> counters;
    for (const int node : Subtree(tree_, body_)) {
      const bool stays = IsForLoop(tree_, node) && !left_out_.contains(node) && !IsOfTile(tree_, found_, node);
      const auto loop = stays ? WithCountedHeader(tree_, node) : std::nullopt;
      if (loop) counters.push_back(loop->counter);
    }
    return counters;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  int body_ = -1;
  Stencil found_;
  std::set<int> left_out_;  // loops
};

}  // namespace

std::variant<Stencil, std::string> AsStencil(const MutationContext& context, int kernel) {
  // Several operators ask, and running threads takes a while. The launch line is the context's own.
  const std::string key = fmt::format("stencil {} with {}{}", kernel, fmt::join(context.genome.parameters, ","),
                                      IsKnownElsewhere(context, kernel) ? ", known" : "");
  auto found = context.tree.Kept<std::variant<Stencil, std::string>>(key, [&]() -> std::variant<Stencil, std::string> {
    const StepBudget budget;
    StencilParts parts(context, kernel);
    auto read = parts.Read();
    if (auto* stencil = std::get_if<Stencil>(&read)) {
      if (std::string why = parts.Check(*stencil); !why.empty()) return why;
    }
    return read;
  });
  if (auto* const stencil = std::get_if<Stencil>(&found)) stencil->launch = AlikeLaunches(context, kernel);
  return found;
}

}  // namespace evo
