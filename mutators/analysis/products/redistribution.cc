// Whether the blocks of a reduction may take other elements than they do.
#include <fmt/format.h>

#include <algorithm>

#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// The place of a parameter among a kernel's; as many as there are for any other declaration.
std::size_t PlaceOfParameter(const SyntaxTree& tree, int kernel, int parameter) {
  std::size_t place = 0;
  for (const int child : tree.node(kernel).children) {
    if (child == parameter) break;
    place += tree.node(child).kind_name == "ParmDecl";
  }
  return place;
}

int ParameterAt(const SyntaxTree& tree, int kernel, std::size_t place) {
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind_name == "ParmDecl" && place-- == 0) return child;
  }
  return -1;
}

// The result in a value that is stored; nullptr if there are several, or none.
const Reduction::Place* ResultIn(const SyntaxTree& tree, const Reduction& reduction, int value) {
  const Reduction::Place* found = nullptr;
  for (const Reduction::Place& place : reduction.places) {
    if (!IsWithin(tree, place.node, value)) continue;
    if (found != nullptr) return nullptr;
    found = &place;
  }
  return found;
}

class RedistributionFinder {
 public:
  RedistributionFinder(const MutationContext& context, const Reduction& reduction)
      : context_(context), tree_(context.tree), reduction_(reduction), uniform_(context, reduction.kernel) {}

  Redistribution Find() {
    if (reduction_.bound.empty()) return {"it is not told how many elements there are", false, {}, 0};
    if (reduction_.blocks == Reduction::Blocks::kAllOfThem) return {"each of its blocks takes every element", false, {}, 0};
    for (const int part : reduction_.ElementNodes()) {
      if (DependsOnBlock(TextWith(tree_, part, NumberAs(tree_, reduction_, part, "0")), part))
        return {fmt::format("`{}` depends on the block", tree_.Text(part)), false, {}, 0};
    }
    const auto& outputs = reduction_.outputs;
    const bool atomic = std::all_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.atomic; });
    if (reduction_.last.size() > outputs.size())
      return {fmt::format("`{}` is computed for each block", tree_.Text(reduction_.last.front())), false, {}, 0};
    for (const Reduction::Output& output : outputs) {
      const auto& parts = tree_.node(output.statement).children;
      const int value = parts[output.atomic ? 2 : 1], target = parts[output.atomic ? 1 : 0];
      if (!IsLinear(tree_, reduction_, output))
        return {fmt::format("`{}` is computed for each block", tree_.Text(value)), false, {}, 0};
      if (output.atomic && DependsOnBlock(tree_.Text(target), target))
        return {"each of its blocks adds to another place", false, {}, 0};
      if (!atomic && !output.own_place) return {"a block's result is not stored by the block's number", false, {}, 0};
    }
    // As many blocks as there are may share its elements anew in each launch.
    if (reduction_.launched_again) return {"it is launched more than once", atomic, {}, 0};
    return atomic ? Redistribution{} : Consumer();
  }

 private:
  bool DependsOnBlock(std::string_view text, int part) const {
    if (text.find("blockIdx.x") != std::string_view::npos || text.find("gridDim.x") != std::string_view::npos) return true;
    for (const int statement : NeededDeclarations(tree_, {part}, reduction_.uniform)) {
      if (tree_.Text(statement).find("gridDim.x") != std::string_view::npos) return true;
      for (const int variable : tree_.node(statement).children) {
        if ((uniform_.Of(tree_.node(variable).children.back()).blocks & 1u) != 0) return true;
      }
    }
    return false;
  }

  // The launch that combines the results.
  Redistribution Consumer() const {
    const LaunchDirective* consumer = nullptr;
    std::vector<std::size_t> places;  // among its arguments, of the outputs' buffers
    for (const Reduction::Output& output : reduction_.outputs) {
      const auto buffer = LaunchedAs(tree_, *reduction_.launch, reduction_.kernel, output.target);
      const auto& workspaces = context_.rendered.workspaces;
      const auto is_it = [&](const Workspace& workspace) { return buffer == workspace.name; };
      if (!buffer || std::none_of(workspaces.begin(), workspaces.end(), is_it))
        return {"the results of its blocks are not stored to a workspace", false, {}, 0};
      int uses = 0;
      for (const Step& step : context_.rendered.steps) {
        if (step.repeat) return {"it is launched in a loop", false, {}, 0};
        if (!step.launch || step.launch->kernel == reduction_.launch->kernel) continue;
        for (std::size_t i = 0; i < step.launch->arguments.size(); ++i) {
          if (!NamesIt(step.launch->arguments[i], *buffer)) continue;
          if (++uses > 1) return {"the results of its blocks are used more than once", false, {}, 0};
          if (consumer != nullptr && consumer != &*step.launch)
            return {"the results of its blocks are combined by several launches", false, {}, 0};
          consumer = &*step.launch;
          places.push_back(i);
        }
      }
      if (uses == 0) return {"no later launch combines its blocks' results", false, {}, 0};
    }
    if (consumer->line < reduction_.launch->line) return {"no later launch combines its blocks' results", false, {}, 0};
    return Combining(*consumer, places);
  }

  static bool NamesIt(const std::string& argument, const std::string& name) {
    for (const SourceRange& range : Tokenize(argument)) {
      if (std::string_view(argument).substr(range.begin, range.size()) == name) return true;
    }
    return false;
  }

  Redistribution Combining(const LaunchDirective& consumer, const std::vector<std::size_t>& places) const {
    for (const int kernel : Functions(tree_)) {
      if (!IsKernel(tree_, kernel) || tree_.node(kernel).name != consumer.kernel) continue;
      const auto found = AsReduction(context_, kernel);
      if (const auto* why = std::get_if<std::string>(&found))
        return {fmt::format("of {}: {}", consumer.kernel, *why), false, {}, 0};
      const Reduction& last = std::get<Reduction>(found);
      if (last.launched_again) return {fmt::format("{} is launched more than once", consumer.kernel), false, {}, 0};
      const bool one = consumer.grid.size() == 1 && consumer.grid[0].text() == "1";
      const bool all = last.blocks == Reduction::Blocks::kAllOfThem || (one && last.blocks == Reduction::Blocks::kShareAll);
      bool same = places.size() == last.results.size() && last.loops.empty();
      for (std::size_t i = 0; i < places.size() && same; ++i) {
        const int value = tree_.node(reduction_.outputs[i].statement).children[1];
        same = TakesOver(last, ParameterAt(tree_, kernel, places[i]),
                         reduction_.results[ResultIn(tree_, reduction_, value)->result]);
      }
      if (!all || !same || !last.parameters.empty())
        return {fmt::format("{} does not combine its blocks' results in the same way", consumer.kernel), false, {}, 0};
      const std::size_t count = PlaceOfParameter(tree_, kernel, last.bound_parameter);
      if (last.bound_parameter < 0 || last.grain.divided > 1 || count >= consumer.arguments.size() ||
          !SameTokens(consumer.arguments[count], reduction_.launch->grid[0].text()))
        return {fmt::format("{} is not told how many blocks there are", consumer.kernel), false, {}, 0};
      return {"", false, last, count};
    }
    return {fmt::format("{} is not in this file", consumer.kernel), false, {}, 0};
  }

  // Whether a reduction combines the elements of a parameter as a result was combined, and stores nothing there.
  bool TakesOver(const Reduction& last, int parameter, const Reduction::Result& result) const {
    for (const Reduction::Output& output : last.outputs) {
      if (NamedIn(tree_, output.statement).contains(parameter)) return false;
    }
    const auto combines = [&](const Reduction::Result& other) {
      if (other.values.size() != 1 || other.values[0].factor >= 0) return false;
      const int element = WithoutParentheses(tree_, other.values[0].node);
      return tree_.node(element).kind_name == "ArraySubscriptExpr" &&
             NamedDeclaration(tree_, tree_.node(element).children.front()) == parameter &&
             SameTokens(TextWith(tree_, element, NumberAs(tree_, last, element, "0")),
                        fmt::format("{}[0]", tree_.node(parameter).name)) &&
             other.combine == result.combine && other.type == result.type;
    };
    return last.of_element.empty() && std::any_of(last.results.begin(), last.results.end(), combines);
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const Reduction& reduction_;
  BlockUniform uniform_;
};

}  // namespace

