#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Without a pragma the compiler chooses; 1 forbids unrolling; a bare pragma unrolls a loop of known length completely.
constexpr std::array<std::string_view, 6> kPragmas{"#pragma unroll",   "#pragma unroll 1", "#pragma unroll 2",
                                                   "#pragma unroll 4", "#pragma unroll 8", "#pragma unroll 16"};

// The number of iterations that a pragma unrolls, at most the loop's `count`. 0 without a pragma, where the compiler chooses.
// nullopt if the number is not known.
std::optional<std::int64_t> Factor(const SyntaxTree& tree, std::string_view pragma, std::optional<std::int64_t> count) {
  constexpr std::string_view kUnroll = "#pragma unroll";
  // The longest loop that the compiler unrolls completely by itself.
  constexpr std::int64_t kShort = 8;
  if (pragma.empty()) return count && *count <= kShort ? *count : 0;
  const std::string_view number = pragma.substr(std::min(pragma.size(), kUnroll.size()));
  if (number.find_first_not_of(" \t") == std::string_view::npos) return count;
  const auto value = ConstantValue(tree, number);
  return value && count ? std::min(*value, *count) : value;
}

class UnrollPragma : public SourceMutator {
 public:
  std::string_view name() const override { return "unroll_pragma"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "adds, changes or removes the `#pragma unroll` of a loop"; }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int loop : NodesOfKind(tree, "ForStmt")) {
      if (!tree.Text(loop).starts_with("for")) continue;  // of a macro, in front of which no pragma can stand
      const int pragma = PragmaOf(tree, loop);
      const auto counted = WithCountedHeader(tree, loop);
      const auto count = counted ? TripCount(tree, *counted) : std::nullopt;
      const auto present = Factor(tree, pragma >= 0 ? tree.Text(pragma) : std::string_view(), count);
      // Another pragma with the same effect would change nothing.
      const auto is_new = [&](std::string_view text) { return !present || Factor(tree, text, count) != present; };
      if (pragma >= 0 && is_new("")) proposals.push_back({{{pragma, Placement::kReplace, ""}}, {}, {}});
      for (const std::string_view text : kPragmas) {
        if (!is_new(text)) continue;
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
  bool rests_on_code() const override { return false; }
  static std::string OnItsOwnLine(const SyntaxTree& tree, int loop, std::string_view pragma) {
    const std::string indent = IndentOf(tree, loop);
    const std::uint32_t begin = tree.node(loop).range.begin;
    const bool first = begin == indent.size() || tree.text()[begin - indent.size() - 1] == '\n';
    // After an `if (..)` on the same line, the loop gets a line of its own, too, indented as the body of the `if`.
    if (!first) return fmt::format("\n{0}{2}{1}\n{0}{2}", indent, pragma, IndentUnit(tree));
    return fmt::format("{1}\n{0}", indent, pragma);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeUnrollPragma() { return std::make_unique<UnrollPragma>(); }

}  // namespace evo
