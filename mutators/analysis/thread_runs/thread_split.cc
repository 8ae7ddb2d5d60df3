#include "mutators/analysis/thread_runs/thread_split.h"

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

// The initialiser that a never-written local variable goes back to; other expressions as they are.
int Origin(const SyntaxTree& tree, int expression) {
  expression = WithoutParentheses(tree, expression);
  const int declaration = NamedDeclaration(tree, expression);
  if (declaration < 0) return expression;
  const SyntaxNode& variable = tree.node(declaration);
  if (variable.kind_name != "VarDecl" || variable.function < 0 || variable.children.empty()) return expression;
  if (WrittenIn(tree, variable.function).contains(declaration) || IsMemoryName(tree, declaration)) return expression;
  return Origin(tree, variable.children.back());
}

bool IsThread(const SyntaxTree& tree, int expression) { return tree.Text(Origin(tree, expression)) == "threadIdx.x"; }

std::string Unparenthesised(std::string text) {
  if (text.starts_with("(") && text.ends_with(")") && text.find(')') == text.size() - 1) text = text.substr(1, text.size() - 2);
  return text;
}

// Whether the loop's step is the width of the block in every launch of the kernel.
bool IsBlockWidth(const MutationContext& context, const CountedLoop& loop) {
  const std::string step = Unparenthesised(loop.step);
  if (step == "blockDim.x") return true;
  const SyntaxTree& tree = context.tree;
  const int function = tree.node(loop.parts.statement).function;
  if (!IsKernel(tree, function)) return false;
  bool launched = false;
  for (const Step& one : context.rendered.steps) {
    if (!one.launch || one.launch->kernel != tree.node(function).name) continue;
    launched = true;
    if (Unparenthesised(one.launch->block.front().text()) != step) return false;
  }
  return launched;
}

// Whether an expression is the number of a thread of a group as large as the loop's step.
bool IsNumber(const MutationContext& context, const CountedLoop& loop, int expression) {
  const SyntaxTree& tree = context.tree;
  if (IsThread(tree, expression)) return IsBlockWidth(context, loop);
  const int start = Origin(tree, expression);
  if (tree.Operator(start) == "%" && IsThread(tree, tree.node(start).children[0]))
    return tree.Text(tree.node(start).children[1]) == loop.step;
  return false;
}

// Whether a difference of numbers of this type may be below 0.
bool IsSigned(const std::string& type) { return type.find("unsigned") == std::string::npos && type != "size_t"; }

}  // namespace

std::optional<ThreadSplit> SplitAmongThreads(const MutationContext& context, const CountedLoop& loop) {
  const SyntaxTree& tree = context.tree;
  if (IsNumber(context, loop, loop.start)) return ThreadSplit{-1, loop.start};
  const int start = WithoutParentheses(tree, loop.start);
  const auto& terms = tree.node(start).children;
  if (tree.Operator(start) != "+" || terms.size() != 2) return std::nullopt;
  if (!IsSigned(tree.node(loop.counter).type) || !IsSigned(tree.node(loop.bound).type)) return std::nullopt;
  for (const std::size_t side : {1, 0}) {
    if (IsNumber(context, loop, terms[side])) return ThreadSplit{terms[1 - side], terms[side]};
  }
  return std::nullopt;
}

}  // namespace evo
