#include "mutators/analysis/plain_source/vector_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {

std::optional<std::string> WithoutVectorParameters(const SyntaxTree& tree, FieldDeclarations& declarations) {
  Replacements replacements;
  std::string names;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || tree.node(kernel).kind_name != "FunctionDecl") continue;
    for (const int parameter : tree.node(kernel).children) {
      const SyntaxNode& node = tree.node(parameter);
      const std::string_view vector = node.kind_name == "ParmDecl" ? PointedThreadType(node.type) : std::string_view();
      const ThreadVectorType type = ThreadVectorTypeOf(vector);
      const auto& uses = tree.UsesOf(parameter);
      const bool reads = std::all_of(uses.begin(), uses.end(), [&](int use) {
        return tree.node(use).kind_name == "DeclRefExpr" && tree.node(use).converted;
      });
      if (type.count == 0 || node.name.empty() || !reads) continue;
      const std::string name = UnusedName(tree.text(), node.name + "_numbers");
      const std::string constant = node.type.starts_with("const ") ? "const " : "";
      const std::string_view only = node.type.find("restrict") != std::string::npos ? " __restrict__" : "";
      const std::string pointer = fmt::format("{}{}*", constant, type.number);
      replacements.emplace_back(parameter, fmt::format("{}{} {}", pointer, only, name));
      for (const int use : uses)
        replacements.emplace_back(use, fmt::format("reinterpret_cast<{}{}*>({})", constant, vector, name));
      declarations[tree.node(kernel).name].emplace_back(
          name, fmt::format("{} const {} = reinterpret_cast<{}>({});", pointer, name, pointer, node.name));
      names += " " + node.name;
    }
  }
  if (replacements.empty()) return std::nullopt;
  // Who looks for a new name finds those of the source.
  return TextWith(tree, 0, replacements) + "// Parameters whose numbers are elements:" + names + "\n";
}

}  // namespace evo
