#include "syntax/called_body.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace evo {

int NamedAlone(const SyntaxTree& tree, int expression) {
  while (tree.node(expression).kind_name == "ParenExpr" && tree.node(expression).children.size() == 1)
    expression = tree.node(expression).children[0];
  return tree.node(expression).kind_name == "DeclRefExpr" ? tree.node(expression).refers_to : -1;
}

bool ChangesFirst(std::string_view spelled) {
  return spelled == "++" || spelled == "--" ||
         (spelled.ends_with("=") && spelled != "==" && spelled != "<=" && spelled != ">=" && spelled != "!=");
}

bool HasConditions(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const std::size_t first = text.find_first_not_of(" \t\n", at);
    if (first == std::string_view::npos || text[first] != '#') continue;
    const std::size_t word = text.find_first_not_of(" \t", first + 1);
    if (word == std::string_view::npos || !text.substr(word).starts_with("pragma")) return true;
  }
  return false;
}

bool ChangesOnlyItsOwn(const SyntaxTree& tree, int body, const std::vector<int>& parameters) {
  for (int at = body; at < tree.EndOf(body); ++at) {
    const SyntaxNode& node = tree.node(at);
    const std::string_view name = node.name;
    if (node.opaque) return false;
    if (node.kind_name == "CallExpr") {
      const bool of_file = !node.children.empty() && NamedAlone(tree, node.children.front()) >= 0;
      if (of_file || name.starts_with("atomic") || ChangesFirst(name.substr(std::min<std::size_t>(8, name.size())))) return false;
    }
    const bool takes_address = node.children.size() == 1 && tree.Operator(at) == "&";
    if (!ChangesFirst(tree.Operator(at)) && !takes_address) continue;
    const int changed = node.children.empty() ? -1 : NamedAlone(tree, node.children.front());
    const bool own = (changed >= body && changed < tree.EndOf(body)) ||
                     std::find(parameters.begin(), parameters.end(), changed) != parameters.end();
    if (changed < 0 || !own || tree.node(changed).type.find('&') != std::string::npos) return false;
  }
  return true;
}

}  // namespace evo
