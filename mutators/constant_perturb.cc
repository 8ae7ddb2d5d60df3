#include <charconv>
#include <set>

#include "mutators/number_place.h"
#include "mutators/source_mutators.h"
#include "mutators/source_query.h"

namespace evo {
namespace {

class ConstantPerturb : public SourceMutator {
 public:
  std::string_view name() const override { return "constant_perturb"; }
  bool mostly_wrong() const override { return true; }
  std::string_view description() const override {
    return "changes a decimal integer of a function's body by one or by a factor of two";
  }
  double weight() const override { return 0.2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int literal : NodesOfKind(tree, "IntegerLiteral")) {
      // Spelled in decimal, without a suffix: a macro's name is none, and masks are no quantities.
      const std::string_view text = tree.Text(literal);
      long long value = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || (text.size() > 1 && text.front() == '0')) continue;
      if (value > 1 << 20 || !MayBeAnyNumber(tree, literal)) continue;
      for (const long long other : std::set<long long>{value - 1, value + 1, value * 2, value / 2}) {
        if (other == value || other < 0) continue;
        proposals.push_back({{{literal, Placement::kReplace, std::to_string(other)}}, {}, {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeConstantPerturb() { return std::make_unique<ConstantPerturb>(); }

}  // namespace evo
