#include "mutators/analysis/plain_source/array_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The elements that uses of a parameter name, by their expressions; empty if one of them is something else.
std::vector<int> ElementsNamed(const SyntaxTree& tree, int parameter, std::size_t dimensions) {
  std::vector<int> elements;
  for (const int use : tree.UsesOf(parameter)) {
    int at = use;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const int outer = tree.node(at).parent;
      if (tree.node(outer).kind_name != "ArraySubscriptExpr" || tree.node(outer).children.front() != at) return {};
      at = outer;
    }
    elements.push_back(at);
  }
  return elements;
}

// Of `float (*a)[H][W]` and `float a[N][H][W]`, what stands in the brackets of H and W; empty for other parameters.
std::vector<std::string> ExtentsSpelled(std::string_view text, std::string_view name) {
  std::vector<std::string> extents;
  const std::size_t pointer = text.find("(*");
  std::size_t at = text.find(name, pointer == std::string_view::npos ? 0 : pointer);
  if (at == std::string_view::npos) return {};
  at = text.find('[', at);
  bool first = pointer == std::string_view::npos;
  while (at != std::string_view::npos) {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) return {};
    std::string extent(text.substr(at + 1, end - at - 1));
    if (extent.find('[') != std::string::npos) return {};
    if (!first) extents.push_back(std::move(extent));
    first = false;
    at = text.find('[', end);
  }
  return extents;
}

}  // namespace

std::optional<std::string> WithoutArrayParameters(const SyntaxTree& tree, FieldDeclarations& declarations) {
  Replacements replacements;
  std::string names;
  std::vector<std::pair<int, std::pair<std::string, std::vector<std::string>>>> elements;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || tree.node(kernel).kind_name != "FunctionDecl") continue;
    for (const int parameter : tree.node(kernel).children) {
      const SyntaxNode& node = tree.node(parameter);
      if (node.kind_name != "ParmDecl" || node.name.empty() || node.type.find('[') == std::string::npos) continue;
      const std::string_view text = tree.Text(parameter);
      const std::vector<std::string> extents = ExtentsSpelled(text, node.name);
      std::string type = node.type.substr(0, node.type.find_first_of("([*&"));
      while (type.ends_with(' ')) type.pop_back();
      const auto named = ElementsNamed(tree, parameter, extents.size() + 1);
      if (extents.empty() || named.empty() || !IsArithmetic(WithoutConst(type))) continue;
      const std::string name = UnusedName(tree.text(), node.name + "_elements");
      const std::string_view only = text.find("restrict") != std::string_view::npos ? " __restrict__" : "";
      replacements.emplace_back(parameter, fmt::format("{}*{} {}", type, only, name));
      for (const int element : named) elements.push_back({element, {name, extents}});
      declarations[tree.node(kernel).name].emplace_back(
          name, fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2});", type, name, node.name));
      names += " " + node.name;
    }
  }
  if (replacements.empty()) return std::nullopt;
  // An element may be in the index of another one, which comes before it.
  std::sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [element, of] : elements) {
    const auto& [name, extents] = of;
    std::vector<std::string> indices;
    for (int at = element; indices.size() <= extents.size(); at = tree.node(at).children[0])
      indices.push_back(TextWith(tree, tree.node(at).children[1], replacements));
    std::string index = fmt::format("({})", indices.back());
    for (std::size_t i = 0; i < extents.size(); ++i)
      index = fmt::format("{} * ({}) + ({})", i == 0 ? index : "(" + index + ")", extents[i], indices[extents.size() - 1 - i]);
    replacements.emplace_back(element, fmt::format("{}[{}]", name, index));
  }
  // Who looks for a new name finds those of the source.
  return TextWith(tree, 0, replacements) + "// Parameters whose elements are in rows:" + names + "\n";
}

}  // namespace evo
