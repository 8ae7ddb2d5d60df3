#include "mutators/analysis/size_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"
#include "syntax/token.h"

namespace evo {
namespace {

// Whether a name occurs in `#if` or another line of the preprocessor.
bool IsInDirective(std::string_view text, const std::string& name) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    if (ContainsName(text.substr(at, text.find('\n', at) - at), name)) return true;
  }
  return false;
}

// Whether a name occurs where a constant has to be.
bool IsConstantIn(const SyntaxTree& tree, int body, const std::string& name) {
  if (IsInDirective(tree.Text(body), name)) return true;
  for (const int node : Subtree(tree, body)) {
    const SyntaxNode& at = tree.node(node);
    const bool constant = (at.kind_name == "VarDecl" && (at.type.ends_with("]") || tree.Text(node).starts_with("constexpr "))) ||
                          at.kind_name == "CaseStmt" || at.kind_name == kPragmaKind;
    if (constant && ContainsName(tree.Text(node), name)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> WithSizeParameters(const MutationContext& context, SizeNames& sizes) {
  const SyntaxTree& tree = context.tree;
  Replacements replacements;
  std::vector<std::pair<std::string, std::vector<std::string>>> launches;
  for (const int kernel : Functions(tree)) {
    const LaunchDirective* const launch = IsKernel(tree, kernel) ? OnlyLaunch(context.rendered, tree.node(kernel).name) : nullptr;
    const int last = launch == nullptr ? -1 : LastParameter(tree, kernel);
    if (last < 0 || tree.node(kernel).children.empty()) continue;
    const int body = tree.node(kernel).children.back();
    std::string text(tree.Text(body)), parameters(tree.Text(last));
    std::vector<std::string> arguments = launch->arguments;
    for (const SizeMacro& macro : context.rendered.size_macros) {
      if (tree.node(body).kind_name != "CompoundStmt" || !ContainsName(text, macro.name) || IsConstantIn(tree, body, macro.name))
        continue;
      const std::string name = UnusedName(tree.text(), "size_" + macro.name);
      text = WithOtherName(text, macro.name, name);
      parameters += ", int " + name;
      arguments.push_back(macro.value.text());
      sizes[tree.node(kernel).name].emplace_back(name, macro.name);
    }
    if (arguments.size() == launch->arguments.size()) continue;
    replacements.emplace_back(last, parameters);
    replacements.emplace_back(body, text);
    launches.emplace_back(launch->kernel, arguments);
  }
  if (launches.empty()) return std::nullopt;
  std::optional<std::string> text = TextWith(tree, 0, replacements);
  for (const auto& [kernel, arguments] : launches) {
    text = RenderLaunchChange(*text, {kernel, "arguments", fmt::format("{}", fmt::join(arguments, ", "))});
    if (!text) return std::nullopt;
  }
  return text;
}

}  // namespace evo
