#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernel_templates/launch_line.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/early_return.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 2> kItemsPerThread{2, 4};

// A kernel each of whose blocks can do the work of several blocks, one after another.
struct Place {
  int kernel = -1;
  int block = -1;      // `blockIdx.x`, the only one
  int statement = -1;  // the declaration that contains it; the statements from there on are repeated
  std::size_t axis = 0;
  const LaunchDirective* launch = nullptr;
};

bool IsLoop(const std::string& kind) {
  return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt" || kind == "SwitchStmt";
}

// The statements of the kernel's outermost block from `statement` on.
std::vector<int> Rest(const SyntaxTree& tree, const Place& place) {
  const auto& statements = tree.node(tree.node(place.statement).parent).children;
  return {std::find(statements.begin(), statements.end(), place.statement), statements.end()};
}

// Whether a condition holds only below (`inside`), or holds at and beyond, a bound that one of these variables must not reach.
bool Bounds(const SyntaxTree& tree, int condition, const std::set<int>& derived, bool inside) {
  condition = WithoutParentheses(tree, condition);
  const auto& sides = tree.node(condition).children;
  if (sides.size() != 2) return false;
  const std::string_view spelled = tree.Operator(condition);
  if (spelled == (inside ? "&&" : "||"))
    return Bounds(tree, sides[0], derived, inside) || Bounds(tree, sides[1], derived, inside);
  if (!IsPure(tree, condition)) return false;
  const auto follows = [&](int side) {
    const auto named = NamedIn(tree, side);
    return std::any_of(named.begin(), named.end(), [&](int d) { return derived.contains(d); });
  };
  const bool less = spelled == "<" || spelled == "<=";
  if (!less && spelled != ">" && spelled != ">=") return false;
  const int index = less == inside ? sides[0] : sides[1];
  const int bound = less == inside ? sides[1] : sides[0];
  return derived.contains(NamedDeclaration(tree, index)) && !follows(bound);
}

// Whether a variable is computed from the index in a way that grows with it.
bool Grows(const SyntaxTree& tree, int variable) {
  const SyntaxNode& node = tree.node(variable);
  if (node.kind_name != "VarDecl" || node.children.empty() || !IsArithmetic(WithoutConst(node.type))) return false;
  const int initial = node.children.back();
  if (!IsPure(tree, initial) || WrittenIn(tree, node.function).contains(variable)) return false;
  for (const int at : Subtree(tree, initial)) {
    const std::string_view spelled = tree.Operator(at);
    const bool grows = spelled.empty() || spelled == "+" || spelled == "*" || spelled == "/" || spelled == ">>";
    if (!grows || tree.node(at).kind_name == "CallExpr" || tree.node(at).kind_name == "ConditionalOperator") return false;
  }
  return true;
}

// Whether no element past the end is touched, however many blocks there are: `if (i >= n) return;` before the first access to
// memory, or `if (i < n) {..}` around all of them, with an i that grows with the block's index.
bool IsGuarded(const SyntaxTree& tree, const Place& place) {
  std::set<int> derived;
  const std::vector<int> rest = Rest(tree, place);
  for (const int statement : rest) {
    const SyntaxNode& node = tree.node(statement);
    if (node.kind_name == "IfStmt") {
      const int body = node.children[1];
      const bool alone = tree.node(body).kind_name == "CompoundStmt" && tree.node(body).children.size() == 1;
      const bool returns = tree.node(alone ? tree.node(body).children.front() : body).kind_name == "ReturnStmt";
      if (LoadsIn(tree, node.children.front()) || node.children.size() != 2) return false;
      if (Bounds(tree, node.children.front(), derived, !returns)) return returns || statement == rest.back();
    }
    if (StoresIn(tree, statement) || LoadsIn(tree, statement)) return false;
    for (const int variable : node.kind_name == "DeclStmt" ? node.children : std::vector<int>{}) {
      const auto named = NamedIn(tree, variable);
      const bool follows =
          statement == place.statement || std::any_of(named.begin(), named.end(), [&](int d) { return derived.contains(d); });
      if (follows && Grows(tree, variable)) derived.insert(variable);
    }
  }
  return false;
}

// Whether threads that return early do not leave others waiting for them.
bool ReturnsApart(const SyntaxTree& tree, const Place& place) {
  const Cooperation cooperation = CooperationIn(tree);
  for (const int node : Subtree(tree, place.kernel)) {
    if (tree.node(node).kind_name != "ReturnStmt") continue;
    for (int at = tree.node(node).parent; at != place.kernel; at = tree.node(at).parent) {
      if (tree.node(at).kind_name == "IfStmt" && !ReturnsTogether(tree, tree.node(at).children.front(), cooperation))
        return false;
    }
  }
  return true;
}

// Whether every use of an array names an element, and those in the repeated statements only read it.
bool IsOnlyReadAgain(const SyntaxTree& tree, int array, std::uint32_t repeated) {
  for (const int use : tree.UsesOf(array)) {
    int element = use;
    while (tree.node(tree.node(element).parent).kind_name == "ArraySubscriptExpr" &&
           tree.node(tree.node(element).parent).children.front() == element)
      element = tree.node(element).parent;
    const bool read = tree.node(element).converted && !tree.node(element).type.ends_with("]");
    if (element == use || (tree.node(use).range.begin >= repeated && !read)) return false;
  }
  return true;
}

