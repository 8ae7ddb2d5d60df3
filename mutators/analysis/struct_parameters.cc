#include "mutators/analysis/struct_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// The fields of a struct of this name; empty if there is no such struct, or one that has more than fields.
std::vector<int> FieldsOf(const SyntaxTree& tree, const std::string& type) {
  for (const int one : NodesOfKind(tree, "StructDecl")) {
    if (tree.node(one).name != type || tree.node(one).children.empty()) continue;
    std::vector<int> fields;
    for (const int child : tree.node(one).children) {
      if (tree.node(child).kind_name != "FieldDecl" || tree.node(child).type.ends_with("]")) return {};
      fields.push_back(child);
    }
    return fields;
  }
  return {};
}

// "float* a": a type and a name.
std::string Declared(const std::string& type, const std::string& name) {
  return type.ends_with("*") || type.ends_with("&") ? type + name : fmt::format("{} {}", type, name);
}

class StructFlattener {
 public:
  StructFlattener(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : tree_(context.tree), kernel_(kernel), launch_(launch) {}

  // False if the kernel takes no struct, or one that is used as a whole.
  bool Flatten() {
    std::size_t place = 0;
    bool any = false;
    for (const int child : tree_.node(kernel_).children) {
      if (tree_.node(child).kind_name != "ParmDecl") continue;
      if (place >= launch_.arguments.size()) return false;
      const std::string& argument = launch_.arguments[place++];
      const LaunchArgumentText parsed = ParseLaunchArgument(argument);
      if (parsed.kind != LaunchArgumentText::Kind::kStruct) {
        arguments_.push_back(argument);
        continue;
      }
      if (!Replace(child, argument)) return false;
      any = true;
    }
    return any;
  }

  const Replacements& replacements() const { return replacements_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::pair<std::string, std::string>>& declarations() const { return declarations_; }
  // Of the structs, each behind a blank.
  const std::string& names() const { return names_; }

 private:
  bool Replace(int parameter, const std::string& argument) {
    const SyntaxNode& node = tree_.node(parameter);
    const std::vector<int> fields = FieldsOf(tree_, WithoutConst(node.type));
    const auto values = PartsOf(argument);
    if (fields.empty() || fields.size() != values.size()) return false;
    names_ += " " + node.name;
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const SyntaxNode& field = tree_.node(fields[i]);
      const std::string name = UnusedName(tree_.text(), fmt::format("{}_{}", node.name, field.name));
      parameters.push_back(Declared(field.type, name));
      arguments_.push_back(values[i]);
      declarations_.emplace_back(name, fmt::format("{} = {}.{};", Declared(field.type, name), node.name, field.name));
    }
    replacements_.emplace_back(parameter, fmt::format("{}", fmt::join(parameters, ", ")));
    for (const int use : tree_.UsesOf(parameter)) {
      const int member = tree_.node(use).parent;
      const std::string prefix = fmt::format("{}.", node.name);
      if (tree_.node(member).kind_name != "MemberRefExpr" || !tree_.Text(member).starts_with(prefix)) return false;
      const std::string field(tree_.Text(member).substr(prefix.size()));
      const auto found = std::find_if(fields.begin(), fields.end(), [&](int one) { return tree_.node(one).name == field; });
      if (found == fields.end()) return false;
      const auto place = static_cast<std::size_t>(found - fields.begin());
      replacements_.emplace_back(member, declarations_[declarations_.size() - fields.size() + place].first);
    }
    return true;
  }

  // Of "{A, B}", the two as they are written.
  static std::vector<std::string> PartsOf(const std::string& text) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t begin = text.find('{') + 1;
    for (std::size_t at = begin; at < text.size(); ++at) {
      depth += (text[at] == '(') - (text[at] == ')');
      if (depth > 0 || (text[at] != ',' && text[at] != '}')) continue;
      std::string part = text.substr(begin, at - begin);
      part.erase(0, part.find_first_not_of(' '));
      parts.push_back(part.substr(0, part.find_last_not_of(' ') + 1));
      begin = at + 1;
    }
    return parts;
  }

  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  Replacements replacements_;
  std::vector<std::string> arguments_;
  std::vector<std::pair<std::string, std::string>> declarations_;
  std::string names_;
};

}  // namespace

std::optional<std::string> WithoutStructs(const MutationContext& context, FieldDeclarations& declarations) {
  const SyntaxTree& tree = context.tree;
  Replacements replacements;
  std::vector<std::pair<std::string, std::vector<std::string>>> launches;
  std::string names;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel)) continue;
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
    if (launch == nullptr) continue;
    StructFlattener flattener(context, kernel, *launch);
    if (!flattener.Flatten()) continue;
    replacements.insert(replacements.end(), flattener.replacements().begin(), flattener.replacements().end());
    launches.emplace_back(launch->kernel, flattener.arguments());
    declarations[tree.node(kernel).name] = flattener.declarations();
    names += flattener.names();
  }
  if (launches.empty()) return std::nullopt;
  std::optional<std::string> text = TextWith(tree, 0, replacements);
  for (const auto& [kernel, arguments] : launches) {
    text = RenderLaunchChange(*text, {kernel, "arguments", fmt::format("{}", fmt::join(arguments, ", "))});
    if (!text) return std::nullopt;
  }
  // Who looks for a new name finds those of the structs.
  return *text + "// Parameters whose fields are parameters:" + names + "\n";
}

}  // namespace evo
