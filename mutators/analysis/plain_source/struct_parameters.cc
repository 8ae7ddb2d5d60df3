#include "mutators/analysis/plain_source/struct_parameters.h"

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
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Parameters of a class template whose numbers have one digit.
constexpr std::size_t kMostTypes = 10;

struct StructField {
  std::string type, name;
};

// The arguments of `Image<const float, 3>`.
std::vector<std::string> TemplateArgumentsOf(const std::string& type) {
  std::vector<std::string> arguments;
  const std::size_t open = type.find('<');
  if (open == std::string::npos || !type.ends_with('>')) return arguments;
  int depth = 0;
  std::string argument;
  for (std::size_t at = open + 1; at < type.size(); ++at) {
    depth += (type[at] == '<') - (type[at] == '>');
    if (depth < 0 || (depth == 0 && type[at] == ',')) {
      arguments.push_back(argument.substr(argument.find_first_not_of(' ')));
      argument.clear();
    } else {
      argument += type[at];
    }
  }
  return arguments;
}

// The fields of a struct, or class template, of this type; empty if there is none, or one that has more than fields and methods.
std::vector<StructField> FieldsOf(const SyntaxTree& tree, const std::string& type) {
  const std::string name = type.substr(0, type.find('<'));
  const std::vector<std::string> arguments = TemplateArgumentsOf(type);
  for (int one = 0; one < static_cast<int>(tree.nodes().size()); ++one) {
    const SyntaxNode& node = tree.node(one);
    if (node.kind_name != (arguments.empty() ? "StructDecl" : "ClassTemplate") || node.name != name || node.children.empty())
      continue;
    std::vector<StructField> fields;
    std::size_t parameters = 0;
    for (const int child : node.children) {
      const SyntaxNode& member = tree.node(child);
      if (member.kind_name == "TemplateTypeParameter") ++parameters;
      if (member.kind_name == "TemplateTypeParameter" || member.kind_name == "CXXMethod") continue;
      if (member.kind_name != "FieldDecl" || member.type.ends_with("]")) return {};
      // The type of a parameter is spelled by its number.
      std::string of_field = member.type;
      for (std::size_t i = 0; i < std::min(arguments.size(), kMostTypes); ++i) {
        const std::string parameter = fmt::format("type-parameter-0-{}", i);
        if (const std::size_t at = of_field.find(parameter); at != std::string::npos)
          of_field.replace(at, parameter.size(), arguments[i]);
      }
      if (of_field.starts_with("const const ")) of_field.erase(0, 6);
      if (of_field.find("type-parameter") != std::string::npos) return {};
      fields.push_back({of_field, member.name});
    }
    return parameters == arguments.size() ? fields : std::vector<StructField>();
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
    const std::vector<StructField> fields = FieldsOf(tree_, WithoutConst(node.type));
    const auto values = PartsOf(argument);
    if (fields.empty() || fields.size() != values.size()) return false;
    names_ += " " + node.name;
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const StructField& field = fields[i];
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
      const auto found = std::find_if(fields.begin(), fields.end(), [&](const StructField& one) { return one.name == field; });
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
