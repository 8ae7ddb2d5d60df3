#include "syntax/wide_variables.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "syntax/splices.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kShortTypes{"unsigned char"sv, "signed char"sv, "char"sv, "short"sv, "unsigned short"sv};

class VariableWidener {
 public:
  explicit VariableWidener(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      if (tree_.node(node).kind_name == "VarDecl" && tree_.node(node).function >= 0) Widen(node);
    }
    return Spliced(tree_, std::move(splices_));
  }

 private:
  int Bare(int node) const {
    while (tree_.node(node).kind_name == "ParenExpr" && tree_.node(node).children.size() == 1)
      node = tree_.node(node).children[0];
    return node;
  }

  // The number that is assigned, without casts to the variable's type; -1 if it is not one of 32 bits.
  int Assigned(int value, const std::string& type) const {
    value = Bare(value);
    while (tree_.node(value).kind_name.find("Cast") != std::string::npos && tree_.node(value).type == type)
      value = Bare(tree_.node(value).children.back());
    const std::string& of_value = tree_.node(value).type;
    const bool name = tree_.node(value).kind_name == "DeclRefExpr";
    return name && (of_value == "int" || of_value == "const int" || of_value == "unsigned int") ? value : -1;
  }

  void Widen(int variable) {
    const SyntaxNode& declared = tree_.node(variable);
    const SyntaxNode& statement = tree_.node(declared.parent);
    const bool shorter = std::find(kShortTypes.begin(), kShortTypes.end(), declared.type) != kShortTypes.end();
    if (!shorter || statement.kind_name != "DeclStmt" || statement.children.size() != 1 || declared.children.empty()) return;
    const int initial = Bare(declared.children.back());
    const std::string_view text = tree_.Text(initial);
    if (text.size() > 2 || text.find_first_not_of("0123456789") != std::string_view::npos) return;
    Splices splices;
    bool assigned = false;
    for (const int use : tree_.UsesOf(variable)) {
      const int outer = tree_.node(use).parent;
      const auto& sides = tree_.node(outer).children;
      const bool assigns = tree_.node(use).kind_name == "DeclRefExpr" && tree_.Operator(outer) == "=" &&
                           tree_.node(outer).kind_name == "BinaryOperator" && sides.size() == 2;
      if (!assigns) return;
      if (sides[0] != use) {
        if (tree_.node(sides[0]).type != declared.type || tree_.node(sides[0]).kind_name != "ArraySubscriptExpr") return;
        continue;
      }
      const int value = Assigned(sides[1], declared.type);
      if (value < 0) return;
      assigned = true;
      splices.emplace_back(tree_.node(sides[1]).range, std::string(tree_.Text(value)));
    }
    if (!assigned) return;
    const std::string_view line = tree_.Text(declared.parent);
    const auto words = Tokenize(line);
    const auto name = std::find_if(words.begin(), words.end(), [&](const SourceRange& word) {
      return line.substr(word.begin, word.size()) == declared.name;
    });
    if (name == words.end()) return;
    const std::uint32_t begin = statement.range.begin;
    splices.emplace_back(SourceRange{begin, begin + name->begin}, "int ");
    splices_.insert(splices_.end(), splices.begin(), splices.end());
  }

  const SyntaxTree& tree_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithWideVariables(const SyntaxTree& tree) { return VariableWidener(tree).Run(); }

}  // namespace evo
