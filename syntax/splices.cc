#include "syntax/splices.h"

#include <algorithm>
#include <string_view>

namespace evo {

std::optional<std::string> Spliced(const SyntaxTree& tree, Splices splices) {
  if (splices.empty()) return std::nullopt;
  std::stable_sort(splices.begin(), splices.end(), [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  std::string text = tree.text();
  for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
    text.replace(splice->first.begin, splice->first.size(), splice->second);
  return text;
}

bool OnlyComputes(const SyntaxTree& tree, int expression) {
  for (int at = expression; at < tree.EndOf(expression); ++at) {
    const SyntaxNode& one = tree.node(at);
    const std::string_view spelled = tree.Operator(at), name = one.name;
    const bool compares = spelled == "==" || spelled == "<=" || spelled == ">=" || spelled == "!=";
    const bool changes = spelled == "++" || spelled == "--" || (spelled.ends_with('=') && !compares);
    const bool waits = one.kind_name == "CallExpr" && (name.starts_with("atomic") || name.starts_with("__s"));
    if (one.opaque || one.kind_name == "LambdaExpr" || changes || waits) return false;
  }
  return true;
}

}  // namespace evo