// Whether the repeated statements find every variable that is declared before them as the first of them found it.
bool LeavesEarlierVariables(const SyntaxTree& tree, const Place& place) {
  const std::uint32_t repeated = tree.node(place.statement).range.begin;
  for (const int statement : Rest(tree, place)) {
    for (const int written : WrittenIn(tree, statement)) {
      if (tree.node(written).range.begin < repeated) return false;
    }
  }
  for (const int node : Subtree(tree, place.kernel)) {
    if (tree.node(node).kind_name != "VarDecl" || tree.node(node).range.begin >= repeated) continue;
    // A pointer or a reference may change it without naming it.
    if (IsLocalArray(tree, node) ? !IsOnlyReadAgain(tree, node, repeated) : IsMemoryName(tree, node)) return false;
  }
  return true;
}

// Whether the repeated statements do not make threads depend on each other, do not return from within a loop, and do not change
// earlier variables.
bool IsRepeatable(const SyntaxTree& tree, const Place& place) {
  for (const int node : Subtree(tree, place.kernel)) {
    const SyntaxNode& part = tree.node(node);
    if (part.opaque || part.kind_name == "LambdaExpr" || part.kind_name == "attribute(shared)" || part.kind_name == "GotoStmt" ||
        part.kind_name.find("Asm") != std::string::npos || LibraryCallee(tree, node).starts_with("__sync"))
      return false;
    // A function of this file that has side effects may wait for other threads.
    if (part.kind_name == "CallExpr" && LibraryCallee(tree, node).empty() && !part.name.starts_with("operator") &&
        !part.children.empty() && NamedDeclaration(tree, part.children.front()) >= 0 && !IsPure(tree, node))
      return false;
    if (part.kind_name != "ReturnStmt") continue;
    for (int at = part.parent; at != place.kernel; at = tree.node(at).parent) {
      if (IsLoop(tree.node(at).kind_name)) return false;
    }
  }
  return LeavesEarlierVariables(tree, place);
}

std::vector<Place> Places(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  std::vector<Place> places;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || IsUsedElsewhere(tree, kernel, "gridDim")) continue;
    const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
    for (std::size_t axis = 0; launch && axis < launch->grid.size(); ++axis) {
      const auto blocks = BuiltinUses(tree, kernel, "blockIdx", axis);
      if (blocks.size() != 1 || !BuiltinUses(tree, kernel, "gridDim", axis).empty() || IsUsedElsewhere(tree, kernel, "blockIdx"))
        continue;
      int statement = blocks.front();
      while (statement >= 0 && tree.node(statement).kind_name != "DeclStmt") statement = tree.node(statement).parent;
      if (statement < 0 || !IsInBlock(tree, statement) || tree.node(tree.node(statement).parent).parent != kernel) continue;
      const Place place{kernel, blocks.front(), statement, axis, launch};
      const auto& declared = tree.node(statement).children;
      if (declared.size() != 1 || !launch->cluster.empty() || launch->cooperative) continue;
      if (IsRepeatable(tree, place) && IsGuarded(tree, place) && ReturnsApart(tree, place)) places.push_back(place);
    }
  }
  return places;
}

// ceil_div(n, b) becomes ceil_div(n, b * items).
std::string DividedGrid(const Expression& grid, int items) {
  constexpr std::string_view kCall = "ceil_div(";
  const std::string& text = grid.text();
  if (text.starts_with(kCall) && text.ends_with(")")) {
    const auto parts = SplitAtCommas(std::string_view(text).substr(kCall.size(), text.size() - kCall.size() - 1));
    if (parts.size() == 2) return fmt::format("ceil_div({}, {} * {})", parts[0], Parenthesised(parts[1]), items);
  }
  return fmt::format("ceil_div({}, {})", text, items);
}

class WorkPerThread : public SourceMutator {
 public:
  std::string_view name() const override { return "work_per_thread"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "lets a thread do the work of 2 or 4 threads, on elements a block apart or next to each other";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    return InPlainSource(context, Find, ThreadLoops::kOfElements);
  }

 private:
  static std::vector<Proposal> Find(const MutationContext& context) {
    const auto indices = ThreadIndices(context);
    std::vector<Proposal> proposals;
    for (const Place& place : Places(context)) {
      const auto index =
          std::find_if(indices.begin(), indices.end(), [&](const ThreadIndex& i) { return i.block == place.block; });
      for (const int items : kItemsPerThread) {
        const std::string item = FreshName(context.tree, "item");
        proposals.push_back(
            Repeat(context.tree, place, items, item,
                   {place.block, Placement::kReplace, fmt::format("(blockIdx.{} * {} + {})", "xyz"[place.axis], items, item)}));
        // Other elements would meet in a warp.
        if (index == indices.end() || CooperationIn(context.tree) != Cooperation::kNone) continue;
        const int sum = context.tree.node(index->thread).parent;
        proposals.push_back(
            Repeat(context.tree, place, items, item,
                   {sum, Placement::kReplace, fmt::format("({}) * {} + {}", context.tree.Text(sum), items, item)}));
      }
    }
    return proposals;
  }

  static Proposal Repeat(const SyntaxTree& tree, const Place& place, int items, const std::string& item, Proposal::Change index) {
    Proposal proposal;
    proposal.changes.push_back(
        {place.statement, Placement::kBefore,
         LineBefore(tree, place.statement, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{{2}", item, items, kIndentFrom))});
    proposal.changes.push_back(std::move(index));
    const std::vector<int> rest = Rest(tree, place);
    for (const int statement : rest) {
      for (const int node : Subtree(tree, statement)) {
        if (tree.node(node).kind_name == "ReturnStmt") proposal.changes.push_back({node, Placement::kReplace, "continue;"});
      }
    }
    proposal.changes.push_back(
        {rest.back(), Placement::kAfter, fmt::format("{}\n{}}}", kIndentTo, IndentOf(tree, place.statement))});
    proposal.launch.push_back(
        WithDimension(*place.launch, "grid", place.axis, DividedGrid(place.launch->grid[place.axis], items)));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeWorkPerThread() { return std::make_unique<WorkPerThread>(); }

}  // namespace evo
