#include "mutators/analysis/source/work_sharing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "kernel_templates/launch_line.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

// The most combinations of parameter values that are evaluated.
constexpr std::size_t kMostValues = 4096;

constexpr std::string_view kAxes = "xyz";

std::vector<std::string_view> Stripped(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (const SourceRange& range : Tokenize(text)) tokens.push_back(text.substr(range.begin, range.size()));
  const auto whole = [&] {
    if (tokens.size() < 2 || tokens.front() != "(" || tokens.back() != ")") return false;
    int depth = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      depth += tokens[i] == "(" ? 1 : tokens[i] == ")" ? -1 : 0;
      if (depth == 0) return false;
    }
    return true;
  };
  while (whole()) tokens = {tokens.begin() + 1, tokens.end() - 1};
  return tokens;
}

// Whether a preprocessor line names a built-in variable. Macros may then hide uses of it.
bool IsInADirective(std::string_view text, std::string_view builtin) {
  for (std::size_t at = text.find(builtin); at != std::string_view::npos; at = text.find(builtin, at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const std::size_t first = text.find_first_not_of(" \t", line);
    if (text[first] == '#') return true;
  }
  return false;
}

// The other factor of a product in which `node` is a factor; -1 if it is no such product.
int OtherFactor(const SyntaxTree& tree, int product, int node) {
  if (tree.Operator(product) != "*" || tree.node(product).children.size() != 2) return -1;
  const auto& sides = tree.node(product).children;
  if (sides[0] == node) return sides[1];
  return sides[1] == node ? sides[0] : -1;
}

// The casts to integers of 32 bits or more, and the parentheses, around an expression; the expression itself if there are none.
int WithCasts(const SyntaxTree& tree, int node) {
  for (int at = tree.node(node).parent; at >= 0; at = tree.node(at).parent) {
    const SyntaxNode& part = tree.node(at);
    const bool cast =
        part.kind_name == "CStyleCastExpr" || part.kind_name == "CXXStaticCastExpr" || part.kind_name == "CXXFunctionalCastExpr";
    if (part.kind_name != "ParenExpr" && !(cast && IsIntegerType(part.type) && part.type.find("short") == std::string::npos))
      return node;
    node = at;
  }
  return node;
}
int WithoutCasts(const SyntaxTree& tree, int node) {
  for (const SyntaxNode* part = &tree.node(node); !part->children.empty() && IsIntegerType(part->type); part = &tree.node(node)) {
    const bool cast = part->kind_name == "CStyleCastExpr" || part->kind_name == "CXXStaticCastExpr" ||
                      part->kind_name == "CXXFunctionalCastExpr" || part->kind_name == "ParenExpr";
    if (!cast) return node;
    node = part->children.back();
  }
  return node;
}

// Everything about an index but its `thread`.
std::optional<ThreadIndex> BlockIndexIn(const MutationContext& context, int kernel, std::size_t axis) {
  const SyntaxTree& tree = context.tree;
  ThreadIndex index;
  index.kernel = kernel;
  index.axis = axis;
  index.launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
  if (!index.launch || index.launch->grid.size() <= axis) return std::nullopt;
  const auto blocks = BuiltinUses(tree, kernel, "blockIdx", axis);
  if (blocks.size() != 1) return std::nullopt;
  index.block = blocks.front();
  const int factor = WithCasts(tree, index.block);
  int at = tree.node(factor).parent;
  index.extent = OtherFactor(tree, at, factor);
  if (index.extent >= 0) index.extent = WithoutCasts(tree, index.extent);
  while (tree.Operator(tree.node(at).parent) == "+") at = tree.node(at).parent;
  index.declaration = tree.node(at).parent;
  if (index.extent < 0 || tree.node(index.declaration).kind_name != "VarDecl") return std::nullopt;
  index.statement = tree.node(index.declaration).parent;
  const bool own_block = IsInBlock(tree, index.statement) && tree.node(tree.node(index.statement).parent).parent == kernel;
  if (!own_block || tree.node(index.statement).children.size() != 1) return std::nullopt;
  if (!IsIntegerType(tree.node(index.declaration).type)) return std::nullopt;
  return index;
}

// What an expression is with the numbers that are added to it and the parentheses around; the expression itself if there are
// none.
int WithAddedNumbers(const SyntaxTree& tree, int node) {
  for (int at = tree.node(node).parent; at >= 0; at = tree.node(at).parent) {
    const auto& sides = tree.node(at).children;
    const bool moved = (tree.Operator(at) == "+" || tree.Operator(at) == "-") && sides.size() == 2 && sides[0] == node &&
                       tree.node(sides[1]).kind_name == "IntegerLiteral";
    if (!moved && tree.node(at).kind_name != "ParenExpr") return node;
    node = at;
  }
  return node;
}

std::optional<ThreadIndex> IndexIn(const MutationContext& context, int kernel, std::size_t axis, bool moved) {
  const SyntaxTree& tree = context.tree;
  auto index = BlockIndexIn(context, kernel, axis);
  if (!index || index->launch->block.size() <= axis) return std::nullopt;
  const auto threads = BuiltinUses(tree, kernel, "threadIdx", axis);
  if (threads.size() != 1) return std::nullopt;
  index->thread = threads.front();
  // The index must be the sum of the product and the thread, and nothing else.
  const int sum = tree.node(index->thread).parent;
  const int product = tree.node(WithCasts(tree, index->block)).parent;
  if (tree.Operator(sum) != "+" || tree.node(WithCasts(tree, product)).parent != sum) return std::nullopt;
  if (tree.node(moved ? WithAddedNumbers(tree, sum) : sum).parent != index->declaration) return std::nullopt;
  const std::string dimension = fmt::format("blockDim.{}", kAxes[axis]);
  const std::string_view extent = tree.Text(index->extent);
  if (!SameTokens(extent, dimension) && !SameTokens(extent, index->launch->block[axis].text())) return std::nullopt;
  return index;
}

template <typename Function>
std::vector<ThreadIndex> IndicesBy(const MutationContext& context, Function find) {
  std::vector<ThreadIndex> indices;
  for (const char* builtin : {"threadIdx", "blockIdx"}) {
    if (IsInADirective(CodeOf(context.tree), builtin)) return indices;
  }
  for (const int function : Functions(context.tree)) {
    if (!IsKernel(context.tree, function)) continue;
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      if (const auto index = find(context, function, axis)) indices.push_back(*index);
    }
  }
  return indices;
}

}  // namespace

