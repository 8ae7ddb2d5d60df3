#include "mutators/analysis/reductions/flat_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>

#include "kernel_templates/renderer.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

AffineForm BuiltinForm(const char* name, std::size_t axis) { return AffineForm::Symbol(BuiltinSymbol(name, axis)); }

class BlockFlattener {
 public:
  BlockFlattener(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {}

  std::optional<std::string> Run() {
    const SyntaxNode& kernel = tree_.node(kernel_);
    if (kernel.kind_name != "FunctionDecl" || kernel.children.empty()) return std::nullopt;
    body_ = kernel.children.back();
    launch_ = OnlyLaunch(context_.rendered, kernel.name);
    if (tree_.node(body_).kind_name != "CompoundStmt" || !HasTwoAxes() || !FindIndices()) return std::nullopt;
    flat_ = FreshName(tree_, "flat");
    count_ = FreshName(tree_, "elements");
    for (const int statement : tree_.node(body_).children) {
      if (!IsWithin(tree_, index_[0], statement) && !IsWithin(tree_, index_[1], statement) && !Visit(statement))
        return std::nullopt;
    }
    return numbered_ && size_[0] >= 0 && size_[1] >= 0 ? Text() : std::nullopt;
  }

 private:
  bool HasTwoAxes() const {
    if (launch_ == nullptr || !launch_->cluster.empty() || launch_->cooperative) return false;
    for (const auto* extents : {&launch_->block, &launch_->grid}) {
      if (extents->size() < 2 || (extents->size() == 3 && (*extents)[2].text() != "1")) return false;
    }
    return true;
  }

  // The numbers of threads along an axis: of the block, or that number itself.
  std::vector<AffineForm> Extents(std::size_t axis) const {
    std::vector<AffineForm> extents{BuiltinForm("blockDim", axis)};
    const std::string& text = launch_->block[axis].text();
    if (text.size() < 5 && text.find_first_not_of("0123456789") == std::string::npos)
      extents.push_back(AffineForm::Constant(std::stoi(text)));
    return extents;
  }

  bool Is(int expression, const AffineForm& form) const {
    const auto found = AffineFormOf(tree_, expression, {index_[0], index_[1]});
    return found && *found == form;
  }

  // `int x = blockIdx.x * blockDim.x + threadIdx.x;` and the same along y, each the only one.
  bool FindIndices() {
    const auto written = WrittenIn(tree_, kernel_);
    for (const int statement : tree_.node(body_).children) {
      if (tree_.node(statement).kind_name != "DeclStmt" || tree_.node(statement).children.size() != 1) continue;
      const int variable = tree_.node(statement).children.front();
      const SyntaxNode& declared = tree_.node(variable);
      if (WithoutConst(declared.type) != "int" || declared.children.empty() || written.contains(variable)) continue;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        for (const AffineForm& extent : Extents(axis)) {
          const AffineForm wanted = BuiltinForm("blockIdx", axis).TimesForm(extent).Plus(BuiltinForm("threadIdx", axis));
          if (!Is(declared.children.back(), wanted)) continue;
          if (index_[axis] >= 0) return false;
          index_[axis] = variable;
        }
      }
    }
    return index_[0] >= 0 && index_[1] >= 0;
  }

  // Whether a parameter is the size along an axis, for which the grid has a thread each.
  bool IsSize(int parameter, std::size_t axis) const {
    if (parameter < 0 || tree_.node(parameter).kind_name != "ParmDecl") return false;
    if (WithoutConst(tree_.node(parameter).type) != "int" || WrittenIn(tree_, kernel_).contains(parameter)) return false;
    const auto passed = LaunchedAs(tree_, *launch_, kernel_, parameter);
    return passed &&
           SameTokens(launch_->grid[axis].text(), fmt::format("ceil_div({}, {})", *passed, launch_->block[axis].text()));
  }

