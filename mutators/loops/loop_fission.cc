#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/dependence.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Whether a statement declares a variable that both loops can compute: its initialiser uses nothing that the body changes.
bool IsRepeatable(const MutationContext& context, int statement, int body) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(statement);
  if (node.kind_name != "DeclStmt" || node.children.size() != 1) return false;
  const int variable = node.children.front();
  const SyntaxNode& declared = tree.node(variable);
  if (declared.kind_name != "VarDecl" || declared.children.empty() || !IsArithmetic(WithoutConst(declared.type))) return false;
  const int init = declared.children.back();
  const auto written = WrittenIn(tree, body);
  if (!IsPure(tree, init) || written.contains(variable) || IsMemoryName(tree, variable)) return false;
  for (const int named : NamedIn(tree, init)) {
    if (written.contains(named)) return false;
  }
  for (const int at : Subtree(tree, init)) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "CallExpr" && LoadsIn(tree, at)) return false;
    if (kind == "UnaryOperator" && tree.Operator(at) == "*") return false;
    if (kind == "ArraySubscriptExpr" && !IsReadOnlyGlobal(tree, context.rendered, tree.node(at).children.front())) return false;
  }
  return true;
}

bool NamesAnyOf(const SyntaxTree& tree, const std::vector<int>& nodes, const std::vector<int>& declaring) {
  for (const int node : nodes) {
    for (const int named : NamedIn(tree, node)) {
      if (std::any_of(declaring.begin(), declaring.end(), [&](int d) { return IsWithin(tree, named, d); })) return true;
    }
  }
  return false;
}

// The statements of a body, without pragmas: those that both loops repeat at their beginning, then the rest.
struct SplitBody {
  std::vector<int> repeated;
  std::vector<int> rest;
};

std::string LoopOf(const SyntaxTree& tree, const CountedLoop& loop, const std::vector<int>& repeated,
                   const std::vector<int>& part) {
  const std::string indent = IndentOf(tree, loop.parts.statement);
  const std::string init(tree.Text(loop.parts.init));
  std::string text = fmt::format("{} {{\n", Header(tree, loop, init.substr(0, init.rfind(';'))));
  for (const auto* statements : {&repeated, &part}) {
    for (const int statement : *statements) {
      std::string lines = WithComments(tree, statement, std::string(tree.Text(statement)), indent + "  ");
      if (const int pragma = PragmaOf(tree, statement); pragma >= 0)
        lines.insert(lines.find(tree.Text(statement)) - indent.size() - 2, std::string(tree.Text(pragma)) + "\n");
      text += lines;
    }
  }
  return text + indent + "}";
}

class LoopFission : public SourceMutator {
 public:
  std::string_view name() const override { return "loop_fission"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "splits a loop in two if its statements do not depend on each other"; }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto loop = AsCountedLoop(tree, node);
      if (!loop || !IsInBlock(tree, node) || tree.node(loop->parts.body).kind_name != "CompoundStmt") continue;
      SplitBody split;
      for (const int statement : tree.node(loop->parts.body).children) {
        if (tree.node(statement).kind_name == kPragmaKind) continue;
        const bool repeats = split.rest.empty() && IsRepeatable(context, statement, loop->parts.body);
        (repeats ? split.repeated : split.rest).push_back(statement);
      }
      for (std::size_t at = 1; at < split.rest.size(); ++at) {
        const auto middle = split.rest.begin() + static_cast<std::ptrdiff_t>(at);
        const std::vector<int> first(split.rest.begin(), middle);
        const std::vector<int> second(middle, split.rest.end());
        if (NamesAnyOf(tree, second, first)) continue;
        if (!AreApart(context, {first, loop->counter}, {second, loop->counter})) continue;
        const std::string pragma = loop->parts.pragma >= 0 ? std::string(tree.Text(loop->parts.pragma)) + "\n" : "";
        const std::string text = fmt::format("{}\n{}{}{}", LoopOf(tree, *loop, split.repeated, first), pragma,
                                             IndentOf(tree, node), LoopOf(tree, *loop, split.repeated, second));
        proposals.push_back({{{node, Placement::kReplace, text}}, {loop->parts.body}, {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLoopFission() { return std::make_unique<LoopFission>(); }

}  // namespace evo
