#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kFoldedExtremes{"fmaxf"sv, "fminf"sv, "fmax"sv, "fmin"sv, "max"sv, "min"sv};
constexpr std::array kShuffledTypes{"float"sv, "double"sv, "int"sv, "unsigned int"sv};

// A tree reduction in shared memory: `for (int s = N / 2; s > 0; s /= 2) { if (t < s) p[t] += p[t + s]; __syncthreads(); }`.
struct Tree {
  ForLoop loop;
  std::string thread;    // `t`
  std::string threads;   // `N`
  std::string partials;  // `p`
  std::string type;
  std::string combine;  // "+", or the name of the function
};

std::string CombinedByTree(const Tree& reduction, const std::string& a, const std::string& b) {
  if (reduction.combine == "+") return fmt::format("{} += {};", a, b);
  return fmt::format("{0} = {1}({0}, {2});", a, reduction.combine, b);
}

// Whether an expression is `threadIdx.x`, or a variable that never has another value.
bool IsThreadIndex(const SyntaxTree& tree, int expression) {
  if (tree.Text(expression) == "threadIdx.x") return true;
  const int declaration = NamedDeclaration(tree, expression);
  if (declaration < 0 || tree.node(declaration).kind_name != "VarDecl" || tree.node(declaration).children.empty()) return false;
  return tree.Text(tree.node(declaration).children.back()) == "threadIdx.x" &&
         !WrittenIn(tree, tree.node(declaration).function).contains(declaration);
}

bool IsLiteral(const SyntaxTree& tree, int node, std::string_view spelled) { return tree.Text(node) == spelled; }

// Whether an increment halves a variable: `s /= 2`, `s >>= 1`, `s = s / 2`.
bool Halves(const SyntaxTree& tree, int increment, int variable) {
  const auto& sides = tree.node(increment).children;
  if (sides.size() != 2 || NamedDeclaration(tree, sides[0]) != variable) return false;
  const std::string_view spelled = tree.Operator(increment);
  if (spelled == "/=") return IsLiteral(tree, sides[1], "2");
  if (spelled == ">>=") return IsLiteral(tree, sides[1], "1");
  const auto& value = tree.node(sides[1]).children;
  if (spelled != "=" || value.size() != 2 || NamedDeclaration(tree, value[0]) != variable) return false;
  return (tree.Operator(sides[1]) == "/" && IsLiteral(tree, value[1], "2")) ||
         (tree.Operator(sides[1]) == ">>" && IsLiteral(tree, value[1], "1"));
}

// The N in `N / 2` or `N >> 1`; empty for other expressions.
std::string Doubled(const SyntaxTree& tree, int expression) {
  const auto& sides = tree.node(expression).children;
  if (sides.size() != 2) return "";
  const bool half = (tree.Operator(expression) == "/" && IsLiteral(tree, sides[1], "2")) ||
                    (tree.Operator(expression) == ">>" && IsLiteral(tree, sides[1], "1"));
  return half ? std::string(tree.Text(sides[0])) : "";
}

// Whether every block is one-dimensional, and the number of threads that the tree begins with is always a power of two and at
// least a warp.
bool FillsWarps(const KernelTemplate& rendered, const std::string& threads) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](const Expression& expression) {
    const auto values = ValuesOf(expression, rendered);
    sizes.insert(sizes.end(), values.begin(), values.end());
    return !values.empty();
  };
  for (const Step& step : rendered.steps) {
    if (!step.launch) continue;
    if (step.launch->block.size() != 1) return false;
    if (threads == "blockDim.x" && !add(step.launch->block[0])) return false;
  }
  try {
    if (threads != "blockDim.x" && !add(Expression::Parse(threads))) return false;
  } catch (const Error&) {
    return false;
  }
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n >= 32 && (n & (n - 1)) == 0; });
}

// Recognises `p[t] += p[t + s]` and its variants, and notes their parts. False for other statements.
bool ReadUpdate(const SyntaxTree& tree, int update, int half, Tree& reduction) {
  if (!IsAssignment(tree, update)) return false;
  const int target = tree.node(update).children[0];
  int other = tree.node(update).children[1];
  const auto is_target = [&](int node) { return SameTokens(tree.Text(node), tree.Text(target)); };
  const auto pick = [&](int a, int b) { return is_target(a) ? b : is_target(b) ? a : -1; };
  if (tree.Operator(update) == "+=") {
    reduction.combine = "+";
  } else if (tree.Operator(update) == "=" && tree.Operator(other) == "+") {
    reduction.combine = "+";
    other = pick(tree.node(other).children[0], tree.node(other).children[1]);
  } else if (tree.Operator(update) == "=") {
    reduction.combine = LibraryCallee(tree, other);
    const auto& parts = tree.node(other).children;
    if (std::find(kFoldedExtremes.begin(), kFoldedExtremes.end(), reduction.combine) == kFoldedExtremes.end() ||
        parts.size() != 3)
      return false;
    other = pick(parts[1], parts[2]);
  } else {
    return false;
  }
  if (other < 0 || tree.node(target).kind_name != "ArraySubscriptExpr" || tree.node(other).kind_name != "ArraySubscriptExpr")
    return false;
  const auto& to = tree.node(target).children;
  const auto& from = tree.node(other).children;
  if (!IsThreadIndex(tree, to[1]) || !SameTokens(tree.Text(to[0]), tree.Text(from[0])) || tree.Operator(from[1]) != "+")
    return false;
  const auto& sum = tree.node(from[1]).children;
  const bool forward = IsThreadIndex(tree, sum[0]) && NamedDeclaration(tree, sum[1]) == half;
  const bool backward = IsThreadIndex(tree, sum[1]) && NamedDeclaration(tree, sum[0]) == half;
  reduction.thread = tree.Text(to[1]);
  reduction.partials = tree.Text(to[0]);
  reduction.type = WithoutConst(tree.node(target).type);
  return (forward || backward) && std::find(kShuffledTypes.begin(), kShuffledTypes.end(), reduction.type) != kShuffledTypes.end();
}