const LaunchDirective* OnlyLaunch(const KernelTemplate& rendered, std::string_view kernel) {
  const LaunchDirective* only = nullptr;
  for (const Step& step : rendered.steps) {
    if (!step.launch || step.launch->kernel != kernel) continue;
    if (only) return nullptr;
    only = &*step.launch;
  }
  return only;
}

const LaunchDirective* AlikeLaunches(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  std::vector<bool> is_integer;
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind_name != "ParmDecl") continue;
    const std::string& type = tree.node(child).type;
    is_integer.push_back(type.find('*') == std::string::npos && type.find("float") == std::string::npos &&
                         type.find("double") == std::string::npos);
  }
  const auto same = [](const std::vector<Expression>& a, const std::vector<Expression>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expression& one, const Expression& other) { return one.text() == other.text(); });
  };
  const LaunchDirective* first = nullptr;
  for (const Step& step : context.rendered.steps) {
    if (!step.launch || step.launch->kernel != tree.node(kernel).name) continue;
    const LaunchDirective& launch = *step.launch;
    if (first == nullptr) first = &launch;
    if (first == &launch) continue;
    if (!same(launch.grid, first->grid) || !same(launch.block, first->block) || !same(launch.cluster, first->cluster) ||
        launch.kernel_expression != first->kernel_expression || launch.shared.text() != first->shared.text() ||
        launch.cooperative != first->cooperative || launch.when || first->when ||
        launch.arguments.size() != first->arguments.size() || launch.arguments.size() > is_integer.size())
      return nullptr;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (is_integer[i] && launch.arguments[i] != first->arguments[i]) return nullptr;
    }
  }
  return first;
}

bool SameTokens(std::string_view a, std::string_view b) { return Stripped(a) == Stripped(b); }

