#include <charconv>
#include <set>

#include "mutators/analysis/source/number_place.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Whether a `for` might never end if a literal in its header were replaced by `other`: because its step would do nothing, or its
// condition would wait for a value that the steps may skip. A hang costs as much as dozens of evaluations.
bool KeepsALoopFromEnding(const SyntaxTree& tree, int literal, long long other) {
  bool scales = true;  // whether the step is a multiple of the literal, as far as seen
  for (int at = literal, parent = tree.node(at).parent; parent >= 0; at = parent, parent = tree.node(at).parent) {
    const std::string_view spelled = tree.Operator(parent);
    const SyntaxNode& around = tree.node(parent);
    if (around.kind_name == "ForStmt") {
      const auto loop = AsForLoop(tree, parent);
      const std::string_view whole = tree.Operator(at);
      if (!loop) return false;
      if (at == loop->condition) return whole == "!=" || (whole == ">=" && other == 0);
      if (at != loop->increment || !scales) return false;
      return whole == "*=" || whole == "/=" ? other <= 1 : other == 0;
    }
    if (around.kind_name.ends_with("Stmt")) return false;
    scales = scales && (spelled == "*" || around.kind_name == "ParenExpr" || around.kind_name == "CompoundAssignOperator");
  }
  return false;
}

class ConstantPerturb : public SourceMutator {
 public:
  std::string_view name() const override { return "constant_perturb"; }
  bool mostly_wrong() const override { return true; }
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override {
    return "changes a decimal integer in a function by one or by a factor of two; usually wrong";
  }
  double weight() const override { return 0.2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int literal : NodesOfKind(tree, "IntegerLiteral")) {
      // Only decimal numbers without a suffix: the text may also be a macro's name, and hexadecimal numbers are masks.
      const std::string_view text = tree.Text(literal);
      long long value = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || (text.size() > 1 && text.front() == '0')) continue;
      if (value > 1 << 20 || !MayBeAnyNumber(tree, literal)) continue;
      for (const long long other : std::set<long long>{value - 1, value + 1, value * 2, value / 2}) {
        if (other == value || other < 0 || KeepsALoopFromEnding(tree, literal, other)) continue;
        proposals.push_back({{{literal, Placement::kReplace, std::to_string(other)}}, {}, {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeConstantPerturb() { return std::make_unique<ConstantPerturb>(); }

}  // namespace evo