std::optional<Tree> AsTree(const MutationContext& context, int node) {
  const SyntaxTree& tree = context.tree;
  const auto loop = AsForLoop(tree, node);
  if (!loop || !IsInBlock(tree, node) || tree.node(loop->body).kind_name != "CompoundStmt") return std::nullopt;
  Tree reduction;
  reduction.loop = *loop;
  const auto& declared = tree.node(loop->init).children;
  if (tree.node(loop->init).kind_name != "DeclStmt" || declared.size() != 1 || tree.node(declared[0]).children.empty())
    return std::nullopt;
  const int half = declared[0];
  reduction.threads = Doubled(tree, tree.node(half).children.back());
  const auto& limit = tree.node(loop->condition).children;
  const bool to_zero = limit.size() == 2 && NamedDeclaration(tree, limit[0]) == half &&
                       ((tree.Operator(loop->condition) == ">" && IsLiteral(tree, limit[1], "0")) ||
                        (tree.Operator(loop->condition) == ">=" && IsLiteral(tree, limit[1], "1")));
  if (reduction.threads.empty() || !to_zero || !Halves(tree, loop->increment, half)) return std::nullopt;
  const auto& body = tree.node(loop->body).children;
  if (body.size() != 2 || !IsBlockBarrier(tree, body[1]) || tree.node(body[0]).kind_name != "IfStmt") return std::nullopt;
  const auto& branch = tree.node(body[0]).children;
  if (branch.size() != 2 || tree.Operator(branch[0]) != "<") return std::nullopt;
  const auto& sides = tree.node(branch[0]).children;
  if (!IsThreadIndex(tree, sides[0]) || NamedDeclaration(tree, sides[1]) != half) return std::nullopt;
  const int update = OnlyStatement(tree, branch[1]);
  if (update < 0 || !ReadUpdate(tree, update, half, reduction) || !FillsWarps(context.rendered, reduction.threads))
    return std::nullopt;
  return reduction;
}

// The statement `p[t] = x;` with which all threads fill the array right before a tree and its barrier; -1 if there is none.
int StoreBefore(const SyntaxTree& tree, const Tree& reduction) {
  const int loop = reduction.loop.statement;
  const auto& siblings = tree.node(tree.node(loop).parent).children;
  const auto self = std::find(siblings.begin(), siblings.end(), FirstNode(tree, loop));
  if (self - siblings.begin() < 2 || !IsBlockBarrier(tree, *(self - 1))) return -1;
  const int store = *(self - 2);
  if (tree.Operator(store) != "=" || tree.node(store).children.size() != 2) return -1;
  const int target = tree.node(store).children[0];
  return SameTokens(tree.Text(target), fmt::format("{}[{}]", reduction.partials, reduction.thread)) ? store : -1;
}

// Whether nothing but the total in p[0] is read of what a tree leaves in shared memory: every use of the array is p[0], a store
// to p[t], or part of a tree that begins with such a store.
bool OnlyTheTotalIsRead(const MutationContext& context, const Tree& reduction) {
  const SyntaxTree& tree = context.tree;
  const int branch = tree.node(reduction.loop.body).children[0];
  int array = -1;
  for (const int node : Subtree(tree, branch)) {
    const SyntaxNode& element = tree.node(node);
    if (element.kind_name == "ArraySubscriptExpr" && tree.Text(element.children[0]) == reduction.partials)
      array = NamedDeclaration(tree, element.children[0]);
  }
  if (array < 0 || tree.node(array).kind_name != "VarDecl") return false;
  std::vector<int> trees{reduction.loop.statement};
  for (const int node : NodesOfKind(tree, "ForStmt")) {
    const auto other = AsTree(context, node);
    if (other && other->partials == reduction.partials && StoreBefore(tree, *other) >= 0) trees.push_back(node);
  }
  for (const int at : tree.UsesOf(array)) {
    const SyntaxNode& use = tree.node(at);
    if (use.kind_name != "DeclRefExpr") return false;
    if (std::any_of(trees.begin(), trees.end(), [&](int loop) { return IsWithin(tree, at, loop); })) continue;
    const SyntaxNode& element = tree.node(use.parent);
    if (element.kind_name != "ArraySubscriptExpr" || element.children.front() != at) return false;
    const bool stored = tree.Operator(element.parent) == "=" && tree.node(element.parent).children.front() == use.parent;
    if (!IsLiteral(tree, element.children[1], "0") && !(stored && IsThreadIndex(tree, element.children[1]))) return false;
  }
  return true;
}

