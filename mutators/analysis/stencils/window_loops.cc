#include "mutators/analysis/stencils/window_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// Distances beyond it are no stencil's.
constexpr std::int64_t kFurthestOfWindow = 8;

// One end of a window: where the image ends, and the own coordinate with a distance.
struct WindowEnd {
  std::string image;
  int own = -1;  // declaration
  std::int64_t distance = 0;
};

class WindowFixer {
 public:
  WindowFixer(const MutationContext& context, int kernel)
      : tree_(context.tree),
        kernel_(kernel),
        launch_(OnlyLaunch(context.rendered, context.tree.node(kernel).name)),
        written_(WrittenIn(context.tree, kernel)),
        used_(context.tree.text()) {}

  // Loops within each other share their closing braces, so that all are written from the inside.
  Splices Find() {
    Splices splices;
    if (launch_ == nullptr) return splices;
    for (const int node : Subtree(tree_, kernel_)) {
      if (tree_.node(node).kind_name == "ForStmt") AddLoop(node, splices);
    }
    return splices;
  }

 private:
  void AddLoop(int node, Splices& splices) {
    const auto loop = WithCountedHeader(tree_, node);
    if (!loop || loop->step != "1" || tree_.node(loop->counter).type != "int") return;
    const auto first = EndAt(loop->start, "max", "-"), last = EndAt(loop->bound, "min", "+");
    if (!first || !last || first->own != last->own) return;
    const SyntaxNode& body = tree_.node(loop->parts.body);
    const std::string counter = tree_.node(loop->counter).name, own = tree_.node(first->own).name;
    const std::string away = UnusedName(used_, counter + "_away");
    used_ += " " + away;
    const std::string head = fmt::format(
        "for (int {0} = -{1}; {0} {2} {3}; ++{0}) {{\nconst int {4} = {5} + {0};\nif ({4} >= {6} && {4} {2} {7}) {{\n", away,
        first->distance, loop->comparison, last->distance, counter, own, first->image, last->image);
    splices.emplace_back(SourceRange{tree_.node(node).range.begin, body.range.begin}, head);
    splices.emplace_back(SourceRange{tree_.node(node).range.end, tree_.node(node).range.end}, "\n}\n}");
  }

  // `max(0, y - 2)`, in either order, also as the initialiser of a variable that does not change.
  std::optional<WindowEnd> EndAt(int expression, std::string_view callee, std::string_view sign) const {
    expression = Resolved(expression);
    const SyntaxNode& call = tree_.node(expression);
    if (call.kind_name != "CallExpr" || call.name != callee || call.children.size() != 3) return std::nullopt;
    for (const bool swapped : {false, true}) {
      const int image = WithoutParentheses(tree_, call.children[swapped ? 2 : 1]);
      int far = WithoutParentheses(tree_, call.children[swapped ? 1 : 2]);
      // Of `min(w, x + 3)` as of `min(w - 1, x + 2)`.
      std::int64_t more = 0;
      if (tree_.Operator(far) == sign && ConstantAt(tree_.node(far).children[1]) &&
          tree_.Operator(WithoutParentheses(tree_, tree_.node(far).children[0])) == sign) {
        more = *ConstantAt(tree_.node(far).children[1]);
        far = WithoutParentheses(tree_, tree_.node(far).children[0]);
      }
      if (tree_.Operator(far) != sign || tree_.node(far).children.size() != 2 || tree_.node(far).type != "int") continue;
      const int own = NamedDeclaration(tree_, tree_.node(far).children[0]);
      const auto distance = ConstantAt(tree_.node(far).children[1]);
      if (own < 0 || !distance || *distance + more < 0 || *distance + more > kFurthestOfWindow || !StaysSame(image) ||
          tree_.node(own).type.find("int") == std::string::npos || written_.contains(own))
        continue;
      // Of an unsigned number the other is one, too, so that it must not be below 0.
      if (tree_.node(image).type != "int" && (sign == "-" || !IsThreadNumber(own))) continue;
      return WindowEnd{Parenthesised(tree_, image), own, *distance + more};
    }
    return std::nullopt;
  }

  // Whether a variable is a sum of products of what threads and blocks are numbered by.
  bool IsThreadNumber(int variable) const {
    const auto& children = tree_.node(variable).children;
    return tree_.node(variable).kind_name == "VarDecl" && !children.empty() && NamedIn(tree_, children.back()).empty() &&
           tree_.Text(children.back()).find('-') == std::string_view::npos;
  }

  int Resolved(int expression) const {
    expression = WithoutParentheses(tree_, expression);
    const int named = NamedDeclaration(tree_, expression);
    if (named < 0 || tree_.node(named).kind_name != "VarDecl" || tree_.node(named).children.empty() || written_.contains(named))
      return expression;
    return WithoutParentheses(tree_, tree_.node(named).children.back());
  }

  // A number, or a parameter for which the launch line passes one.
  std::optional<std::int64_t> ConstantAt(int expression) const {
    expression = WithoutParentheses(tree_, expression);
    if (const auto number = ConstantValue(tree_, tree_.Text(expression))) return number;
    const int parameter = NamedDeclaration(tree_, expression);
    if (parameter < 0 || tree_.node(parameter).kind_name != "ParmDecl" || written_.contains(parameter)) return std::nullopt;
    const auto passed = LaunchedAs(tree_, *launch_, kernel_, parameter);
    const bool digits =
        passed && !passed->empty() && std::all_of(passed->begin(), passed->end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits && passed->size() < 3 ? std::optional<std::int64_t>(std::stoll(*passed)) : std::nullopt;
  }

  bool StaysSame(int expression) const {
    const auto named = NamedIn(tree_, expression);
    return IsPure(tree_, expression) && !LoadsIn(tree_, expression) &&
           std::none_of(named.begin(), named.end(), [&](int name) { return written_.contains(name); });
  }

  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective* launch_;
  std::set<int> written_;
  std::string used_;  // names that are taken
};

}  // namespace

std::optional<std::string> WithFixedWindows(const MutationContext& context, const std::function<void(const std::string&)>&) {
  Splices splices;
  for (const int kernel : Functions(context.tree)) {
    if (!IsKernel(context.tree, kernel) || context.tree.node(kernel).kind_name != "FunctionDecl") continue;
    const Splices of_kernel = WindowFixer(context, kernel).Find();
    splices.insert(splices.end(), of_kernel.begin(), of_kernel.end());
  }
  return Spliced(context.tree, std::move(splices));
}

}  // namespace evo
