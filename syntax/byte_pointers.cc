#include "syntax/byte_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "syntax/splices.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kElements{std::pair{"float"sv, 4},        std::pair{"double"sv, 8},
                               std::pair{"int"sv, 4},          std::pair{"unsigned int"sv, 4},
                               std::pair{"short"sv, 2},        std::pair{"unsigned short"sv, 2},
                               std::pair{"long long"sv, 8},    std::pair{"unsigned long long"sv, 8},
                               std::pair{"unsigned char"sv, 1}};

// The type that a pointer of the type points to; empty for other types.
std::string_view PointeeOf(std::string_view type) {
  const std::size_t star = type.find(" *");
  return star == std::string_view::npos || type.find('*', star + 2) != std::string_view::npos ? ""sv : type.substr(0, star);
}

std::string_view WithoutConst(std::string_view type) { return type.starts_with("const ") ? type.substr(6) : type; }

class BytePointers {
 public:
  explicit BytePointers(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      if (!IsCast(node) || tree_.node(node).function < 0) continue;
      if (!splices_.empty() && splices_.back().first.end > tree_.node(node).range.begin) continue;  // within another
      if (auto text = Written(node)) splices_.emplace_back(tree_.node(node).range, std::move(*text));
    }
    return Spliced(tree_, std::move(splices_));
  }

 private:
  bool IsCast(int node) const {
    const std::string& kind = tree_.node(node).kind_name;
    return kind == "CStyleCastExpr" || kind == "CXXReinterpretCastExpr";
  }

  int Bare(int node) const {
    while ((tree_.node(node).kind_name == "ParenExpr" || tree_.node(node).kind_name == "UnexposedExpr") &&
           tree_.node(node).children.size() == 1)
      node = tree_.node(node).children[0];
    return node;
  }

  std::optional<std::string> Written(int cast) const {
    const std::string_view to = PointeeOf(tree_.node(cast).type);
    const auto element =
        std::find_if(kElements.begin(), kElements.end(), [&](const auto& one) { return one.first == WithoutConst(to); });
    if (element == kElements.end() || tree_.node(cast).children.empty()) return std::nullopt;
    const int sum = Bare(tree_.node(cast).children.back());
    if (tree_.node(sum).kind_name != "BinaryOperator" || tree_.Operator(sum) != "+") return std::nullopt;
    const int bytes = Bare(tree_.node(sum).children[0]);
    const std::string_view of_bytes = WithoutConst(PointeeOf(tree_.node(bytes).type));
    if (!IsCast(bytes) || (of_bytes != "char" && of_bytes != "unsigned char")) return std::nullopt;
    const int pointer = Bare(tree_.node(bytes).children.back());
    const std::string_view from = PointeeOf(tree_.node(pointer).type);
    const bool same = from == to || (to.starts_with("const ") && from == WithoutConst(to));
    if (tree_.node(pointer).kind_name != "DeclRefExpr" || !same) return std::nullopt;
    const std::string_view distance = tree_.Text(tree_.node(sum).children[1]);
    if (element->second == 1) return fmt::format("({} + ({}))", tree_.Text(pointer), distance);
    return fmt::format("({} + ({}) / {})", tree_.Text(pointer), distance, element->second);
  }

  const SyntaxTree& tree_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithoutBytePointers(const SyntaxTree& tree) { return BytePointers(tree).Run(); }

}  // namespace evo
