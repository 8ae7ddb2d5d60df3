#include "syntax/plain_initialisers.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "syntax/splices.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kNumberTypes{
    "bool"sv,         "char"sv, "signed char"sv,   "unsigned char"sv, "short"sv, "unsigned short"sv, "int"sv,
    "unsigned int"sv, "long"sv, "unsigned long"sv, "long long"sv,     "float"sv, "double"sv,         "unsigned long long"sv};

}  // namespace

std::optional<std::string> WithPlainInitialisers(const SyntaxTree& tree) {
  Splices splices;
  for (int node = 1; node < static_cast<int>(tree.nodes().size()); ++node) {
    const SyntaxNode& variable = tree.node(node);
    if (variable.kind_name != "VarDecl" || variable.function < 0 || variable.children.empty()) continue;
    std::string_view type = variable.type;
    if (type.starts_with("const ")) type.remove_prefix(6);
    if (std::find(kNumberTypes.begin(), kNumberTypes.end(), type) == kNumberTypes.end()) continue;
    const int list = variable.children.back();
    const std::string_view text = tree.Text(list), declared = tree.Text(node);
    const auto& values = tree.node(list).children;
    if (tree.node(list).kind_name != "InitListExpr" || values.size() > 1 || !text.starts_with('{') || !text.ends_with('}') ||
        !declared.ends_with(text))
      continue;
    const std::string_view before = declared.substr(0, declared.size() - text.size());
    const std::size_t last = before.find_last_not_of(" \n\t");
    const bool assigned = last != std::string_view::npos && before[last] == '=';
    const std::string value = values.empty() ? "0" : std::string(tree.Text(values.front()));
    splices.emplace_back(tree.node(list).range, (assigned ? "" : before.ends_with(' ') ? "= " : " = ") + value);
  }
  return Spliced(tree, std::move(splices));
}

}  // namespace evo
