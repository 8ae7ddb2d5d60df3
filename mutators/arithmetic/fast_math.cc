#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;
// Accurate and fast functions with the same arguments. They are exchanged in both directions, so that an earlier edit can be
// undone.
constexpr std::array<Replacement, 8> kTwins{Replacement{"expf", "__expf"},     Replacement{"logf", "__logf"},
                                            Replacement{"log2f", "__log2f"},   Replacement{"log10f", "__log10f"},
                                            Replacement{"exp10f", "__exp10f"}, Replacement{"sinf", "__sinf"},
                                            Replacement{"cosf", "__cosf"},     Replacement{"powf", "__powf"}};

std::string_view TwinOf(std::string_view name) {
  for (const auto& [accurate, fast] : kTwins) {
    if (name == accurate) return fast;
    if (name == fast) return accurate;
  }
  return {};
}

// 1, 1.0, 1.f, 1.0f
bool IsOne(std::string_view text) { return text == "1" || text == "1." || text == "1.0" || text == "1.f" || text == "1.0f"; }

// Whether a number is one that is spelled without a sign, or a value of a function that has no negative ones.
bool IsNeverNegative(const SyntaxTree& tree, int expression) {
  constexpr std::array<std::string_view, 6> kNeverNegative{"expf", "__expf", "exp2f", "fabsf", "fabs", "sqrtf"};
  const int node = WithoutParentheses(tree, expression);
  const std::string_view callee = LibraryCallee(tree, node);
  return tree.node(node).kind_name == "FloatingLiteral" ||
         std::find(kNeverNegative.begin(), kNeverNegative.end(), callee) != kNeverNegative.end();
}

class FastMath : public SourceMutator {
 public:
  std::string_view name() const override { return "fast_math"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "replaces a function or a division by CUDA's fast variant, or the reverse";
  }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    std::map<std::pair<int, std::string_view>, Proposal> together;  // all calls of one function within a function
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (tree.node(node).function < 0) continue;
      AddCall(tree, node, proposals, together);
      AddDivision(tree, node, proposals);
      AddWayBack(tree, node, proposals);
    }
    for (auto& [key, proposal] : together) {
      if (proposal.changes.size() > 1) proposals.push_back(std::move(proposal));
    }
    return proposals;
  }

 private:
  static void AddCall(const SyntaxTree& tree, int node, std::vector<Proposal>& proposals,
                      std::map<std::pair<int, std::string_view>, Proposal>& together) {
    const std::string_view twin = TwinOf(LibraryCallee(tree, node));
    if (twin.empty()) return;
    const int callee = tree.node(node).children.front();
    // Only where the name is spelled out, not in a macro.
    if (tree.Text(callee) != tree.node(callee).name) return;
    // __powf takes the base's logarithm, so that the square of a negative number is none.
    if (twin == "__powf" && !IsNeverNegative(tree, tree.node(node).children[1])) return;
    const Proposal::Change change{callee, Placement::kReplace, std::string(twin)};
    proposals.push_back({{change}, {}, {}});
    together[{tree.node(node).function, tree.node(callee).name}].changes.push_back(change);
  }

  static void AddDivision(const SyntaxTree& tree, int node, std::vector<Proposal>& proposals) {
    const SyntaxNode& division = tree.node(node);
    const std::string_view spelled = tree.Operator(node);
    if (division.type != "float" || (spelled != "/" && spelled != "/=")) return;
    const int left = division.children[0];
    const int right = division.children[1];
    // __fdividef takes floats: a double would be rounded before the division.
    if (WithoutConst(tree.node(left).type) == "double" || WithoutConst(tree.node(right).type) == "double") return;
    const std::string a(tree.Text(left));
    const std::string b(tree.Text(right));
    if (spelled == "/=") {
      if (!IsPure(tree, left)) return;
      const bool statement = tree.Text(node).ends_with(";");
      proposals.push_back(
          {{{node, Placement::kReplace, fmt::format("{} = __fdividef({}, {}){}", a, a, b, statement ? ";" : "")}}, {}, {}});
      return;
    }
    if (IsOne(a)) proposals.push_back({{{node, Placement::kReplace, fmt::format("__frcp_rn({})", b)}}, {}, {}});
    const SyntaxNode& divisor = tree.node(right);
    if (IsOne(a) && LibraryCallee(tree, right) == "sqrtf" && divisor.children.size() == 2) {
      proposals.push_back({{{node, Placement::kReplace, fmt::format("rsqrtf({})", tree.Text(divisor.children[1]))}}, {}, {}});
    }
    proposals.push_back({{{node, Placement::kReplace, fmt::format("__fdividef({}, {})", a, b)}}, {}, {}});
  }

  // `__fdividef(a, b)` to `a / b`, `__frcp_rn(x)` to `1.0f / x`, `rsqrtf(x)` to `1.0f / sqrtf(x)`.
  static void AddWayBack(const SyntaxTree& tree, int node, std::vector<Proposal>& proposals) {
    const std::string_view callee = LibraryCallee(tree, node);
    const auto& parts = tree.node(node).children;
    if (parts.empty() || tree.Text(parts.front()) != callee) return;
    std::string division;
    if (callee == "__fdividef" && parts.size() == 3) {
      division = fmt::format("{} / {}", AsFloat(tree, parts[1]), Parenthesised(tree, parts[2]));
    } else if (callee == "__frcp_rn" && parts.size() == 2) {
      division = fmt::format("1.0f / {}", Parenthesised(tree, parts[1]));
    } else if (callee == "rsqrtf" && parts.size() == 2) {
      division = fmt::format("1.0f / sqrtf({})", tree.Text(parts[1]));
    } else {
      return;
    }
    if (tree.Text(node).ends_with(";")) return;  // the value is not used
    const bool alone = StandsAlone(tree, node);
    proposals.push_back({{{node, Placement::kReplace, alone ? division : fmt::format("({})", division)}}, {}, {}});
  }

  // Whether no operator is applied to a node, so that its replacement needs no parentheses.
  static bool StandsAlone(const SyntaxTree& tree, int node) {
    const SyntaxNode& parent = tree.node(tree.node(node).parent);
    const std::string& kind = parent.kind_name;
    if (kind == "VarDecl" || kind == "ReturnStmt" || kind == "ParenExpr" || kind == "CallExpr") return true;
    return IsAssignment(tree, tree.node(node).parent) && parent.children.back() == node;
  }

  // An argument was converted to float implicitly. In a division, one operand must be a float already.
  static std::string AsFloat(const SyntaxTree& tree, int expression) {
    if (WithoutConst(tree.node(expression).type) == "float") return Parenthesised(tree, expression);
    return fmt::format("static_cast<float>({})", tree.Text(expression));
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeFastMath() { return std::make_unique<FastMath>(); }

}  // namespace evo
