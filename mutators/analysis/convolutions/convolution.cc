#include "mutators/analysis/convolutions/convolution.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "mutators/analysis/convolutions/convolution_epilogue.h"
#include "mutators/analysis/convolutions/convolution_numbers.h"
#include "mutators/analysis/convolutions/convolution_sampler.h"
#include "mutators/analysis/convolutions/convolution_shapes.h"
#include "mutators/analysis/convolutions/convolution_trials.h"
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/grid_runs/launch_sizes.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

// Elements that are looked at of a launch with other sizes.
constexpr std::size_t kElementsTried = 40;

std::set<int> Noted(const ConvolutionParts& parts) {
  std::set<int> noted = parts.variables;
  noted.insert(parts.accumulator);
  return noted;
}

// Whether a kernel of such parts is a convolution, by running its threads.
// `odd`: sizes of the launch line that are odd.
std::variant<Convolution, std::string> ConvolutionOf(const MutationContext& context, const LaunchDirective& launch, int kernel,
                                                     const ConvolutionParts& parts, bool manifold = false,
                                                     const std::set<std::string>& odd = {}) {
  const SyntaxTree& tree = context.tree;
  LaunchRuns runs(context, launch, kernel, parts.loop, Noted(parts));
  runs.TellSums();
  runs.RequireOdd(odd);
  runs.given().words = ComputesInWords(tree, kernel);
  if (!runs.refusal().empty()) return parts.deep ? runs.refusal() : "";
  if (runs.names().size() > kMostConvolutionSizes) return parts.deep ? "its launch line names too many sizes" : "";
  ConvolutionSampler sampler(tree, parts, runs);
  ConvolutionShapes shapes(tree, parts, runs, sampler);
  if (!shapes.Find(manifold)) return shapes.why();
  Convolution found;
  found.kernel = kernel;
  found.launch = &launch;
  found.accumulator = parts.accumulator;
  found.starts_at_zero = parts.starts_at_zero;
  found.x = sampler.buffers().x, found.f = sampler.buffers().f, found.y = sampler.output();
  found.element = PointedTo(tree, found.x);
  if (tree.node(found.x).kind_name != "ParmDecl") return "its images are in constant memory";
  const bool constant = tree.node(found.f).kind_name != "ParmDecl";
  const bool words = found.element == "int";
  if (constant && found.element != "float" && !words)
    return "its filters are in constant memory, where only floats are understood";
  const std::set<int> written = WrittenIn(tree, kernel);
  ConvolutionNumbers numbers(tree, runs, written, shapes.launches());
  if (!numbers.AddSizes(found)) return numbers.why();
  ConvolutionTrials trials(context, runs, sampler, shapes.launches(), found, shapes.multiple());
  if (!trials.RunSome(shapes.third(), kElementsTried, "with other sizes") || !trials.RunSmall()) return trials.why();
  LaunchRuns::Sizes ungrouped = shapes.third();
  if (const auto groups = ungrouped.find(found.groups.launch); groups != ungrouped.end()) {
    groups->second = 1;
    if (!trials.RunSome(ungrouped, kElementsTried, "with one group")) return trials.why();
  }
  if (!numbers.AddImages(trials.images(), trials.settings(), found)) return numbers.why();
  if (!trials.RunSymbolic(numbers.used()) || !trials.RunLarge()) return trials.why();
  found.parameters = trials.parameters();
  if (words && !found.depthwise) return "its elements are integers, and it has several channels or filters";
  if (parts.plain()) {
    const std::string stored = PointedTo(tree, found.y);
    if (stored != found.element && (words || stored != "float")) return fmt::format("it stores {}", stored);
    return found;
  }
  ConvolutionEpilogue epilogue(tree, parts, sampler.observed(), written);
  if (!epilogue.AddTo(found)) return epilogue.why();
  return found;
}

