#include "mutators/analysis/thread_runs/element_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

class GridFinder {
 public:
  GridFinder(const MutationContext& context, int kernel) : context_(context), tree_(context.tree) { grid_.kernel = kernel; }

  std::variant<ElementGrid, std::string> Find() {
    const SyntaxNode& kernel = tree_.node(grid_.kernel);
    if (kernel.kind_name != "FunctionDecl") return "it is a function template";
    grid_.launch = OnlyLaunch(context_.rendered, kernel.name);
    if (grid_.launch == nullptr) return "it is not launched by exactly one launch line";
    if (!grid_.launch->cluster.empty() || grid_.launch->cooperative) return "its blocks are launched as clusters or together";
    if (kernel.children.empty() || tree_.node(kernel.children.back()).kind_name != "CompoundStmt") return "it has no body";
    if (tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}).find("__launch_bounds__") !=
        std::string_view::npos)
      return "its __launch_bounds__ rule out other blocks";
    if (Cooperates(tree_, kernel.children.back())) {
      if (const std::string called = NotLookedInto(); !called.empty()) return called;
      return "its threads work together already: barriers, shuffles, atomics or shared memory";
    }
    body_ = kernel.children.back();
    FindIndices();
    if (grid_.indices.size() == 1) Divide();
    if (grid_.indices.size() != 2) {
      return fmt::format(
          "its threads have {} of the form blockIdx * size + threadIdx, and two are needed, or one of which / and % "
          "make two",
          grid_.indices.empty()       ? "no index"
          : grid_.indices.size() == 1 ? "one index"
                                      : "three indices");
    }
    if (grid_.flat < 0 &&
        (grid_.indices[0].axis == grid_.indices[1].axis || grid_.indices[0].block_axis == grid_.indices[1].block_axis))
      return "its two indices go along one axis of the grid or the block";
    if (!SplitAtGuard())
      return "its guard has more than bounds of the indices, or has other statements than declarations before it";
    for (const ElementGrid::Index& index : grid_.indices) {
      if (index.bound < 0) {
        const std::string& name = tree_.node(index.declaration).name;
        return fmt::format("no bound is known for {0}: `if ({0} >= ..) return;` or `if ({0} < ..)` around the work is needed",
                           name);
      }
    }
    return grid_;
  }

 private:
  // A lambda, or a call of a function or a constructor of the file; empty if there is none, or threads do work together.
  std::string NotLookedInto() const {
    if (NeedsBlock(tree_, grid_.kernel)) return "";
    for (const int node : Subtree(tree_, grid_.kernel)) {
      if (tree_.node(node).kind_name == "LambdaExpr") return "it has a lambda, which is not looked into";
      if (tree_.node(node).kind_name != "CallExpr" || CallsPure(tree_, node) || !LibraryCallee(tree_, node).empty()) continue;
      if (tree_.node(node).name.starts_with("operator") || tree_.node(node).children.empty()) continue;
      return fmt::format("it calls {}, which is not looked into", tree_.node(node).name);
    }
    return "";
  }

  // Variables of DeclStmts in the outermost block, or in the block within the guard.
  std::vector<int> Variables() const {
    std::vector<int> variables;
    for (const int node : Subtree(tree_, body_)) {
      if (tree_.node(node).kind_name != "VarDecl" || tree_.node(node).children.empty()) continue;
      const int statement = tree_.node(node).parent;
      if (tree_.node(statement).kind_name == "DeclStmt" && IsInBlock(tree_, statement)) variables.push_back(node);
    }
    return variables;
  }

  bool IsIndexLike(int variable) const {
    const std::string type = WithoutConst(tree_.node(variable).type);
    return IsArithmetic(type) && type != "float" && type != "double" && !IsMemoryName(tree_, variable) &&
           !WrittenIn(tree_, grid_.kernel).contains(variable) && tree_.node(tree_.node(variable).parent).children.size() == 1;
  }

  // The variables that are such indices.
  void FindIndices() {
    for (const int variable : Variables()) {
      if (!IsIndexLike(variable)) continue;
      const auto form = AffineFormOf(tree_, tree_.node(variable).children.back(), {});
      if (!form) continue;
      for (std::size_t axis = 0; axis < grid_.launch->grid.size(); ++axis) {
        for (std::size_t of_block = 0; of_block < grid_.launch->block.size(); ++of_block) {
          if (IsIndex(*form, axis, of_block)) grid_.indices.push_back({variable, -1, axis, of_block});
        }
      }
    }
  }

  // Whether a form is `blockIdx.a * size + threadIdx.b`, where size is the block's.
  bool IsIndex(const AffineForm& form, std::size_t axis, std::size_t of_block) const {
    const AffineForm thread = AffineForm::Symbol(BuiltinSymbol("threadIdx", of_block));
    const AffineForm block = AffineForm::Symbol(BuiltinSymbol("blockIdx", axis));
    if (form == thread.Plus(block.TimesForm(AffineForm::Symbol(BuiltinSymbol("blockDim", of_block))))) return true;
    const auto size = ConstantValue(tree_, grid_.launch->block[of_block].text());
    return size && form == thread.Plus(block.TimesForm(AffineForm::Constant(*size)));
  }

  // `row = i / columns` and `column = i % columns` become the indices. Blocks along z may be batches.
  void Divide() {
    const int flat = grid_.indices.front().declaration;
    std::map<std::string_view, int> parts;  // "/" and "%": the variable
    std::string_view divisor;
    int bound = -1;
    for (const int variable : Variables()) {
      const int value = WithoutParentheses(tree_, tree_.node(variable).children.back());
      const std::string_view spelled = tree_.Operator(value);
      if ((spelled != "/" && spelled != "%") || !IsIndexLike(variable)) continue;
      const auto& sides = tree_.node(value).children;
      if (NamedDeclaration(tree_, sides[0]) != flat || parts.contains(spelled)) continue;
      if (!divisor.empty() && !SameTokens(divisor, tree_.Text(sides[1]))) return;
      divisor = tree_.Text(sides[1]);
      bound = sides[1];
      parts[spelled] = variable;
    }
    const auto& blocks = grid_.launch->grid;
    const bool batches = blocks.size() == 3 && blocks[1].text() == "1";
    if (parts.size() != 2 || (blocks.size() != 1 && !batches) || grid_.launch->block.size() != 1) return;
    grid_.flat = flat;
    grid_.indices = {{parts["/"], -1, 1, 0}, {parts["%"], bound, 0, 0}};
  }

  bool IsOfIndex(int statement) const {
    const auto declares = [&](int declaration) { return tree_.node(declaration).parent == statement; };
    return (grid_.flat >= 0 && declares(grid_.flat)) ||
           std::any_of(grid_.indices.begin(), grid_.indices.end(),
                       [&](const auto& index) { return declares(index.declaration); });
  }

  // Takes the bounds from a condition of comparisons. False if it has anything else.
  bool TakeBounds(int condition, bool inside) {
    condition = WithoutParentheses(tree_, condition);
    const auto& sides = tree_.node(condition).children;
    if (sides.size() != 2) return false;
    const std::string_view spelled = tree_.Operator(condition);
    if (spelled == (inside ? "&&" : "||")) return TakeBounds(sides[0], inside) && TakeBounds(sides[1], inside);
    int variable = -1, bound = -1;
    if (spelled == (inside ? "<" : ">=")) variable = sides[0], bound = sides[1];
    if (spelled == (inside ? ">" : "<=")) variable = sides[1], bound = sides[0];
    if (variable < 0 || !IsPure(tree_, bound) || LoadsIn(tree_, bound) || !IsFixed(bound)) return false;
    return Bind(NamedDeclaration(tree_, variable), bound);
  }

  // Whether an expression consists of numbers and of parameters that do not change.
  bool IsFixed(int expression) const {
    const auto form = AffineFormOf(tree_, expression, {});
    if (!form) return false;
    for (const int symbol : form->Symbols()) {
      if (symbol < 0) return false;
    }
    for (const int named : NamedIn(tree_, expression)) {
      if (tree_.node(named).kind_name == "VarDecl" && tree_.node(named).function >= 0) return false;
    }
    return true;
  }

  bool Bind(int variable, int bound) {
    for (ElementGrid::Index& index : grid_.indices) {
      if (index.declaration != variable) continue;
      if (index.bound >= 0 && !SameTokens(tree_.Text(index.bound), tree_.Text(bound))) return false;
      index.bound = bound;
      return true;
    }
    if (variable != grid_.flat || variable < 0) return false;
    // i < rows * columns
    bound = WithoutParentheses(tree_, bound);
    const auto& sides = tree_.node(bound).children;
    if (tree_.Operator(bound) != "*" || sides.size() != 2) return false;
    const std::string_view columns = tree_.Text(grid_.indices[1].bound);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      if (SameTokens(tree_.Text(sides[side]), columns)) {
        grid_.indices[0].bound = sides[1 - side];
        return true;
      }
    }
    return false;
  }

  // Whether a statement is a guard that returns.
  bool Returns(int statement) const {
    const auto& parts = tree_.node(statement).children;
    return tree_.node(statement).kind_name == "IfStmt" && parts.size() == 2 &&
           tree_.node(OnlyStatement(tree_, parts[1]) < 0 ? parts[1] : OnlyStatement(tree_, parts[1])).kind_name == "ReturnStmt";
  }

  // Whether a guard's body is a block, or an assignment without braces.
  bool IsWork(int body) const {
    const std::string& kind = tree_.node(body).kind_name;
    return kind == "CompoundStmt" || kind == "BinaryOperator" || kind == "CallExpr";
  }

  bool SplitAtGuard() {
    const auto& all = tree_.node(body_).children;
    std::size_t last = all.size();  // the last guard
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!Returns(all[i])) continue;
      if (!TakeBounds(tree_.node(all[i]).children[0], false)) return false;
      last = i;
    }
    const bool wrapped = last == all.size() && !all.empty() && tree_.node(all.back()).kind_name == "IfStmt" &&
                         tree_.node(all.back()).children.size() == 2 && IsWork(tree_.node(all.back()).children[1]) &&
                         TakeBounds(tree_.node(all.back()).children[0], true);
    if (wrapped) last = all.size() - 1;
    // Such as `if (row < n && column < n && column <= row)`.
    if (last == all.size() && grid_.indices[0].bound >= 0) return false;
    if (last == all.size()) return true;  // no guard: a bound is missing, which is said
    for (std::size_t i = 0; i < last; ++i) {
      if (Returns(all[i]) || IsOfIndex(all[i])) continue;
      if (tree_.node(all[i]).kind_name != "DeclStmt") return false;
      grid_.before.push_back(all[i]);
    }
    std::vector<int> rest(all.begin() + static_cast<std::ptrdiff_t>(last) + 1, all.end());
    if (wrapped) {
      const int work = tree_.node(all.back()).children[1];
      rest = tree_.node(work).kind_name == "CompoundStmt" ? tree_.node(work).children : std::vector<int>{work};
    }
    for (const int statement : rest) {
      if (!IsOfIndex(statement)) grid_.statements.push_back(statement);
    }
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int body_ = -1;
  ElementGrid grid_;
};

}  // namespace

std::variant<ElementGrid, std::string> AsElementGrid(const MutationContext& context, int kernel) {
  return GridFinder(context, kernel).Find();
}

}  // namespace evo
