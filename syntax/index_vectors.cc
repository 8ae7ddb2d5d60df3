#include "syntax/index_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"
#include "syntax/token.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

struct IndexVectorType {
  std::string_view name, part;
  std::size_t count;
};
constexpr std::array kIndexVectorTypes{IndexVectorType{"dim3", "unsigned int", 3}, IndexVectorType{"int2", "int", 2},
                                       IndexVectorType{"int3", "int", 3}, IndexVectorType{"uint2", "unsigned int", 2},
                                       IndexVectorType{"uint3", "unsigned int", 3}};
constexpr std::string_view kPartsOfVector = "xyz";

class IndexVectors {
 public:
  explicit IndexVectors(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      if (tree_.node(node).kind_name == "VarDecl" && tree_.node(node).function >= 0) Add(node);
    }
    return Spliced(tree_, std::move(splices_));
  }

 private:
  // What the parts begin with; empty if that is not known.
  std::vector<std::string> BeginsOf(int variable, const IndexVectorType& type) const {
    const auto& children = tree_.node(variable).children;
    if (children.empty()) return {};
    const SyntaxNode& value = tree_.node(children.back());
    std::size_t first = 0;
    if (value.kind_name == "CallExpr" && type.name == "dim3" && value.name == "dim3") {
      while (first < value.children.size() && tree_.node(value.children[first]).kind_name == "TypeRef") ++first;
    } else if (value.kind_name == "CallExpr" && value.name == fmt::format("make_{}", type.name)) {
      first = 1;
    } else if (value.kind_name != "InitListExpr") {
      return {};
    }
    std::vector<std::string> begins;
    for (std::size_t i = first; i < value.children.size(); ++i) {
      if (!OnlyComputes(tree_, value.children[i])) return {};
      begins.emplace_back(tree_.Text(value.children[i]));
    }
    const bool fills = type.name == "dim3" && !begins.empty();
    while (fills && begins.size() < type.count) begins.emplace_back("1");
    return begins.size() == type.count ? begins : std::vector<std::string>();
  }

  bool IsTaken(const std::string& name) const {
    const auto tokens = Tokenize(tree_.text());
    return std::any_of(tokens.begin(), tokens.end(), [&](const SourceRange& token) { return tree_.Text(token) == name; });
  }

  void Add(int variable) {
    const SyntaxNode& declared = tree_.node(variable);
    std::string_view bare = declared.type;
    const bool constant = bare.starts_with("const ");
    if (constant) bare.remove_prefix(6);
    const auto type =
        std::find_if(kIndexVectorTypes.begin(), kIndexVectorTypes.end(), [&](const auto& one) { return one.name == bare; });
    const SyntaxNode& statement = tree_.node(declared.parent);
    if (type == kIndexVectorTypes.end() || statement.kind_name != "DeclStmt" || statement.children.size() != 1 ||
        tree_.node(statement.parent).kind_name != "CompoundStmt" || tree_.Text(declared.parent).find("static") == 0 ||
        tree_.Text(declared.parent).find("__shared__") != std::string_view::npos)
      return;
    const auto begins = BeginsOf(variable, *type);
    if (begins.empty()) return;
    Splices changes;
    for (const int use : tree_.UsesOf(variable)) {
      const int member = tree_.node(use).parent;
      const std::string& part = tree_.node(member).name;
      const bool named = tree_.node(use).kind_name == "DeclRefExpr" && tree_.node(member).kind_name == "MemberRefExpr" &&
                         part.size() == 1 && kPartsOfVector.substr(0, type->count).find(part) != std::string_view::npos;
      // A reference or a pointer to a part stays one to a variable; that to all of it does not.
      if (!named || tree_.Text(member) != fmt::format("{}.{}", declared.name, part)) return;
      changes.emplace_back(tree_.node(member).range, fmt::format("{}_{}", declared.name, part));
    }
    std::string parts;
    for (std::size_t i = 0; i < type->count; ++i) {
      const std::string name = fmt::format("{}_{}", declared.name, kPartsOfVector[i]);
      if (IsTaken(name)) return;
      parts += fmt::format("{}{}{} {} = {};", parts.empty() ? "" : " ", constant ? "const " : "", type->part, name, begins[i]);
    }
    // What it begins with may name another one.
    for (const auto& [range, text] : splices_) {
      if (statement.range.Contains(range)) return;
    }
    for (const auto& [range, text] : changes) {
      for (const auto& [other, its] : splices_) {
        if (other.Contains(range)) return;
      }
    }
    splices_.emplace_back(statement.range, parts);
    splices_.insert(splices_.end(), changes.begin(), changes.end());
  }

  const SyntaxTree& tree_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithoutIndexVectors(const SyntaxTree& tree) { return IndexVectors(tree).Run(); }

}  // namespace evo
