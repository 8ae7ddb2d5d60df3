#include "mutators/analysis/scans/elements_of_expression.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/grid_runs/grid_source.h"

namespace evo {
namespace {

constexpr std::size_t kMostCounted = 3;

// An expression where it stands between brackets and commas, as a name.
std::string Counted(std::string text, const std::string& expression, const std::string& name) {
  for (std::size_t at = text.find(expression); at != std::string::npos; at = text.find(expression, at)) {
    const std::size_t end = at + expression.size();
    const std::size_t before = text.find_last_not_of(' ', at == 0 ? std::string::npos : at - 1);
    const std::size_t after = text.find_first_not_of(' ', end);
    const bool begins = at == 0 || before == std::string::npos || text[before] == '(' || text[before] == ',';
    const bool ends = after == std::string::npos || text[after] == ')' || text[after] == ',';
    if (begins && ends) text.replace(at, expression.size(), name);
    at += begins && ends ? name.size() : 1;
  }
  return text;
}

KernelTemplate WithCount(KernelTemplate rendered, const std::string& expression, const std::string& name) {
  const auto replace = [&](Expression& one) { one = Expression::Parse(Counted(one.text(), expression, name)); };
  for (Step& step : rendered.steps) {
    if (step.repeat) replace(step.repeat->count);
    if (!step.launch) continue;
    for (std::string& argument : step.launch->arguments) argument = Counted(argument, expression, name);
    for (auto* dimensions : {&step.launch->grid, &step.launch->block})
      std::for_each(dimensions->begin(), dimensions->end(), replace);
    replace(step.launch->shared);
    if (step.launch->when) replace(*step.launch->when);
  }
  for (Workspace& workspace : rendered.workspaces) std::for_each(workspace.shape.begin(), workspace.shape.end(), replace);
  for (SizeMacro& macro : rendered.size_macros) replace(macro.value);
  return rendered;
}

// The expression of an argument that is a number and names something; empty for others.
std::string ExpressionIn(const std::string& argument) {
  try {
    const std::string text = Expression::Parse(ParseLaunchArgument(argument).text).text();
    const auto names = Expression::Parse(text).Names();
    // Parts of the elements, such as the blocks that have them.
    if (text.find('/') != std::string::npos || text.find("ceil_div") != std::string::npos) return "";
    return names.empty() || (names.size() == 1 && names.front() == text) ? "" : text;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::vector<ElementsOfExpression> ElementsOfExpressions(const MutationContext& context) {
  std::vector<std::string> expressions;
  for (const Step& step : context.rendered.steps) {
    if (!step.launch) continue;
    for (const std::string& argument : step.launch->arguments) {
      const std::string text = ExpressionIn(argument);
      if (!text.empty() && std::find(expressions.begin(), expressions.end(), text) == expressions.end())
        expressions.push_back(text);
    }
  }
  std::vector<ElementsOfExpression> found;
  const std::string name = UnusedName(context.tree.text(), "elements_of_expression");
  for (const std::string& expression : expressions) {
    if (found.size() == kMostCounted) break;
    ElementsOfExpression one{expression, WithCount(context.rendered, expression, name)};
    const MutationContext counted{context.kernel_template, context.genome,           context.tree, one.rendered,
                                  context.second_parent,   context.product_elsewhere};
    if (GridSource(counted).size() == name) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace evo
