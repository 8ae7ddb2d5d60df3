#include "mutators/memory/exchange_tile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_kernel.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/element_grid.h"
#include "mutators/memory/exchange_tile_text.h"

namespace evo {
namespace {

constexpr char kNoOneStore[] =
    "it does not end with one store, of a buffer that it does not read, at an address of variables that do not change";

class TileFinder {
 public:
  TileFinder(const MutationContext& context, int kernel) : context_(context), tree_(context.tree) { work_.kernel = kernel; }

  // Why there is none, for a kernel with two indices or with parts of one; else empty.
  const std::string& why() const { return why_; }

  std::optional<Proposal> Find() {
    for (const char* builtin : {"threadIdx", "blockIdx", "blockDim"}) {
      if (IsUsedElsewhere(tree_, work_.kernel, builtin)) return std::nullopt;
    }
    work_.launch = OnlyLaunch(context_.rendered, tree_.node(work_.kernel).name);
    if (work_.launch == nullptr || !work_.launch->cluster.empty() || work_.launch->cooperative) return std::nullopt;
    const int body = tree_.node(work_.kernel).children.back();
    if (tree_.node(body).kind_name != "CompoundStmt" || Cooperates(tree_, body)) return std::nullopt;
    if (tree_.Text({tree_.node(work_.kernel).range.begin, tree_.node(body).range.begin}).find("__launch_bounds__") !=
        std::string_view::npos)
      return std::nullopt;
    if (auto grid = AsElementGrid(context_, work_.kernel);
        std::holds_alternative<ElementGrid>(grid) && std::get<ElementGrid>(grid).flat < 0) {
      if (!OfTwo(std::get<ElementGrid>(grid))) return std::nullopt;
    } else if (!OfOne()) {
      return std::nullopt;
    }
    return WrittenTile(tree_, work_, axes_);
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Takes the store that ends the statements, of a buffer that is not read. False if there is none, or another store.
  bool TakeStatements(std::vector<int> statements) {
    if (statements.empty()) return false;
    work_.statements = std::move(statements);
    int last = work_.statements.back();
    work_.store = last;
    int assignment = last;
    while (tree_.node(assignment).kind_name == "UnexposedExpr" && tree_.node(assignment).children.size() == 1)
      assignment = tree_.node(assignment).children.front();
    const SyntaxNode& node = tree_.node(assignment);
    const bool by_operator = node.kind_name == "CallExpr" && node.name == "operator=";
    if (!by_operator && !(node.kind_name == "BinaryOperator" && tree_.Operator(assignment) == "=")) return false;
    work_.target = node.children.front();
    work_.value = node.children.back();
    if (tree_.node(work_.target).kind_name != "ArraySubscriptExpr" || SizeOf(WithoutConst(tree_.node(work_.target).type)) == 0)
      return false;
    const auto traffic = TrafficOf(tree_, work_.kernel);
    if (!traffic || traffic->stored.size() != 1 || traffic->read.contains(-1) || traffic->read.contains(*traffic->stored.begin()))
      return false;
    int stores = 0;
    for (const int statement : work_.statements) {
      for (const int at : Subtree(tree_, statement)) {
        stores += IsStore(tree_, at);
        const std::string& name = tree_.node(at).name;
        if (tree_.node(at).opaque || name == "threadIdx" || name == "blockDim" || name == "gridDim") return false;
        if (tree_.node(at).kind_name == "ReturnStmt") return false;
      }
    }
    for (const int at : Subtree(tree_, work_.kernel)) {
      const SyntaxNode& part = tree_.node(at);
      if (part.kind_name == "ParmDecl" && part.type.find('*') != std::string::npos && IsPassedTwice(tree_, context_.rendered, at))
        return false;
    }
    return stores == 1 && StatementsFor(tree_, work_, work_.target).has_value();
  }

  // Whether an access goes along an axis: neighbours of the axis are neighbours in memory.
  bool GoesAlong(int access, int axis, std::set<int> atoms) const {
    atoms.insert(axis);
    const auto element = AffineElementOf(tree_, access, atoms);
    const auto factor = element ? element->index.CoefficientOf(axis) : std::nullopt;
    return factor && factor->IsConstant(1);
  }
  bool LoadsAreKnown(const std::set<int>& atoms) const {
    for (const int statement : work_.statements) {
      for (const int at : Subtree(tree_, statement)) {
        if (PointerAt(tree_, at) >= 0 && !AffineElementOf(tree_, at, atoms)) return false;
      }
    }
    return true;
  }
  bool LoadsAlong(int axis, const std::set<int>& atoms) const {
    for (const int statement : work_.statements) {
      for (const int at : Subtree(tree_, statement)) {
        if (PointerAt(tree_, at) >= 0 && at != work_.target && GoesAlong(at, axis, atoms)) return true;
      }
    }
    return false;
  }

  // Two indices of a grid.
  bool OfTwo(const ElementGrid& grid) {
    std::vector<int> statements = grid.before;
    statements.insert(statements.end(), grid.statements.begin(), grid.statements.end());
    if (!TakeStatements(statements)) return Refuse(kNoOneStore);
    const bool first_is_fast = grid.indices[0].block_axis == 0;
    const ElementGrid::Index& fast = grid.indices[first_is_fast ? 0 : 1];
    const ElementGrid::Index& slow = grid.indices[first_is_fast ? 1 : 0];
    if (fast.block_axis != 0 || slow.block_axis != 1 || fast.bound < 0 || slow.bound < 0)
      return Refuse("its indices are not along x and y of the block, each below a bound");
    if (work_.launch->block.size() != 2 || fast.axis > 1 || slow.axis > 1)
      return Refuse("its indices are not along x and y of the grid");
    if (!Directions(fast.declaration, slow.declaration, {})) return false;
    for (const ElementGrid::Index* index : {&fast, &slow}) {
      const SyntaxNode& variable = tree_.node(index->declaration);
      axes_.declared.insert(variable.parent);
      (index == &fast ? axes_.fast : axes_.slow) = variable.name;
      (index == &fast ? axes_.fast_type : axes_.slow_type) = WithoutConst(variable.type);
      (index == &fast ? axes_.fast_first : axes_.slow_first) = fmt::format("blockIdx.{} * {}", "xyz"[index->axis], kTile);
      axes_.conditions.push_back(fmt::format("{} < {}", variable.name, Parenthesised(tree_, index->bound)));
    }
    for (const Expression& dimension : work_.launch->grid) axes_.grid.push_back(dimension.text());
    for (const ElementGrid::Index* index : {&fast, &slow}) {
      const std::string size = work_.launch->block[index->block_axis].text();
      axes_.grid[index->axis] =
          BlocksOf(work_.launch->grid[index->axis], size, std::to_string(kTile),
                   fmt::format("ceil_div(({}) * {}, {})", work_.launch->grid[index->axis].text(), Parenthesised(size), kTile));
    }
    return true;
  }

  bool Directions(int fast, int slow, std::set<int> atoms) {
    atoms.insert({fast, slow});
    if (!LoadsAreKnown(atoms)) return Refuse("it loads at an address that is no sum of its indices times sizes");
    const bool stores_slow = GoesAlong(work_.target, slow, atoms), stores_fast = GoesAlong(work_.target, fast, atoms);
    const bool loads_slow = LoadsAlong(slow, atoms), loads_fast = LoadsAlong(fast, atoms);
    if (stores_slow == stores_fast || loads_slow == loads_fast)
      return Refuse("neighbouring elements that it loads or stores are along neither of two axes, or along both");
    if (stores_slow == loads_slow) return Refuse("it loads and stores along the same axis already");
    axes_.loads_fast = loads_fast;
    return true;
  }

  // What a quotient of the index is: i / (product of divisors), of which the remainder by `extent` counts; no extent if it is -1.
  struct Quotient {
    std::vector<int> divisors;
    int extent = -1;
  };
  std::optional<Quotient> QuotientOf(int expression, int index) const {
    expression = WithoutParentheses(tree_, expression);
    const int named = NamedDeclaration(tree_, expression);
    if (named == index) return Quotient{};
    if (named >= 0 && tree_.node(named).kind_name == "VarDecl" && !tree_.node(named).children.empty() &&
        !WrittenIn(tree_, work_.kernel).contains(named) && IsInStatements(tree_, work_, named))
      return QuotientOf(tree_.node(named).children.back(), index);
    const auto& sides = tree_.node(expression).children;
    const std::string_view spelled = tree_.Operator(expression);
    if (sides.size() != 2 || (spelled != "/" && spelled != "%")) return std::nullopt;
    auto of = QuotientOf(sides[0], index);
    if (!of || of->extent >= 0) return std::nullopt;
    if (spelled == "/")
      of->divisors.push_back(sides[1]);
    else
      of->extent = sides[1];
    return of;
  }

  // Parts of one index.
  bool OfOne() {
    for (const ThreadIndex& index : ThreadIndices(context_)) {
      if (index.kernel != work_.kernel || index.axis != 0) continue;
      if (work_.launch->grid.size() != 1 || work_.launch->block.size() != 1) return false;
      const auto element = AsElementKernel(context_, index);
      if (!element) return false;
      const bool one_store = TakeStatements(element->statements);
      if (!one_store) return HasParts(element->statements, index.declaration) && Refuse(kNoOneStore);
      std::set<int> parts;
      for (const int statement : work_.statements) {
        for (const int variable : tree_.node(statement).children) {
          if (tree_.node(variable).kind_name == "VarDecl" && !tree_.node(variable).children.empty() &&
              QuotientOf(tree_.node(variable).children.back(), index.declaration))
            parts.insert(variable);
        }
      }
      for (const int part : parts) {
        const auto quotient = QuotientOf(tree_.node(part).children.back(), index.declaration);
        if (!quotient->divisors.empty() && Directions(index.declaration, part, parts) && Divide(*element, *quotient)) return true;
      }
      return false;
    }
    return false;
  }

  bool Divide(const ElementKernel& element, const Quotient& quotient) {
    const ThreadIndex& index = element.index;
    std::vector<std::string> inner, inner_launch;
    std::string extent, extent_launch;
    const auto add = [&](int expression, std::string& text, std::string& launch) {
      const auto said = AsLaunchText(tree_, *work_.launch, work_.kernel, expression);
      if (!said || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
      text = Parenthesised(tree_, expression);
      launch = Parenthesised(*said);
      return true;
    };
    for (const int divisor : quotient.divisors) {
      if (!add(divisor, inner.emplace_back(), inner_launch.emplace_back())) return false;
    }
    if (quotient.extent >= 0 && !add(quotient.extent, extent, extent_launch)) return false;
    const auto bound = BoundInLaunch(element);
    if (!bound) return false;
    const std::string size = inner.size() > 1 ? fmt::format("({})", fmt::join(inner, " * ")) : inner.front();
    const std::string size_launch = fmt::format("{}", fmt::join(inner_launch, " * "));
    const SyntaxNode& variable = tree_.node(index.declaration);
    axes_.declared.insert(variable.parent);
    axes_.fast = FreshName(tree_, "inner");
    axes_.slow = FreshName(tree_, "middle");
    axes_.fast_type = axes_.slow_type = WithoutConst(variable.type);
    // One dimension of the grid for all: the others have fewer than 65,536 blocks.
    const std::string across = FreshName(tree_, "across"), down = FreshName(tree_, "down");
    axes_.before = fmt::format("  const {} {} = ({} + {}) / {};\n", axes_.fast_type, across, size, kTile - 1, kTile);
    axes_.fast_first = fmt::format("blockIdx.x % {} * {}", across, kTile);
    axes_.slow_first = fmt::format("blockIdx.x / {} * {}", across, kTile);
    axes_.conditions.push_back(fmt::format("{} < {}", axes_.fast, size));
    if (!extent.empty()) axes_.conditions.push_back(fmt::format("{} < {}", axes_.slow, extent));
    axes_.inside_condition = fmt::format("{} < {}", variable.name, element.bound);
    if (extent.empty()) {
      // No place before the condition may be past the largest integer: the quotient is below that of the bound, rounded up.
      axes_.conditions.push_back(fmt::format("{} <= ({} - 1) / {}", axes_.slow, element.bound, size));
      axes_.inside = fmt::format("const {} {} = {} * {} + {};", axes_.fast_type, variable.name, axes_.slow, size, axes_.fast);
      axes_.grid = {
          fmt::format("ceil_div({}, {}) * ceil_div(ceil_div({}, {}), {})", size_launch, kTile, *bound, size_launch, kTile)};
    } else {
      axes_.before += fmt::format("  const {} {} = ({} + {}) / {};\n", axes_.slow_type, down, extent, kTile - 1, kTile);
      axes_.slow_first = fmt::format("blockIdx.x / {} % {} * {}", across, down, kTile);
      axes_.inside = fmt::format("const {0} {1} = (({0})(blockIdx.x / {2} / {3}) * {4} + {5}) * {6} + {7};", axes_.fast_type,
                                 variable.name, across, down, extent, axes_.slow, size, axes_.fast);
      axes_.grid = {fmt::format("ceil_div({}, {}) * ceil_div({}, {}) * ceil_div({}, {} * {})", size_launch, kTile, extent_launch,
                                kTile, *bound, size_launch, extent_launch)};
    }
    return true;
  }

  // The guard's bound as the launch line says it.
  std::optional<std::string> BoundInLaunch(const ElementKernel& element) const {
    for (const int at : Subtree(tree_, tree_.node(element.guard).children.front())) {
      if (Parenthesised(tree_, at) == element.bound && tree_.node(at).kind_name != "UnexposedExpr")
        return AsLaunchText(tree_, *work_.launch, work_.kernel, at);
    }
    return std::nullopt;
  }

  // Whether statements divide an index into parts.
  bool HasParts(const std::vector<int>& statements, int index) const {
    for (const int statement : statements) {
      for (const int at : Subtree(tree_, statement)) {
        if (tree_.Operator(at) != "%") continue;
        const std::set<int> named = NamedIn(tree_, tree_.node(at).children.front());
        if (named.contains(index)) return true;
      }
    }
    return false;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  TileWork work_;
  TileAxes axes_;
  std::string why_;
};

// Whether a kernel only stores numbers as it has loaded them: it computes no real numbers and calls nothing.
bool OnlyMoves(const SyntaxTree& tree, int kernel) {
  bool loads = false, stores = false;
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& at = tree.node(node);
    const bool assigns = IsStore(tree, node) && tree.Operator(node) == "=";
    stores |= assigns && PointerAt(tree, Assigned(tree, node)) >= 0;
    loads |= PointerAt(tree, node) >= 0;
    const bool real = at.type.find("float") != std::string::npos || at.type.find("double") != std::string::npos;
    const bool computes = at.kind_name == "CompoundAssignOperator" || (at.kind_name == "BinaryOperator" && !assigns);
    if (at.kind_name == "CompoundAssignOperator" && LoadsIn(tree, at.children.back())) return false;
    if (computes && real && at.type.find('*') == std::string::npos && tree.Operator(node) != "=") return false;
    if (at.kind_name == "CallExpr" && !IsBlockBarrier(tree, node) && LibraryCallee(tree, node) != "__ldg") return false;
  }
  return loads && stores;
}

std::string WhyNothingToExchange(const SyntaxTree& tree, int kernel) {
  return Cooperates(tree, tree.node(kernel).children.back())
             ? "its threads bring what they move through shared memory already"
             : "it is not known to load along one axis and to store along another: two indices, or parts of one";
}

}  // namespace

std::vector<std::string> WhyNoExchangeTiles(const MutationContext& context) {
  std::vector<std::string> refusals;
  for (const int function : Functions(context.tree)) {
    if (!IsKernel(context.tree, function) || context.tree.node(function).kind_name != "FunctionDecl") continue;
    TileFinder finder(context, function);
    if (finder.Find()) continue;
    if (finder.why().empty() && OnlyMoves(context.tree, function))
      refusals.push_back(fmt::format("{}: {}", context.tree.node(function).name, WhyNothingToExchange(context.tree, function)));
    if (!finder.why().empty()) refusals.push_back(fmt::format("{}: {}", context.tree.node(function).name, finder.why()));
  }
  return refusals;
}

std::vector<Proposal> ExchangeTiles(const MutationContext& context) {
  std::vector<Proposal> proposals;
  for (const int function : Functions(context.tree)) {
    if (!IsKernel(context.tree, function) || context.tree.node(function).kind_name != "FunctionDecl") continue;
    if (auto proposal = TileFinder(context, function).Find()) proposals.push_back(std::move(*proposal));
  }
  return proposals;
}

}  // namespace evo