std::vector<std::int64_t> ValuesOf(const Expression& expression, const KernelTemplate& rendered) {
  std::vector<Variables> settings{{}};
  for (const std::string& name : expression.Names()) {
    const auto& parameters = rendered.space.parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
    if (found == parameters.end() || settings.size() * found->values.size() > kMostValues) return {};
    std::vector<Variables> more;
    for (const Variables& setting : settings) {
      for (const std::int64_t value : found->values) {
        more.push_back(setting);
        more.back()[name] = Number::Integer(value);
      }
    }
    settings = std::move(more);
  }
  std::vector<std::int64_t> values;
  try {
    for (const Variables& setting : settings) values.push_back(expression.EvaluateInteger(setting));
  } catch (const Error&) {
    return {};
  }
  return values;
}

LaunchChange WithDimension(const LaunchDirective& launch, std::string_view field, std::size_t axis, const std::string& text) {
  std::vector<std::string> dimensions;
  for (const Expression& dimension : field == "grid" ? launch.grid : launch.block) dimensions.push_back(dimension.text());
  dimensions.at(axis) = text;
  return {launch.kernel, std::string(field), fmt::format("{}", fmt::join(dimensions, ", "))};
}

std::string BlocksOf(const Expression& grid, const std::string& extent, const std::string& size, const std::string& otherwise) {
  constexpr std::string_view kCall = "ceil_div(";
  const std::string& text = grid.text();
  if (text.starts_with(kCall) && text.ends_with(")")) {
    const auto parts = SplitAtCommas(std::string_view(text).substr(kCall.size(), text.size() - kCall.size() - 1));
    if (parts.size() == 2 && SameTokens(parts[1], extent))
      return size == "1" ? parts[0] : fmt::format("ceil_div({}, {})", parts[0], size);
  }
  return otherwise;
}

std::vector<int> BuiltinUses(const SyntaxTree& tree, int scope, std::string_view builtin, std::size_t axis) {
  std::vector<int> uses;
  const std::string spelled = fmt::format("{}.{}", builtin, kAxes[axis]);
  for (const int node : Subtree(tree, scope)) {
    if (tree.node(node).kind_name == "MemberRefExpr" && tree.Text(node) == spelled) uses.push_back(node);
  }
  return uses;
}

bool IsUsedElsewhere(const SyntaxTree& tree, int scope, std::string_view builtin) {
  if (IsInADirective(CodeOf(tree), builtin)) return true;
  for (const int name : NodesOfKind(tree, "DeclRefExpr")) {
    if (tree.node(name).name != builtin) continue;
    // The kind of the parent is not enough: a whole variable may have an implicit conversion operator above it, a member, too.
    const std::string_view used = tree.Text(tree.node(name).parent);
    const bool member = used.size() == builtin.size() + 2 && used.starts_with(builtin) && used[builtin.size()] == '.';
    if (!member || !IsWithin(tree, name, scope)) return true;
  }
  return false;
}

bool Cooperates(const SyntaxTree& tree, int scope, bool shuffles_too, const std::set<int>& left_out) {
  for (const int node : Subtree(tree, scope)) {
    if (left_out.contains(node)) continue;
    const std::string& kind = tree.node(node).kind_name;
    if (tree.node(node).opaque || kind == "LambdaExpr" || kind == "attribute(shared)") return true;
    if (kind.find("Asm") != std::string::npos || kind == "UnexposedStmt") return true;
    if (kind != "CallExpr" || CallsPure(tree, node)) continue;
    if (!shuffles_too && LibraryCallee(tree, node).starts_with("__shfl_")) continue;
    if (tree.node(node).name.starts_with("operator")) continue;
    // A constructor does nothing itself; its arguments are visited on their own.
    const auto& parts = tree.node(node).children;
    if (!parts.empty() && tree.node(parts.front()).name == tree.node(node).name) return true;
  }
  return false;
}

std::vector<ThreadIndex> ThreadIndices(const MutationContext& context) {
  return IndicesBy(context, [](const auto&... of) { return IndexIn(of..., false); });
}

std::vector<ThreadIndex> MovedThreadIndices(const MutationContext& context) {
  return IndicesBy(context, [](const auto&... of) { return IndexIn(of..., true); });
}

std::vector<ThreadIndex> BlockIndices(const MutationContext& context) { return IndicesBy(context, BlockIndexIn); }

}  // namespace evo