Replacements NumberAs(const SyntaxTree& tree, const Reduction& reduction, int node, const std::string& text) {
  if (reduction.by_name) return UsesAs(tree, reduction.number, node, text);
  Replacements replacements;
  for (const int at : Subtree(tree, node)) {
    const SyntaxNode& one = tree.node(at);
    if (one.kind_name != "ArraySubscriptExpr" || one.children.size() != 2) continue;
    if (SameTokens(tree.Text(one.children[1]), tree.Text(reduction.number))) replacements.emplace_back(one.children[1], text);
  }
  return replacements;
}

std::optional<std::string> LaunchedAs(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int parameter) {
  const std::size_t place = PlaceOfParameter(tree, kernel, parameter);
  if (parameter < 0 || place >= launch.arguments.size()) return std::nullopt;
  const LaunchArgumentText argument = ParseLaunchArgument(launch.arguments[place]);
  if (argument.kind == LaunchArgumentText::Kind::kStruct) return std::nullopt;
  return argument.text;
}

bool IsLinear(const SyntaxTree& tree, const Reduction& reduction, const Reduction::Output& output) {
  const int value = tree.node(output.statement).children[output.atomic ? 2 : 1];
  const Reduction::Place* const place = ResultIn(tree, reduction, value);
  if (place == nullptr) return false;
  const Reduction::Result& result = reduction.results[place->result];
  int at = place->node;
  while (at != value) {
    const int outer = tree.node(at).parent;
    if (outer < 0 || !IsWithin(tree, outer, value)) return false;
    const std::string_view spelled = tree.Operator(outer);
    const bool factor = spelled == "*" || (spelled == "/" && tree.node(outer).children.front() == at);
    const bool real = result.type == "float" || result.type == "double";
    if (tree.node(outer).kind_name != "ParenExpr" && !(factor && real && result.combine == "+")) return false;
    at = outer;
  }
  return true;
}

Redistribution RedistributionOf(const MutationContext& context, const Reduction& reduction) {
  return RedistributionFinder(context, reduction).Find();
}

}  // namespace evo
