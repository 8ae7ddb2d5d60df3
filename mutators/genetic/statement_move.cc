#include <algorithm>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/statement_order.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The statements of a block without pragmas.
std::vector<int> StatementsOf(const SyntaxTree& tree, int block) {
  std::vector<int> statements;
  for (const int child : tree.node(block).children) {
    if (tree.node(child).kind_name != kPragmaKind) statements.push_back(child);
  }
  return statements;
}

// Whether a statement declares variables that can be computed without harm where they are not needed: without loads and division.
bool IsHarmless(const SyntaxTree& tree, int statement) {
  if (tree.node(statement).kind_name != "DeclStmt") return false;
  for (const int variable : tree.node(statement).children) {
    const SyntaxNode& node = tree.node(variable);
    if (node.kind_name != "VarDecl" || node.children.empty() || node.type.ends_with("]")) return false;
    if (!IsPure(tree, node.children.back()) || LoadsIn(tree, node.children.back())) return false;
    for (const int at : Subtree(tree, variable)) {
      // A division may be undefined where the condition does not hold.
      if (tree.Operator(at) == "/" || tree.Operator(at) == "%" || tree.node(at).opaque) return false;
    }
  }
  return true;
}

bool HasName(const SyntaxTree& tree, int scope, const std::string& name, int but) {
  const auto nodes = Subtree(tree, scope);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](int at) { return at != but && tree.node(at).kind_name == "VarDecl" && tree.node(at).name == name; });
}

bool OrdersThreads(const SyntaxTree& tree, int statement) {
  return LibraryCallee(tree, statement) == "__syncthreads" || LibraryCallee(tree, statement) == "__syncwarp";
}

// Whether a statement reads nothing that another thread writes and writes nothing that another thread reads, so that it may be
// moved past a barrier.
bool IsPrivate(const MutationContext& context, int statement) {
  const SyntaxTree& tree = context.tree;
  if (StoresIn(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    const SyntaxNode& at = tree.node(node);
    if (at.opaque) return false;
    if (at.kind_name == "CallExpr" && LibraryCallee(tree, node).empty()) return false;
    if (at.kind_name == "DeclRefExpr" && at.refers_to >= 0 && IsMemoryName(tree, at.refers_to)) return false;
    const bool load = at.kind_name == "ArraySubscriptExpr" || (at.kind_name == "UnaryOperator" && tree.Operator(node) == "*");
    if (load && (at.children.empty() || !IsReadOnlyGlobal(tree, context.rendered, at.children.front()))) return false;
  }
  return true;
}

class StatementMove : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_move"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "moves a statement past others of its block that it does not depend on, or out of a condition";
  }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      const auto statements = StatementsOf(tree, block);
      for (std::size_t i = 0; i < statements.size(); ++i) {
        if (!IsSimple(tree, statements[i]) || !tree.Text(statements[i]).ends_with(";")) continue;
        Along(context, statements, i, proposals);
        Out(tree, block, statements, i, proposals);
      }
    }
    return proposals;
  }

 private:
  // Moves a statement as far as possible, and half as far, but not past a single statement: statement_swap does that. A move must
  // involve a load, a loop or a barrier, since the compiler orders other statements itself.
  static void Along(const MutationContext& context, const std::vector<int>& statements, std::size_t i,
                    std::vector<Proposal>& proposals) {
    const SyntaxTree& tree = context.tree;
    const bool is_private = IsPrivate(context, statements[i]);
    const auto passes = [&](std::size_t other) {
      if (OrdersThreads(tree, statements[other])) return is_private;
      return IsPassable(tree, statements[other]) && AreIndependent(tree, statements[i], statements[other]);
    };
    const auto matters = [&](std::size_t first, std::size_t last) {
      bool found = LoadsIn(tree, statements[i]);
      for (std::size_t at = first; at <= last; ++at)
        found |= at != i && (OrdersThreads(tree, statements[at]) || ContainsLoop(tree, statements[at]));
      return found;
    };
    std::size_t up = i;
    while (up > 0 && passes(up - 1)) --up;
    const bool past_barrier = i > up && i - up == 1 && OrdersThreads(tree, statements[up]);
    if ((i - up >= 2 || past_barrier) && matters(up, i)) proposals.push_back(Moved(tree, statements[i], statements[up]));
    if (i - up >= 4 && matters((i + up) / 2, i)) proposals.push_back(Moved(tree, statements[i], statements[(i + up) / 2]));
    std::size_t down = i;
    while (down + 1 < statements.size() && passes(down + 1)) ++down;
    // A statement is inserted before another one, so it cannot become the last of its block.
    if (down - i >= 2 && down + 1 < statements.size() && matters(i, down))
      proposals.push_back(Moved(tree, statements[i], statements[down + 1]));
    if (down - i >= 4 && matters(i, (i + down) / 2))
      proposals.push_back(Moved(tree, statements[i], statements[(i + down) / 2 + 1]));
  }

  // Moves a statement out of its block, before the `if` around it.
  static void Out(const SyntaxTree& tree, int block, const std::vector<int>& statements, std::size_t i,
                  std::vector<Proposal>& proposals) {
    const int branch = tree.node(block).parent;
    if (tree.node(branch).kind_name != "IfStmt" || !IsInBlock(tree, branch) || !IsHarmless(tree, statements[i])) return;
    for (std::size_t before = 0; before < i; ++before) {
      if (!AreIndependent(tree, statements[i], statements[before])) return;
    }
    for (const int variable : tree.node(statements[i]).children) {
      // No other variable of the function may have the same name.
      if (HasName(tree, tree.node(variable).function, tree.node(variable).name, variable)) return;
    }
    const auto written = WrittenIn(tree, tree.node(branch).children.front());
    for (const int named : NamedIn(tree, statements[i])) {
      if (written.contains(named)) return;
    }
    proposals.push_back(Moved(tree, statements[i], branch));
  }

  static Proposal Moved(const SyntaxTree& tree, int statement, int before) {
    return {{{statement, Placement::kReplace, ""},
             {FirstNode(tree, before), Placement::kBefore, LineBefore(tree, before, std::string(tree.Text(statement)))}},
            {},
            {}};
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStatementMove() { return std::make_unique<StatementMove>(); }

}  // namespace evo
