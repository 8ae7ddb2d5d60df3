#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/products/product_forms.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Words of four bytes, which `__dp4a` multiplies, become vectors of bytes.
class WordsAsBytes {
 public:
  WordsAsBytes(const SyntaxTree& tree, int kernel) : tree_(tree), kernel_(kernel) {}

  std::optional<std::string> Run() {
    if (!FindVector()) return std::nullopt;
    for (const int call : Subtree(tree_, kernel_)) {
      if (tree_.node(call).kind_name == "CallExpr" && IsWord(call) && !ReplaceCall(call)) return std::nullopt;
    }
    if (replacements_.empty() || !AreOnlyFactors()) return std::nullopt;
    std::sort(replacements_.begin(), replacements_.end());
    replacements_.erase(std::unique(replacements_.begin(), replacements_.end()), replacements_.end());
    return TextWith(tree_, 0, replacements_);
  }

 private:
  bool IsWord(int call) const { return LibraryCallee(tree_, call) == "__dp4a" && tree_.node(call).children.size() == 4; }

  // `char4` or `uchar4`, by the bytes of the kernel's buffers, which must be of one type.
  bool FindVector() {
    for (const int child : tree_.node(kernel_).children) {
      if (tree_.node(child).kind_name != "ParmDecl") continue;
      const std::string type = PointedTo(tree_, child);
      if (!IsByte(type)) continue;
      const std::string vector = type == "unsigned char" ? "uchar4" : "char4";
      if (!vector_.empty() && vector_ != vector) return false;
      vector_ = vector;
    }
    return !vector_.empty();
  }

  // `sum = __dp4a(a, b, sum)` with its product written out.
  bool ReplaceCall(int call) {
    const auto& parts = tree_.node(call).children;
    const int update = tree_.node(call).parent;
    const auto& sides = tree_.node(update).children;
    const int sum = NamedDeclaration(tree_, parts[3]);
    if (!IsAssignment(tree_, update) || tree_.Operator(update) != "=" || sides.size() != 2 || sum < 0 ||
        NamedDeclaration(tree_, sides[0]) != sum || WithoutConst(tree_.node(sum).type) != "int")
      return false;
    const std::string a = Factor(parts[1]), b = Factor(parts[2]);
    if (a.empty() || b.empty()) return false;
    // Each product by itself, as the steps of a sum.
    std::string products;
    for (const char part : {'x', 'y', 'z', 'w'})
      products += fmt::format(" {} += {}.{} * {}.{};", tree_.node(sum).name, a, part, b, part);
    replacements_.emplace_back(update, fmt::format("{{{} }}", products));
    return true;
  }

  // A word as a vector; empty if it is not known where its bytes are.
  std::string Factor(int word) {
    word = WithoutParentheses(tree_, word);
    const SyntaxNode& node = tree_.node(word);
    if (const int variable = NamedDeclaration(tree_, word); variable >= 0) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty() || tree_.node(declared.parent).children.size() != 1 ||
          WrittenIn(tree_, kernel_).contains(variable))
        return "";
      const std::string loaded = Factor(declared.children.back());
      if (loaded.empty() || NamedDeclaration(tree_, declared.children.back()) >= 0) return "";
      Declare(variable, vector_, loaded);
      return declared.name;
    }
    if (node.kind_name == "ArraySubscriptExpr" && node.children.size() == 2) {
      const std::string pointer = Pointer(node.children[0]);
      return pointer.empty() ? "" : fmt::format("{}[{}]", pointer, tree_.Text(node.children[1]));
    }
    if (tree_.Operator(word) == "*" && node.children.size() == 1) {
      const std::string pointer = Pointer(node.children[0]);
      return pointer.empty() ? "" : fmt::format("(*{})", pointer);
    }
    return IsImplicit(word) ? Factor(node.children.front()) : "";
  }

  bool IsImplicit(int node) const {
    const auto& children = tree_.node(node).children;
    return children.size() == 1 && tree_.Text(children.front()) == tree_.Text(node);
  }

  std::string Pointer(int pointer) {
    pointer = WithoutParentheses(tree_, pointer);
    if (IsImplicit(pointer)) return Pointer(tree_.node(pointer).children.front());
    const SyntaxNode& node = tree_.node(pointer);
    if (const int variable = NamedDeclaration(tree_, pointer); variable >= 0) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty() || tree_.node(declared.parent).children.size() != 1 ||
          WrittenIn(tree_, kernel_).contains(variable))
        return "";
      const std::string cast = Pointer(declared.children.back());
      if (cast.empty()) return "";
      Declare(variable, fmt::format("{}*", vector_), cast);
      return declared.name;
    }
    if (node.kind_name != "CXXReinterpretCastExpr" && node.kind_name != "CStyleCastExpr") return "";
    const std::string to = WithoutConst(node.type.substr(0, node.type.find(" *")));
    const int operand = WithoutParentheses(tree_, node.children.back());
    const std::string& from = tree_.node(operand).type;
    if ((to != "int" && to != "unsigned int") || from.find("char") == std::string::npos) return "";
    return fmt::format("reinterpret_cast<const {}*>({})", vector_, tree_.Text(operand));
  }

  void Declare(int variable, const std::string& type, const std::string& value) {
    changed_.insert(variable);
    replacements_.emplace_back(tree_.node(variable).parent,
                               fmt::format("const {} {} = {};", type, tree_.node(variable).name, value));
  }

  // Whether the variables that become vectors are used in what was replaced alone.
  bool AreOnlyFactors() const {
    for (const int node : Subtree(tree_, kernel_)) {
      if (tree_.node(node).kind_name != "DeclRefExpr" || !changed_.contains(tree_.node(node).refers_to)) continue;
      if (std::none_of(replacements_.begin(), replacements_.end(),
                       [&](const auto& replaced) { return IsWithin(tree_, node, replaced.first); }))
        return false;
    }
    return true;
  }

  const SyntaxTree& tree_;
  int kernel_;
  std::string vector_;
  std::set<int> changed_;
  Replacements replacements_;
};

}  // namespace

std::optional<std::string> WithWordsAsBytes(const MutationContext& context, int kernel) {
  return WordsAsBytes(context.tree, kernel).Run();
}

}  // namespace evo
