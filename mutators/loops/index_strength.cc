#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// An index that grows by the same amount in every iteration of a loop.
struct Affine {
  std::string slope;  // growth per unit of the counter: "1", or a loop-invariant expression
  std::string start;  // value at the start of the loop; empty for zero
};

class Reader {
 public:
  Reader(const SyntaxTree& tree, const CountedLoop& counted) : tree_(tree), counted_(counted) {}

  // nullopt if the index does not depend on the counter in this way.
  std::optional<Affine> Read(int index) const {
    const SyntaxNode& node = tree_.node(index);
    if (node.kind_name == "ParenExpr" && node.children.size() == 1) return Read(node.children[0]);
    if (NamedDeclaration(tree_, index) == counted_.counter) return Affine{"1", AtStart(index)};
    if (Wraps(WithoutConst(node.type))) return std::nullopt;
    if (node.kind_name == "CStyleCastExpr") {
      const auto inner = Read(node.children.back());
      if (!inner || inner->slope != "1") return std::nullopt;
      return Affine{"1", inner->start.empty() ? "" : fmt::format("({}){}", CastType(index), Parenthesised(inner->start))};
    }
    if (node.kind_name != "BinaryOperator" || node.children.size() != 2) return std::nullopt;
    const bool left = Follows(node.children[0]);
    if (left == Follows(node.children[1])) return std::nullopt;
    const auto moving = Read(node.children[left ? 0 : 1]);
    const int still = node.children[left ? 1 : 0];
    if (!moving || !IsInvariant(tree_, still, counted_.parts.statement)) return std::nullopt;
    return Combine(index, *moving, still, left);
  }

 private:
  // Whether arithmetic of a type begins again at zero before a pointer would: `p[i - 4u]` is the element before `p[3]` only after
  // the index has been cut to 32 bits. Signed arithmetic must not overflow.
  static bool Wraps(const std::string& type) {
    return type != "int" && type != "long" && type != "long long" && type != "unsigned long" && type != "unsigned long long";
  }

  bool Follows(int expression) const { return NamedIn(tree_, expression).contains(counted_.counter); }

  std::string AtStart(int) const {
    const std::string_view start = tree_.Text(counted_.start);
    return start == "0" ? "" : Parenthesised(tree_, counted_.start);
  }

  std::string CastType(int cast) const {
    const std::string_view text = tree_.Text(cast);
    return std::string(text.substr(1, text.find(')') - 1));
  }

  std::optional<Affine> Combine(int index, const Affine& moving, int still, bool left) const {
    const std::string_view spelled = tree_.Operator(index);
    const std::string text(tree_.Text(still));
    const std::string factor = Parenthesised(tree_, still);
    if (spelled == "+") {
      if (moving.start.empty()) return Affine{moving.slope, text};
      return left ? Affine{moving.slope, fmt::format("{} + {}", moving.start, text)}
                  : Affine{moving.slope, fmt::format("{} + {}", text, moving.start)};
    }
    if (spelled == "-" && left)
      return Affine{moving.slope,
                    moving.start.empty() ? fmt::format("-{}", factor) : fmt::format("{} - {}", moving.start, factor)};
    if (spelled != "*") return std::nullopt;
    const std::string slope = moving.slope == "1" ? factor : fmt::format("{} * {}", moving.slope, factor);
    return Affine{slope, moving.start.empty() ? "" : fmt::format("{} * {}", Parenthesised(moving.start), factor)};
  }

  const SyntaxTree& tree_;
  const CountedLoop& counted_;
};

// "const float*" of "const float *__restrict".
std::string PointerType(std::string type) {
  if (const auto at = type.find("__restrict"); at != std::string::npos) type.erase(at);
  while (type.ends_with(" ") || type.ends_with("const")) type.erase(type.size() - (type.ends_with(" ") ? 1 : 5));
  if (const auto at = type.find(" *"); at != std::string::npos) type.erase(at, 1);
  const bool plain = std::count(type.begin(), type.end(), '*') == 1 && type.ends_with("*") &&
                     type.find('(') == std::string::npos && type.find("type-parameter") == std::string::npos &&
                     type.find('<') == std::string::npos;
  return plain ? type : "";
}

class IndexStrength : public SourceMutator {
 public:
  std::string_view name() const override { return "index_strength"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "replaces an index that is computed in every iteration by a pointer that moves along with the loop";
  }

  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto counted = WithCountedHeader(tree, node);
      if (!counted || !IsInBlock(tree, node)) continue;
      std::set<std::string_view> seen;
      for (const int access : Subtree(tree, counted->parts.body)) {
        if (tree.node(access).kind_name != "ArraySubscriptExpr" || !seen.insert(tree.Text(access)).second) continue;
        if (auto proposal = Run(tree, *counted, access)) proposals.push_back(std::move(*proposal));
      }
    }
    return proposals;
  }

 private:
  static std::optional<Proposal> Run(const SyntaxTree& tree, const CountedLoop& counted, int access) {
    const int loop = counted.parts.statement;
    const int base = tree.node(access).children[0];
    const int index = tree.node(access).children[1];
    const std::string type = PointerType(tree.node(base).type);
    if (type.empty() || NamedDeclaration(tree, base) < 0 || !IsInvariant(tree, base, loop) || tree.node(access).opaque)
      return std::nullopt;
    const auto affine = Reader(tree, counted).Read(index);
    if (!affine) return std::nullopt;
    const std::string name = FreshName(tree, fmt::format("{}_at", tree.Text(base)));
    const std::string start = affine->start.empty() ? std::string(tree.Text(base))
                                                    : fmt::format("{} + {}", tree.Text(base), Parenthesised(affine->start));
    Proposal proposal;
    proposal.changes.push_back(
        {FirstNode(tree, loop), Placement::kBefore, LineBefore(tree, loop, fmt::format("{} {} = {};", type, name, start))});
    proposal.changes.push_back(
        {counted.parts.increment, Placement::kReplace,
         fmt::format("{}, {} += {}", tree.Text(counted.parts.increment), name, Stride(affine->slope, counted.step))});
    for (const int use : Subtree(tree, counted.parts.body)) {
      if (tree.node(use).kind_name != "ArraySubscriptExpr" || tree.Text(use) != tree.Text(access)) continue;
      const std::string& parent = tree.node(tree.node(use).parent).kind_name;
      const bool postfix = parent == "MemberRefExpr" || parent == "ArraySubscriptExpr" || parent == "UnaryOperator";
      proposal.changes.push_back({use, Placement::kReplace, fmt::format(fmt::runtime(postfix ? "(*{})" : "*{}"), name)});
    }
    return proposal;
  }

  static std::string Stride(const std::string& slope, const std::string& step) {
    if (slope == "1") return step;
    return step == "1" ? slope : fmt::format("{} * {}", slope, step);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeIndexStrength() { return std::make_unique<IndexStrength>(); }

}  // namespace evo
