#include "mutators/analysis/plain_source/lost_arguments.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

std::vector<int> TemplateParametersOf(const SyntaxTree& tree, int function) {
  std::vector<int> parameters;
  for (const int child : tree.node(function).children) {
    if (tree.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  return parameters;
}

// A type without what deduction leaves out: `const` and references; an array is the pointer to its first element.
std::string Deduced(std::string type) {
  for (const char* const word : {"const ", " const", "__restrict__", "&"}) {
    for (std::size_t at = type.find(word); at != std::string::npos; at = type.find(word))
      type.erase(at, std::string(word).size());
  }
  if (const std::size_t array = type.find('['); array != std::string::npos) type = type.substr(0, array) + "*";
  std::erase(type, ' ');
  return type;
}

}  // namespace

bool LostArguments::LosesArguments(int function, int counterpart) const {
  if (counterpart < 0 || plain_.node(function).kind_name != "FunctionDecl" ||
      source_.node(counterpart).kind_name != "FunctionTemplate" || IsKernel(plain_, function))
    return false;
  const auto of_source = TemplateParametersOf(source_, counterpart), parameters = TemplateParametersOf(plain_, function);
  const auto names = [&](std::string_view name) {
    return std::any_of(of_source.begin(), of_source.end(),
                       [&](int parameter) { return ContainsName(source_.Text(parameter), name); });
  };
  for (const int child : source_.node(counterpart).children) {
    const SyntaxNode& node = source_.node(child);
    const bool is_one = node.kind_name.starts_with("Template") || node.kind_name.starts_with("NonTypeTemplate");
    if (is_one && !names(node.name)) return true;
  }
  for (const int call : NodesOfKind(plain_, "CallExpr")) {
    const auto& parts = plain_.node(call).children;
    if (parts.empty() || plain_.node(call).name != plain_.node(function).name) continue;
    for (std::size_t i = 0; i < parameters.size() && i + 1 < parts.size(); ++i) {
      if (Deduced(plain_.node(parts[i + 1]).type) != Deduced(plain_.node(parameters[i]).type)) return true;
    }
  }
  return false;
}

}  // namespace evo
