#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// How many statements away a copy may be inserted.
constexpr std::size_t kReach = 4;

// Whether a statement may stand wherever its names are declared: an assignment, an increment, a barrier.
bool IsCopied(const SyntaxTree& tree, int statement) {
  const std::string_view callee = LibraryCallee(tree, statement);
  if (callee == "__syncthreads" || callee == "__syncwarp") return true;
  if (!IsAssignment(tree, statement) && !IsCount(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).opaque || tree.node(node).kind_name == "LambdaExpr") return false;
    if (tree.node(node).kind_name == "CallExpr" && !IsPure(tree, node)) return false;
  }
  return true;
}

// Whether everything that a statement names is declared before a place, in a block around it.
bool IsKnown(const SyntaxTree& tree, int statement, int place) {
  const auto named = NamedIn(tree, statement);
  return std::all_of(named.begin(), named.end(), [&](int declaration) {
    const SyntaxNode& node = tree.node(declaration);
    if (node.kind_name != "VarDecl" || node.function < 0) return true;
    const int scope = tree.node(node.parent).parent;  // the block, or the loop that declares it in its header
    return node.range.end <= tree.node(place).range.begin && IsWithin(tree, place, scope);
  });
}

class StatementCopy : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_copy"; }
  bool mostly_wrong() const override { return true; }
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override {
    return "repeats a statement a few statements away, or at the beginning of a block there; usually wrong";
  }
  double weight() const override { return 0.1; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      std::vector<int> statements;
      for (const int child : tree.node(block).children) {
        if (tree.node(child).kind_name != kPragmaKind) statements.push_back(child);
      }
      for (std::size_t i = 0; i < statements.size(); ++i) {
        const std::string text(tree.Text(statements[i]));
        if (!IsCopied(tree, statements[i]) || !text.ends_with(";")) continue;
        const bool barrier = tree.node(statements[i]).kind_name == "CallExpr";
        const std::size_t first = i < kReach ? 0 : i - kReach;
        for (std::size_t to = first; to < std::min(statements.size(), i + kReach); ++to) {
          if (to == i || to == i + 1) continue;
          Put(tree, statements[i], statements[to], text, proposals);
          // A barrier must stay where all threads reach it.
          const int inner = barrier ? -1 : FirstWithin(tree, statements[to]);
          if (inner >= 0) Put(tree, statements[i], inner, text, proposals);
        }
      }
    }
    return proposals;
  }

 private:
  static void Put(const SyntaxTree& tree, int statement, int place, const std::string& text, std::vector<Proposal>& proposals) {
    if (!IsKnown(tree, statement, place)) return;
    proposals.push_back({{{FirstNode(tree, place), Placement::kBefore, LineBefore(tree, place, text)}}, {}, {}});
  }

  // The first statement in the block of a loop or a condition; -1 if there is none.
  static int FirstWithin(const SyntaxTree& tree, int statement) {
    const SyntaxNode& node = tree.node(statement);
    if ((node.kind_name != "ForStmt" && node.kind_name != "IfStmt") || node.children.size() < 2) return -1;
    const int body = node.kind_name == "ForStmt" ? node.children.back() : node.children[1];
    if (tree.node(body).kind_name != "CompoundStmt") return -1;
    for (const int child : tree.node(body).children) {
      if (tree.node(child).kind_name != kPragmaKind) return child;
    }
    return -1;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStatementCopy() { return std::make_unique<StatementCopy>(); }

}  // namespace evo
