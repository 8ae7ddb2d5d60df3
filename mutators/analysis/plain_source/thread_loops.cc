#include "mutators/analysis/plain_source/thread_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/expression.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/launch_line.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Whether two expressions of a launch line have the same value for some sizes that have nothing in common.
bool AreSameNumbers(const std::string& a, const std::string& b) {
  constexpr std::array<std::int64_t, 8> kSizes{1009, 211, 37, 401, 13, 97, 503, 71};
  try {
    const Expression first = Expression::Parse(a), second = Expression::Parse(b);
    const auto names = first.Names();
    if (names != second.Names()) return false;
    for (std::size_t shift = 0; shift < kSizes.size(); ++shift) {
      Variables sizes;
      for (std::size_t i = 0; i < names.size(); ++i) sizes[names[i]] = Number::Integer(kSizes[(i * 3 + shift) % kSizes.size()]);
      if (first.EvaluateInteger(sizes) != second.EvaluateInteger(sizes)) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The text that a launch passes for a parameter.
std::optional<std::string> PassedFor(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int parameter) {
  return parameter < 0 || tree.node(parameter).kind_name != "ParmDecl" ? std::nullopt
                                                                       : LaunchedAs(tree, launch, kernel, parameter);
}

// Whether the grid has a thread for each number below a bound.
bool HasThreadForEach(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int bound, std::size_t axis) {
  for (const int named : NamedIn(tree, bound)) {
    if (WrittenIn(tree, kernel).contains(named)) return false;
  }
  const std::string& grid = launch.grid[axis].text();
  const std::string& block = launch.block[axis].text();
  const auto passed = PassedFor(tree, launch, kernel, NamedDeclaration(tree, bound));
  if (passed) return SameTokens(grid, fmt::format("ceil_div({}, {})", *passed, block));
  const auto product = AsLaunchText(tree, launch, kernel, bound);
  return product && AreSameNumbers(grid, fmt::format("ceil_div({}, {})", *product, block));
}

class LoopRemover {
 public:
  LoopRemover(const MutationContext& context, ThreadLoops loops) : context_(context), tree_(context.tree), loops_(loops) {}

  std::optional<std::string> Run() {
    for (const int kernel : Functions(tree_)) {
      if (!IsKernel(tree_, kernel) || tree_.node(kernel).children.empty()) continue;
      launch_ = AlikeLaunches(context_, kernel);
      if (launch_ == nullptr || !launch_->cluster.empty() || launch_->cooperative) continue;
      kernel_ = kernel;
      Visit(tree_.node(kernel).children.back());
    }
    if (splices_.empty()) return std::nullopt;
    std::string text = tree_.text();
    for (auto splice = splices_.rbegin(); splice != splices_.rend(); ++splice)
      text.replace(splice->first.begin, splice->first.size(), splice->second);
    for (const LaunchChange& change : launches_) {
      const auto changed = RenderLaunchChange(text, change);
      if (!changed) return std::nullopt;
      text = *changed;
    }
    return text;
  }

 private:
  // Loops that every thread reaches once at most.
  void Visit(int node) {
    const SyntaxNode& at = tree_.node(node);
    if (at.kind_name == "ForStmt") {
      const auto loop = WithCountedHeader(tree_, node);
      if (!loop || loop->comparison != "<" || !CanBecomeIf(*loop)) return;
      if (AddOnce(*loop)) return;
      if (loops_ == ThreadLoops::kOfPlanes) AddPlanes(*loop);
      if (loops_ == ThreadLoops::kOfElements || loops_ == ThreadLoops::kOfBatches) AddElements(*loop);
    } else if (at.kind_name == "CompoundStmt") {
      for (const int child : at.children) Visit(child);
    } else if (at.kind_name == "IfStmt" && at.children.size() == 2) {
      Visit(at.children[1]);
    }
  }

  bool CanBecomeIf(const CountedLoop& loop) const {
    if (!IsInBlock(tree_, loop.parts.statement) || loop.parts.pragma >= 0) return false;
    const std::string& counter = tree_.node(loop.counter).name;
    for (const int node : Subtree(tree_, kernel_)) {
      const SyntaxNode& at = tree_.node(node);
      const bool declares = at.kind_name == "VarDecl" || at.kind_name == "ParmDecl";
      if (declares && at.name == counter && node != loop.counter) return false;
      const bool jumps = at.kind_name == "BreakStmt" || at.kind_name == "ContinueStmt" || at.kind_name == "GotoStmt";
      if (jumps && IsWithin(tree_, node, loop.parts.body) && !IsOfInnerLoop(node, loop.parts.body)) return false;
    }
    return true;
  }

  // Whether a jump only ends a turn of a loop in the body, or that loop.
  bool IsOfInnerLoop(int jump, int body) const {
    if (tree_.node(jump).kind_name == "GotoStmt") return false;
    for (int at = tree_.node(jump).parent; at != body && at >= 0; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return true;
    }
    return false;
  }

  void Replace(const CountedLoop& loop, const std::string& start) {
    const SyntaxNode& counter = tree_.node(loop.counter);
    std::string type = counter.type;
    if (!type.starts_with("const ")) type = "const " + type;
    const SourceRange head{tree_.node(loop.parts.statement).range.begin, tree_.node(loop.parts.body).range.begin};
    splices_.emplace_back(head, fmt::format("{} {} = {};\n{}if ({} < {}) ", type, counter.name, start,
                                            IndentOf(tree_, loop.parts.statement), counter.name, tree_.Text(loop.bound)));
  }

  bool IsExtent(std::string_view text, std::size_t axis) const {
    return SameTokens(text, fmt::format("blockDim.{}", "xyz"[axis])) || SameTokens(text, launch_->block[axis].text());
  }

  // The two sides of `a * b` and the like.
  std::vector<int> Sides(int expression, std::string_view spelled) const {
    expression = WithoutParentheses(tree_, expression);
    return tree_.Operator(expression) == spelled ? tree_.node(expression).children : std::vector<int>{};
  }

  // Whether it is `blockIdx.x * blockDim.x + threadIdx.x`, with `other` for blockIdx and `with` for threadIdx, if there is one.
  bool IsProduct(int expression, const std::string& factor, std::size_t axis) const {
    const auto factors = Sides(expression, "*");
    if (factors.size() != 2) return false;
    const auto is = [&](int a, int b) { return SameTokens(tree_.Text(a), factor) && IsExtent(tree_.Text(b), axis); };
    return is(factors[0], factors[1]) || is(factors[1], factors[0]);
  }

  bool AddOnce(const CountedLoop& loop) {
    for (std::size_t axis = 0; axis < launch_->grid.size() && axis < launch_->block.size(); ++axis) {
      const char name = "xyz"[axis];
      const auto terms = Sides(loop.start, "+");
      if (terms.size() != 2) return false;
      const std::string thread = fmt::format("threadIdx.{}", name), block = fmt::format("blockIdx.{}", name);
      const auto starts = [&](int a, int b) { return IsProduct(a, block, axis) && SameTokens(tree_.Text(b), thread); };
      if (!starts(terms[0], terms[1]) && !starts(terms[1], terms[0])) continue;
      const int increment = loop.parts.increment;
      const auto& sides = tree_.node(increment).children;
      if (tree_.Operator(increment) != "+=" || !IsProduct(sides[1], fmt::format("gridDim.{}", name), axis)) continue;
      if (!HasThreadForEach(tree_, *launch_, kernel_, loop.bound, axis)) continue;
      Replace(loop, std::string(tree_.Text(loop.start)));
      return true;
    }
    return false;
  }

  void AddPlanes(const CountedLoop& loop) {
    const auto is_number = [](std::string_view text) {
      return !text.empty() && text.size() < 4 &&
             std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    };
    if (launch_->grid.size() != 2 || loop.step != "1" || !is_number(tree_.Text(loop.start))) return;
    for (const char* builtin : {"threadIdx", "blockIdx", "gridDim"}) {
      if (!BuiltinUses(tree_, kernel_, builtin, 2).empty()) return;
    }
    // The bound is the size of the dimension, or a number less.
    int size = NamedDeclaration(tree_, loop.bound);
    if (const auto sides = Sides(loop.bound, "-"); sides.size() == 2 && is_number(tree_.Text(sides[1])))
      size = NamedDeclaration(tree_, sides[0]);
    const auto passed = PassedFor(tree_, *launch_, kernel_, size);
    if (!passed || WrittenIn(tree_, kernel_).contains(size)) return;
    if (!AreTurnsApart(loop.parts.body)) return;
    launches_.push_back(
        {launch_->kernel, "grid", fmt::format("{}, {}, {}", launch_->grid[0].text(), launch_->grid[1].text(), *passed)});
    const std::string start(tree_.Text(loop.start));
    Replace(loop, start == "0" ? "blockIdx.z" : "blockIdx.z + " + start);
  }

  // Whether turns of a loop write nothing that others see but elements of buffers, and the launch has not been changed yet.
  bool AreTurnsApart(int body) const {
    for (const int written : WrittenIn(tree_, body)) {
      if (!IsWithin(tree_, written, body)) return false;
    }
    // Planes in shared memory that an earlier turn, or what is before the loop, has filled.
    for (const int name : NodesOfKind(tree_, "DeclRefExpr")) {
      const int array = tree_.node(name).refers_to;
      if (array < 0 || !IsWithin(tree_, name, body) || !IsShared(tree_, array)) continue;
      const auto& uses = tree_.UsesOf(array);
      if (std::any_of(uses.begin(), uses.end(), [&](int use) { return !IsWithin(tree_, use, body); })) return false;
    }
    for (const int node : Subtree(tree_, body)) {
      if (tree_.node(node).kind_name == "ReturnStmt") return false;
    }
    return std::none_of(launches_.begin(), launches_.end(), [&](const LaunchChange& c) { return c.kernel == launch_->kernel; });
  }

  // A last loop in a grid of one dimension, in which nothing but the counter tells which thread it is.
  void AddElements(const CountedLoop& loop) {
    const int body = tree_.node(kernel_).children.back();
    const bool batches = loops_ == ThreadLoops::kOfBatches && launch_->grid.size() == 3 && launch_->grid[1].text() == "1";
    if ((launch_->grid.size() != 1 && !batches) || launch_->block.size() != 1 ||
        tree_.node(body).children.back() != loop.parts.statement)
      return;
    const auto is = [&](int expression, const AffineForm& wanted) {
      const auto form = AffineFormOf(tree_, expression, {});
      return form && *form == wanted;
    };
    const auto symbol = [](const char* name) { return AffineForm::Symbol(BuiltinSymbol(name, 0)); };
    const auto& step = tree_.node(loop.parts.increment).children;
    if (!is(loop.start, symbol("threadIdx").Plus(symbol("blockIdx").TimesForm(symbol("blockDim"))))) return;
    if (tree_.Operator(loop.parts.increment) != "+=" || !is(step.back(), symbol("gridDim").TimesForm(symbol("blockDim")))) return;
    for (const int statement : tree_.node(body).children) {
      if (statement != loop.parts.statement && tree_.node(statement).kind_name != "DeclStmt") return;
    }
    if (!AreTurnsApart(loop.parts.body) || !IsOfCounter(loop)) return;
    const auto elements = AsLaunchText(tree_, *launch_, kernel_, loop.bound);
    if (!elements) return;
    const std::string behind = batches ? fmt::format(", 1, {}", launch_->grid[2].text()) : "";
    launches_.push_back(
        {launch_->kernel, "grid", fmt::format("ceil_div({}, {}){}", *elements, launch_->block[0].text(), behind)});
    Replace(loop, std::string(tree_.Text(loop.start)));
  }

  // Whether a body names no other integers of the thread than the counter.
  bool IsOfCounter(const CountedLoop& loop) const {
    for (const int node : Subtree(tree_, loop.parts.body)) {
      const SyntaxNode& name = tree_.node(node);
      if (name.opaque || name.kind_name == "attribute(shared)") return false;
      if (name.kind_name != "DeclRefExpr") continue;
      if (name.refers_to < 0) {
        if (IsOfBatch(node)) continue;
        if (name.name.ends_with("Idx") || name.name.ends_with("Dim") || name.name.starts_with("__sync")) return false;
        continue;
      }
      const SyntaxNode& declared = tree_.node(name.refers_to);
      if (name.refers_to == loop.counter || declared.function < 0 || IsWithin(tree_, name.refers_to, loop.parts.body)) continue;
      if (declared.kind_name == "ParmDecl") {
        if (WrittenIn(tree_, kernel_).contains(name.refers_to)) return false;
        continue;
      }
      if (declared.kind_name != "VarDecl" || declared.children.empty() ||
          (!AsLaunchText(tree_, *launch_, kernel_, declared.children.back()) && !IsSameInBatch(declared.children.back())))
        return false;
    }
    return true;
  }

  // Whether a name is that of a block's batch.
  bool IsOfBatch(int name) const {
    return loops_ == ThreadLoops::kOfBatches && SameTokens(tree_.Text(tree_.node(name).parent), "blockIdx.z");
  }

  // Whether an expression depends on nothing but a block's batch and parameters that stay as they are.
  bool IsSameInBatch(int expression) const {
    if (loops_ != ThreadLoops::kOfBatches || !IsPure(tree_, expression)) return false;
    for (const int node : Subtree(tree_, expression)) {
      const SyntaxNode& name = tree_.node(node);
      if (name.kind_name != "DeclRefExpr") continue;
      const bool parameter = name.refers_to >= 0 && tree_.node(name.refers_to).kind_name == "ParmDecl" &&
                             !WrittenIn(tree_, kernel_).contains(name.refers_to);
      if (!parameter && !IsOfBatch(node)) return false;
    }
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  ThreadLoops loops_;
  int kernel_ = -1;
  const LaunchDirective* launch_ = nullptr;
  std::vector<std::pair<SourceRange, std::string>> splices_;
  std::vector<LaunchChange> launches_;
};

}  // namespace

std::optional<std::string> WithoutThreadLoops(const MutationContext& context, ThreadLoops loops) {
  return LoopRemover(context, loops).Run();
}

std::optional<std::string> AsLaunchText(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int expression) {
  const auto form = AffineFormOf(tree, expression, {});
  return form ? LaunchTextOf(tree, launch, kernel, *form) : std::nullopt;
}

std::optional<std::string> LaunchTextOf(const SyntaxTree& tree, const LaunchDirective& launch, int kernel,
                                        const AffineForm& form) {
  std::map<int, std::string> passed;
  std::size_t place = 0;
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind_name != "ParmDecl") continue;
    if (place >= launch.arguments.size()) return std::nullopt;
    const LaunchArgumentText argument = ParseLaunchArgument(launch.arguments[place++]);
    if (argument.kind != LaunchArgumentText::Kind::kStruct) passed[child] = argument.text;
  }
  std::string text;
  for (const auto& [product, count] : form.terms()) {
    std::string term = std::to_string(count);
    for (const int symbol : product) {
      if (!passed.contains(symbol)) return std::nullopt;
      term = (term == "1" ? "" : term + " * ") + Parenthesised(passed[symbol]);
    }
    text += (text.empty() ? "" : " + ") + term;
  }
  return text.empty() ? "0" : text;
}

}  // namespace evo