std::string Shuffles(const Tree& reduction, const std::string& value, const std::string& offset, const std::string& indent) {
  return Block(fmt::format("for (int {0} = 16; {0} > 0; {0} /= 2)", offset),
               CombinedByTree(reduction, value, fmt::format("__shfl_down_sync(0xffffffffu, {}, {})", value, offset)), indent);
}

class WarpReduction : public SourceMutator {
 public:
  std::string_view name() const override { return "warp_reduction"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "replaces the last steps of a tree reduction, or all of them, by warp shuffles";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(context.tree, "ForStmt")) {
      const auto reduction = AsTree(context, node);
      if (!reduction || !OnlyTheTotalIsRead(context, *reduction)) continue;
      proposals.push_back(FinishByWarp(context.tree, *reduction));
      if (auto all = ByWarps(context.tree, *reduction)) proposals.push_back(std::move(*all));
    }
    return proposals;
  }

 private:
  // Ends the tree where one warp is left, which goes on with shuffles.
  static Proposal FinishByWarp(const SyntaxTree& tree, const Tree& reduction) {
    const int loop = reduction.loop.statement;
    const std::string indent = IndentOf(tree, loop);
    const std::string value = FreshName(tree, "value");
    const std::string& half = tree.node(tree.node(reduction.loop.init).children.front()).name;
    std::string text = fmt::format("\n{0}if ({1} < 32) {{\n{0}  {2} {3} = {4}[{1}];\n", indent, reduction.thread, reduction.type,
                                   value, reduction.partials);
    text += fmt::format("{}  {}\n", indent, Shuffles(reduction, value, FreshName(tree, "offset"), indent + "  "));
    text += fmt::format("{0}  if ({1} == 0) {2}[0] = {3};\n{0}}}\n{0}__syncthreads();", indent, reduction.thread,
                        reduction.partials, value);
    Proposal proposal;
    proposal.changes.push_back({reduction.loop.condition, Placement::kReplace, fmt::format("{} >= 32", half)});
    proposal.changes.push_back({loop, Placement::kAfter, std::move(text)});
    proposal.also_anchored.push_back(reduction.loop.body);
    return proposal;
  }

  // Replaces `p[t] = x; __syncthreads();` and the tree: each warp reduces its own values, then one warp reduces the results.
  static std::optional<Proposal> ByWarps(const SyntaxTree& tree, const Tree& reduction) {
    const int loop = reduction.loop.statement;
    const int store = StoreBefore(tree, reduction);
    if (store < 0) return std::nullopt;
    const std::string indent = IndentOf(tree, loop);
    const std::string value = FreshName(tree, "value");
    const std::string offset = FreshName(tree, "offset");
    const std::string identity = reduction.combine == "+" ? "0" : fmt::format("{}[0]", reduction.partials);
    // Lanes without a warp's value have read what the first lane replaces; shuffles do not order accesses to memory.
    const std::string read = reduction.combine == "+" ? "" : fmt::format("{}  __syncwarp();\n", indent);
    Proposal proposal;
    proposal.changes.push_back({store, Placement::kReplace,
                                fmt::format("{1} {2} = {3};\n{0}{4}\n{0}if ({5} % 32 == 0) {6}[{5} / 32] = {2};", indent,
                                            reduction.type, value, tree.Text(tree.node(store).children[1]),
                                            Shuffles(reduction, value, offset, indent), reduction.thread, reduction.partials)});
    if (reduction.loop.pragma >= 0) proposal.changes.push_back({reduction.loop.pragma, Placement::kReplace, ""});
    proposal.changes.push_back(
        {loop, Placement::kReplace,
         fmt::format("if ({1} < 32) {{\n{0}  {2} = {1} < {3} / 32 ? {4}[{1}] : {5};\n{0}  {6}\n{7}{0}  if ({1} == 0) {4}[0] = "
                     "{2};\n{0}}}\n{0}__syncthreads();",
                     indent, reduction.thread, value, Wrapped(reduction.threads), reduction.partials, identity,
                     Shuffles(reduction, value, offset, indent + "  "), read)});
    proposal.also_anchored.push_back(reduction.loop.body);
    return proposal;
  }

  static std::string Wrapped(const std::string& threads) { return threads == "blockDim.x" ? threads : Parenthesised(threads); }
};

}  // namespace

std::unique_ptr<Mutator> MakeWarpReduction() { return std::make_unique<WarpReduction>(); }

}  // namespace evo
