#include <fmt/format.h>

#include <array>

#include "mutators/source_mutators.h"
#include "mutators/source_query.h"

namespace evo {
namespace {

// None lets the compiler choose; 1 forbids; a bare pragma writes out a loop of known length whole.
constexpr std::array<std::string_view, 6> kPragmas{"#pragma unroll",   "#pragma unroll 1", "#pragma unroll 2",
                                                   "#pragma unroll 4", "#pragma unroll 8", "#pragma unroll 16"};

class UnrollPragma : public SourceMutator {
 public:
  std::string_view name() const override { return "unroll_pragma"; }
  std::string_view description() const override { return "puts, changes or removes the `#pragma unroll` of a loop"; }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int loop : NodesOfKind(tree, "ForStmt")) {
      const int pragma = PragmaOf(tree, loop);
      if (pragma >= 0) proposals.push_back({{{pragma, Placement::kReplace, ""}}, {}, {}});
      for (const std::string_view text : kPragmas) {
        if (pragma >= 0) {
          if (tree.Text(pragma) != text) proposals.push_back({{{pragma, Placement::kReplace, std::string(text)}}, {}, {}});
        } else {
          proposals.push_back({{{loop, Placement::kBefore, OnItsOwnLine(tree, loop, text)}}, {}, {}});
        }
      }
    }
    return proposals;
  }

 private:
  static std::string OnItsOwnLine(const SyntaxTree& tree, int loop, std::string_view pragma) {
    const std::string indent = IndentOf(tree, loop);
    const std::uint32_t begin = tree.node(loop).range.begin;
    const bool first = begin == indent.size() || tree.text()[begin - indent.size() - 1] == '\n';
    // Behind an `if (..)` the loop goes to a line of its own, too, as far in as the body that it is.
    if (!first) return fmt::format("\n{0}  {1}\n{0}  ", indent, pragma);
    return fmt::format("{1}\n{0}", indent, pragma);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeUnrollPragma() { return std::make_unique<UnrollPragma>(); }

}  // namespace evo
