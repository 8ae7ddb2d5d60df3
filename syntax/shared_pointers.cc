#include "syntax/shared_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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
      const bool in_steps = variable.type.find("volatile") != std::string::npos && !WaitsForWarps(variable.function);
      std::vector<int> uses = tree_.UsesOf(pointer);
      std::sort(uses.begin(), uses.end());
      for (auto use = uses.begin(); use != uses.end();) {
        const int update = in_steps ? UpdateAround(*use, uses) : -1;
        if (update < 0) {
          splices_.emplace_back(tree_.node(*use++).range, declared.name);
          continue;
        }
        splices_.emplace_back(tree_.node(update).range, InSteps(update, uses, declared.name, type));
        while (use != uses.end() && *use < tree_.EndOf(update)) ++use;
      }
      return;
    }
    const SyntaxNode& line = tree_.node(declared.parent);
    const bool alone = tree_.UsesOf(array).size() == 1 && line.kind_name == "DeclStmt" && line.children.size() == 1;
    if (!alone || !declared.type.ends_with("[]")) return;
    splices_.emplace_back(line.range, fmt::format("extern __shared__ {} {}[];", type, variable.name));
    splices_.emplace_back(statement, "");
  }

  bool WaitsForWarps(int function) const { return tree_.Text(function).find("__syncwarp") != std::string_view::npos; }

  bool HasUse(int node, const std::vector<int>& uses) const {
    return std::any_of(uses.begin(), uses.end(), [&](int use) { return use >= node && use < tree_.EndOf(node); });
  }

  // The statement `v[t] += v[t + 8];` or `v[t] = sum = sum + v[t + 8];` around a use of v; -1 if it is none.
  int UpdateAround(int use, const std::vector<int>& uses) const {
    int statement = use;
    const auto is_body = [&](int node) {
      const std::string& kind = tree_.node(node).kind_name;
      return kind == "CompoundStmt" || kind == "IfStmt" || node <= 0;
    };
    while (!is_body(tree_.node(statement).parent)) statement = tree_.node(statement).parent;
    if (tree_.node(tree_.node(statement).parent).children.size() > 2 &&
        tree_.node(tree_.node(statement).parent).kind_name == "IfStmt")
      return -1;
    const auto& sides = tree_.node(statement).children;
    const std::string_view spelled = tree_.Operator(statement);
    if (sides.size() != 2 || (spelled != "=" && spelled != "+=" && spelled != "*=")) return -1;
    return tree_.node(sides[0]).kind_name == "ArraySubscriptExpr" && HasUse(sides[0], uses) && HasUse(sides[1], uses) ? statement
                                                                                                                      : -1;
  }

  std::string WithArray(int node, const std::vector<int>& uses, const std::string& array) const {
    std::string text;
    std::uint32_t at = tree_.node(node).range.begin;
    for (const int use : uses) {
      const SourceRange& range = tree_.node(use).range;
      if (use < node || use >= tree_.EndOf(node)) continue;
      text += tree_.Text({at, range.begin});
      text += array;
      at = range.end;
    }
    text += tree_.Text({at, tree_.node(node).range.end});
    return text;
  }

  // The lanes of a warp access volatile memory together, one statement after the other: what they read they have read before one
  // of them stores.
  std::string InSteps(int update, const std::vector<int>& uses, const std::string& array, const std::string& type) const {
    const auto& sides = tree_.node(update).children;
    const std::string target = WithArray(sides[0], uses, array);
    std::string value = WithArray(sides[1], uses, array), before;
    std::string held = array + "_held";
    const std::string_view spelled = tree_.Operator(update);
    const auto& inner = tree_.node(sides[1]).children;
    if (tree_.Operator(sides[1]) == "=" && inner.size() == 2 && tree_.node(inner[0]).kind_name == "DeclRefExpr") {
      before = value + "; ";
      held = tree_.Text(inner[0]);
    } else {
      if (spelled != "=") value = fmt::format("{} {} ({})", target, spelled.substr(0, 1), value);
      before = fmt::format("{} {} = {}; ", type, held, value);
    }
    return fmt::format("{{ {}__syncwarp(); {} = {}; __syncwarp(); }}", before, target, held);
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