  // The axis along which a comparison asks whether the element is inside, or outside; 2 for others.
  std::size_t AxisOf(int comparison, std::string_view spelled) {
    comparison = WithoutParentheses(tree_, comparison);
    const auto& sides = tree_.node(comparison).children;
    if (tree_.Operator(comparison) != spelled || sides.size() != 2) return 2;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const int size = NamedDeclaration(tree_, sides[1]);
      if (NamedDeclaration(tree_, sides[0]) != index_[axis] || !IsSize(size, axis)) continue;
      size_[axis] = size;
      return axis;
    }
    return 2;
  }

  bool IsFirstThread(int comparison, std::size_t axis) const {
    comparison = WithoutParentheses(tree_, comparison);
    const auto& sides = tree_.node(comparison).children;
    return tree_.Operator(comparison) == "==" && sides.size() == 2 && tree_.Text(sides[1]) == "0" &&
           Is(sides[0], BuiltinForm("threadIdx", axis));
  }

  // `x < width && y < height`, its opposite, or `threadIdx.x == 0 && threadIdx.y == 0`.
  bool ReplaceCondition(int node) {
    const std::string_view spelled = tree_.Operator(node);
    const auto& sides = tree_.node(node).children;
    if ((spelled != "&&" && spelled != "||") || sides.size() != 2) return false;
    const std::string_view compared = spelled == "&&" ? "<" : ">=";
    if (AxisOf(sides[0], compared) + AxisOf(sides[1], compared) == 1) {
      replaced_.emplace_back(node, fmt::format("{} {} {}", flat_, compared, count_));
      return true;
    }
    const auto first = [&](std::size_t a, std::size_t b) { return IsFirstThread(sides[0], a) && IsFirstThread(sides[1], b); };
    if (spelled != "&&" || (!first(0, 1) && !first(1, 0))) return false;
    replaced_.emplace_back(node, "threadIdx.x == 0");
    return true;
  }

  bool ReplaceNumber(int node) {
    for (const AffineForm& extent : Extents(0)) {
      if (Is(node, BuiltinForm("threadIdx", 1).TimesForm(extent).Plus(BuiltinForm("threadIdx", 0)))) {
        replaced_.emplace_back(node, "threadIdx.x");
        return true;
      }
    }
    if (Is(node, BuiltinForm("blockDim", 0).TimesForm(BuiltinForm("blockDim", 1)))) {
      replaced_.emplace_back(node, "blockDim.x");
      return true;
    }
    const auto form = AffineFormOf(tree_, node, {index_[0], index_[1]});
    if (!form || !form->Contains(index_[1])) return false;
    for (const int symbol : form->Symbols()) {
      const AffineForm wanted = AffineForm::Symbol(index_[1]).TimesForm(AffineForm::Symbol(symbol));
      if (symbol < 0 || !IsSize(symbol, 0) || *form != wanted.Plus(AffineForm::Symbol(index_[0]))) continue;
      replaced_.emplace_back(node, flat_);
      numbered_ = true;
      return true;
    }
    return false;
  }

  // False if a place along an axis counts for anything but the number of the element or of the thread.
  bool Visit(int node) {
    const SyntaxNode& at = tree_.node(node);
    if (at.opaque || at.kind_name == "LambdaExpr") return false;
    if (at.kind_name == "DeclRefExpr") {
      const bool builtin = at.name == "threadIdx" || at.name == "blockIdx" || at.name == "blockDim" || at.name == "gridDim";
      return at.refers_to < 0 ? !builtin : at.refers_to != index_[0] && at.refers_to != index_[1];
    }
    if (ReplaceCondition(node)) return true;
    const bool number = IsIntegerType(at.type) && at.kind_name != "VarDecl" && at.kind_name != "ParmDecl";
    if (number && ReplaceNumber(node)) return true;
    for (const int child : at.children) {
      if (!Visit(child)) return false;
    }
    return true;
  }

  std::optional<std::string> Text() {
    const auto width = LaunchedAs(tree_, *launch_, kernel_, size_[0]), height = LaunchedAs(tree_, *launch_, kernel_, size_[1]);
    const int last = LastParameter(tree_, kernel_);
    replaced_.emplace_back(tree_.node(index_[0]).parent,
                           fmt::format("const int {} = blockIdx.x * blockDim.x + threadIdx.x;", flat_));
    replaced_.emplace_back(tree_.node(index_[1]).parent, "");
    replaced_.emplace_back(last, fmt::format("{}, int {}", tree_.Text(last), count_));
    const std::string number = fmt::format("{} * {}", Parenthesised(*width), Parenthesised(*height));
    const std::string threads =
        fmt::format("{} * {}", Parenthesised(launch_->block[0].text()), Parenthesised(launch_->block[1].text()));
    std::optional<std::string> text = TextWith(tree_, 0, replaced_);
    const std::string& kernel = launch_->kernel;
    for (const LaunchChange& change :
         {LaunchChange{kernel, "arguments", fmt::format("{}, {}", fmt::join(launch_->arguments, ", "), number)},
          LaunchChange{kernel, "grid", fmt::format("ceil_div({}, {})", number, threads)},
          LaunchChange{kernel, "block", threads}}) {
      if (text) text = RenderLaunchChange(*text, change);
    }
    return text;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  int body_ = -1;
  const LaunchDirective* launch_ = nullptr;
  std::array<int, 2> index_{-1, -1}, size_{-1, -1};  // declarations, along x and y
  std::string flat_, count_;
  bool numbered_ = false;
  Replacements replaced_;
};

}  // namespace

std::optional<std::string> WithFlatBlocks(const MutationContext& context, const std::function<void(const std::string&)>&) {
  for (const int kernel : Functions(context.tree)) {
    if (!IsKernel(context.tree, kernel)) continue;
    if (auto text = BlockFlattener(context, kernel).Run()) return text;
  }
  return std::nullopt;
}

}  // namespace evo