// The parameters half of which a kernel takes, `k / 2`, by what its launch line passes for them. Filters around their middle
// often have so many taps, and no other ones if their number is even.
std::map<std::string, std::string> HalvedSizes(const MutationContext& context, const LaunchDirective& launch, int kernel) {
  const SyntaxTree& tree = context.tree;
  const LaunchSizes sizes(context, launch, kernel);
  std::map<std::string, std::string> halved;
  for (const int node : Subtree(tree, kernel)) {
    const auto& parts = tree.node(node).children;
    if (parts.size() != 2) continue;
    const bool half =
        (tree.Operator(node) == "/" && tree.Text(parts[1]) == "2") || (tree.Operator(node) == ">>" && tree.Text(parts[1]) == "1");
    const int whole = half ? NamedDeclaration(tree, parts[0]) : -1;
    for (const auto& [parameter, expression] : sizes.arguments()) {
      const auto names = expression.Names();
      if (parameter == whole && names.size() == 1 && expression.text() == *names.begin())
        halved[tree.node(parameter).name] = *names.begin();
    }
  }
  return halved;
}

// The same where such parameters are odd.
std::variant<Convolution, std::string> OddConvolution(const MutationContext& context, const LaunchDirective& launch, int kernel,
                                                      const ConvolutionParts& parts,
                                                      std::variant<Convolution, std::string> found) {
  if (std::holds_alternative<Convolution>(found)) return found;
  std::set<std::string> odd;
  const auto halved = HalvedSizes(context, launch, kernel);
  for (const auto& [parameter, size] : halved) odd.insert(size);
  if (odd.empty()) return found;
  auto other = ConvolutionOf(context, launch, kernel, parts, false, odd);
  auto* const convolution = std::get_if<Convolution>(&other);
  if (convolution == nullptr) return found;
  for (const auto& [parameter, size] : halved) convolution->odd.push_back(parameter);
  return other;
}

// Of a kernel whose threads may compute several filters each.
std::variant<Convolution, std::string> PlainConvolution(const MutationContext& context, const LaunchDirective& launch, int kernel,
                                                        const ConvolutionParts& parts) {
  auto found = ConvolutionOf(context, launch, kernel, parts);
  if (std::holds_alternative<Convolution>(found)) return found;
  auto other = ConvolutionOf(context, launch, kernel, parts, true);
  return std::holds_alternative<Convolution>(other) ? other : found;
}

}  // namespace

std::variant<Convolution, std::string> AsConvolution(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.children.empty() || tree.node(node.children.back()).kind_name != "CompoundStmt") return "";
  if (IsKnownElsewhere(context, kernel)) return "";
  const auto parts = ConvolutionPartsOf(tree, kernel);
  const auto plain = PlainPartsOf(tree, kernel);
  const auto* const no_parts = std::get_if<std::string>(&parts);
  if (no_parts != nullptr && !plain) return *no_parts;
  const ConvolutionParts& found = no_parts != nullptr ? *plain : std::get<ConvolutionParts>(parts);
  const auto refuse = [&](const char* why) -> std::string { return found.deep ? why : ""; };
  if (node.kind_name != "FunctionDecl") return refuse("it is a function template");
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr) return refuse("it is not launched by exactly one launch line");
  if (!launch->cluster.empty() || launch->cooperative) return refuse("its blocks are launched as clusters or together");
  if (tree.Text({node.range.begin, tree.node(node.children.back()).range.begin}).find("__launch_bounds__") !=
      std::string_view::npos)
    return refuse("its __launch_bounds__ rule out other blocks");
  auto convolution =
      found.plain() ? PlainConvolution(context, *launch, kernel, found) : ConvolutionOf(context, *launch, kernel, found);
  convolution = OddConvolution(context, *launch, kernel, found, std::move(convolution));
  const auto* const why = std::get_if<std::string>(&convolution);
  if (why == nullptr) return convolution;
  // What nobody would take for a convolution is no plain one, either.
  if (no_parts != nullptr) return no_parts->empty() ? *why : *no_parts;
  if (!plain || why->empty()) return convolution;
  auto other = PlainConvolution(context, *launch, kernel, *plain);
  return std::holds_alternative<Convolution>(other) ? other : convolution;
}

}  // namespace evo
