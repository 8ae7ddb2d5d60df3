#include "syntax/shared_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

std::string Pointed(std::string type) {
  type.erase(std::min(type.find_first_of("*["), type.size()));
  for (const std::string_view word : {"const ", "volatile "}) {
    if (const std::size_t at = type.find(word); at != std::string::npos) type.erase(at, word.size());
  }
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

class PointerRemover {
 public:
  explicit PointerRemover(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()) && splices_.empty(); ++node) {
      const SyntaxNode& variable = tree_.node(node);
      if (variable.kind_name != "VarDecl" || variable.function < 0 || variable.children.empty()) continue;
      const SyntaxNode& statement = tree_.node(variable.parent);
      const bool one =
          std::count(variable.type.begin(), variable.type.end(), '*') == 1 && variable.type.find('(') == std::string::npos;
      if (!one || statement.kind_name != "DeclStmt" || statement.children.size() != 1 || !IsConstant(node)) continue;
      Remove(node, variable.children.back());
    }
    return Spliced(tree_, std::move(splices_));
  }

 private:
  // Whether it is only read, as a pointer that does not move.
  bool IsConstant(int variable) const {
    for (const int use : tree_.UsesOf(variable)) {
      const SyntaxNode& name = tree_.node(use);
      const SyntaxNode& outer = tree_.node(name.parent);
      const std::string_view spelled = tree_.Operator(name.parent);
      const bool compares = spelled == "==" || spelled == "<=" || spelled == ">=" || spelled == "!=";
      const bool assigns = spelled.ends_with('=') && !compares && outer.children.front() == use;
      if (name.kind_name != "DeclRefExpr" || assigns || spelled == "&" || spelled == "++" || spelled == "--") return false;
      // Perhaps by reference.
      if (outer.kind_name == "CallExpr" && !name.converted) return false;
    }
    return true;
  }

  bool IsShared(int variable) const {
    const auto& children = tree_.node(variable).children;
    return std::any_of(children.begin(), children.end(), [&](int c) { return tree_.node(c).kind_name == "attribute(shared)"; });
  }

  void Remove(int pointer, int initial) {
    const SyntaxNode& variable = tree_.node(pointer);
    const SourceRange& statement = tree_.node(variable.parent).range;
    const std::string type = Pointed(variable.type);
    if (IsOfStruct(initial)) {
      splices_.emplace_back(statement, fmt::format("extern __shared__ {} {}[];", type, variable.name));
      return;
    }
    int array = initial;
    while (tree_.node(array).kind_name.find("Cast") != std::string::npos || tree_.node(array).kind_name == "ParenExpr")
      array = tree_.node(array).children.back();
    array = tree_.node(array).kind_name == "DeclRefExpr" ? tree_.node(array).refers_to : -1;
    if (array < 0 || tree_.node(array).kind_name != "VarDecl" || !tree_.node(array).type.ends_with(']') || !IsShared(array))
      return;
    const SyntaxNode& declared = tree_.node(array);
    if (std::count(declared.type.begin(), declared.type.end(), '[') != 1) return;
    if (Pointed(declared.type) == type) {
      splices_.emplace_back(statement, "");
      for (const int use : tree_.UsesOf(pointer)) splices_.emplace_back(tree_.node(use).range, declared.name);
      return;
    }
    const SyntaxNode& line = tree_.node(declared.parent);
    const bool alone = tree_.UsesOf(array).size() == 1 && line.kind_name == "DeclStmt" && line.children.size() == 1;
    if (!alone || !declared.type.ends_with("[]")) return;
    splices_.emplace_back(line.range, fmt::format("extern __shared__ {} {}[];", type, variable.name));
    splices_.emplace_back(statement, "");
  }

  // Whether an initialiser is an object of a struct whose methods all give its array in shared memory.
  bool IsOfStruct(int initial) const {
    for (int at = initial; at < tree_.EndOf(initial); ++at) {
      const SyntaxNode& name = tree_.node(at);
      if ((name.kind_name != "TemplateRef" && name.kind_name != "TypeRef") || name.refers_to < 0) continue;
      const SyntaxNode& one = tree_.node(name.refers_to);
      bool gives = false;
      for (const int child : one.children) {
        const std::string& kind = tree_.node(child).kind_name;
        if (kind == "TemplateTypeParameter") continue;
        const std::string_view text = tree_.Text(child);
        if (kind != "CXXConversion" || text.find("extern __shared__") == std::string_view::npos) return false;
        const auto tokens = tree_.Tokens(tree_.node(child).range);
        gives = std::count(tokens.begin(), tokens.end(), ";") == 2 && std::count(tokens.begin(), tokens.end(), "return") == 1 &&
                std::count(tokens.begin(), tokens.end(), "+") == 0;
        if (!gives) return false;
      }
      return gives && tree_.node(initial).kind_name != "DeclRefExpr";
    }
    return false;
  }

  const SyntaxTree& tree_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithoutSharedPointers(const SyntaxTree& tree) {
  return tree.text().find("__shared__") == std::string::npos ? std::nullopt : PointerRemover(tree).Run();
}

}  // namespace evo
