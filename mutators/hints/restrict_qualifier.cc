#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

bool IsPlainPointer(const std::string& type) {
  return type.find('*') != std::string::npos && type.find('*') == type.rfind('*') && type.find('(') == std::string::npos;
}

// `float* __restrict__ x` for `float* x`, `float *__restrict__ x` for `float *x`.
std::string WithRestrict(const std::string& text, std::size_t star) {
  const auto is_space = [&](std::size_t at) { return std::isspace(static_cast<unsigned char>(text[at])) != 0; };
  const bool space_follows = star + 1 < text.size() && is_space(star + 1);
  const bool belongs_to_name = !space_follows && star > 0 && is_space(star - 1);
  return fmt::format("{}{}__restrict__{}{}", text.substr(0, star + 1), belongs_to_name ? "" : " ", space_follows ? "" : " ",
                     text.substr(star + 1));
}

// Whether a pointer is used only to read elements, so that it may become a pointer to const.
bool IsOnlyRead(const SyntaxTree& tree, int parameter) {
  for (const int at : Subtree(tree, tree.node(parameter).function)) {
    const SyntaxNode& use = tree.node(at);
    if (std::find(use.hidden.begin(), use.hidden.end(), parameter) != use.hidden.end()) return false;
    if (use.kind_name != "DeclRefExpr" || use.refers_to != parameter) continue;
    const SyntaxNode& element = tree.node(use.parent);
    if (element.kind_name != "ArraySubscriptExpr" || element.children.front() != at || !element.converted) return false;
  }
  return true;
}

class RestrictQualifier : public SourceMutator {
 public:
  std::string_view name() const override { return "restrict_qualifier"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "declares that a kernel's pointers do not alias (__restrict__), or that one is only read (const)";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      if (!IsKernel(tree, function)) continue;
      Proposal all;
      for (const int parameter : tree.node(function).children) {
        const SyntaxNode& node = tree.node(parameter);
        if (node.kind_name != "ParmDecl" || !IsPlainPointer(node.type)) continue;
        const std::string text(tree.Text(parameter));
        const std::size_t star = text.rfind('*');
        if (star == std::string::npos) continue;
        if (text.find("__restrict") == std::string::npos && !IsPassedTwice(tree, context.rendered, parameter)) {
          const Proposal::Change change{parameter, Placement::kReplace, WithRestrict(text, star)};
          all.changes.push_back(change);
        }
        if (node.type.find("const") == std::string::npos && IsOnlyRead(tree, parameter)) {
          proposals.push_back({{{parameter, Placement::kReplace, "const " + text}}, {}, {}});
        }
      }
      // All pointers at once: a single one rarely allows the compiler to move a load.
      if (!all.changes.empty()) proposals.push_back(std::move(all));
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeRestrictQualifier() { return std::make_unique<RestrictQualifier>(); }

}  // namespace evo
