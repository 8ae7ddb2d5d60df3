#include "mutators/analysis/grid_runs/grid_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

constexpr std::int64_t kMostBlockThreads = 1024;
// In loops.
constexpr std::int64_t kMostLoopLaunches = 64;

// Whether an array is declared with a size that is compiled in: of how many elements its type says for one value only.
bool HasSizedArrays(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  for (std::size_t i = 0; i < tree.nodes().size() && !context.rendered.size_macros.empty(); ++i) {
    const SyntaxNode& node = tree.nodes()[i];
    if (node.kind_name != "VarDecl" || !node.type.ends_with("]")) continue;
    for (const SizeMacro& macro : context.rendered.size_macros) {
      if (ContainsName(std::string(tree.Text(static_cast<int>(i))), macro.name)) return true;
    }
  }
  return false;
}

// `float` of `const float *__restrict`.
std::string PointedTo(const std::string& type) { return PlainType(type.substr(0, type.find_last_of('*'))); }

}  // namespace

GridLaunches::GridLaunches(const MutationContext& context, const ExpressionKinds& kinds, const GridSetting& setting)
    : context_(context),
      tree_(context.tree),
      setting_(setting),
      constants_(context, setting),
      memories_(refusal_),
      block_(context.tree, kinds, setting.present && !HasSizedArrays(context), constants_, memories_, refusal_) {}

GridTrace GridLaunches::Run() {
  for (const Workspace& workspace : context_.rendered.workspaces) {
    std::int64_t elements = 1;
    for (const Expression& extent : workspace.shape) elements *= constants_.ValueOf(extent).value_or(0);
    memories_.AddWorkspace(workspace.name, elements);
  }
  AddDeviceVariables();
  RunSteps(0, context_.rendered.steps.size());
  // The next run begins with what this one leaves.
  const auto keeps = [&](const DeviceVariable& one) { return memories_.HasOther(one.memory, one.initial); };
  if (std::any_of(variables_.begin(), variables_.end(), keeps)) refusal_.Add("it leaves something in a __device__ variable");
  return {refusal_.why(), block_.unknown(), memories_.TakeBuffers(), memories_.has_tickets(), constants_.names()};
}

void GridLaunches::RunSteps(std::size_t begin, std::size_t end) {
  const auto& steps = context_.rendered.steps;
  for (std::size_t at = begin; at < end && !refusal_.given(); ++at) {
    const Step& step = steps[at];
    if (step.launch) {
      Launch(*step.launch);
    } else if (step.memset) {
      memories_.Fill(FirstNameOf(step.memset->buffer), step.memset->value, ArgumentElements());
    } else if (step.repeat) {
      std::size_t last = at + 1;
      for (int open = 1; last < end; ++last) {
        open += steps[last].repeat ? 1 : steps[last].end ? -1 : 0;
        if (open == 0) break;
      }
      RunLoop(*step.repeat, at + 1, last);
      at = last;
    }
  }
}

void GridLaunches::RunLoop(const RepeatDirective& loop, std::size_t begin, std::size_t end) {
  const auto count = constants_.ValueOf(loop.count);
  if (!count) return refusal_.Add("how often its launches are repeated is not known");
  for (std::int64_t turn = 0; turn < *count && !refusal_.given(); ++turn) {
    constants_.Set(loop.step, turn);
    RunSteps(begin, end);
    for (const SwapDirective& swap : loop.swaps) {
      const std::string first = FirstNameOf(swap.first);
      exchanged_[swap.first] = FirstNameOf(swap.second);
      exchanged_[swap.second] = first;
    }
  }
}

void GridLaunches::AddDeviceVariables() {
  constexpr std::int64_t kMostElements = 1 << 16;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const int variable = static_cast<int>(i);
    const SyntaxNode& node = tree_.node(variable);
    if (node.kind_name != "VarDecl" || node.function >= 0 || node.type.starts_with("const ")) continue;
    const auto is_device = [&](int child) { return tree_.node(child).kind_name == "attribute(device)"; };
    if (std::none_of(node.children.begin(), node.children.end(), is_device)) continue;
    DeviceVariable one;
    std::int64_t elements = 1;
    for (const long long extent : ExtentsOf(node.type)) elements *= extent;
    bool known = elements > 0 && elements <= kMostElements;
    for (const int child : node.children) {
      if (tree_.node(child).kind_name.starts_with("attribute") || tree_.node(child).kind_name == "TypeRef") continue;
      if (node.type.ends_with("]")) {
        known = known && tree_.node(child).kind_name != "InitListExpr";
        continue;
      }
      const auto initial = constants_.ValueOfLiteral(std::string(tree_.Text(child)));
      known = known && initial && initial->known;
      if (initial) one.initial = initial->number;
    }
    if (!known) continue;
    one.memory =
        memories_.AddDeviceVariable(node.name, PlainType(node.type.substr(0, node.type.find('['))), elements, one.initial);
    variables_.push_back(one);
    block_.AddDeviceVariable(variable, one.memory);
  }
}

int GridLaunches::KernelOf(const LaunchDirective& launch) {
  const std::string name = launch.kernel.substr(launch.kernel.rfind(':') + 1);
  int found = -1, definitions = 0;
  for (const int function : Functions(tree_)) {
    const SyntaxNode& node = tree_.node(function);
    if (node.name != name || node.children.empty() || tree_.node(node.children.back()).kind_name != "CompoundStmt") continue;
    found = function;
    ++definitions;
  }
  const bool plain =
      definitions == 1 && tree_.node(found).kind_name == "FunctionDecl" && launch.kernel_expression == launch.kernel;
  if (!plain) refusal_.Add(fmt::format("{} is a template or defined more than once", launch.kernel));
  return plain ? found : -1;
}

GridArguments GridLaunches::ArgumentsOf(const LaunchDirective& launch, int kernel) {
  GridArguments arguments;
  std::size_t at = 0;
  for (const int child : tree_.node(kernel).children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl") continue;
    if (at >= launch.arguments.size()) break;
    const std::string& text = launch.arguments[at++];
    LaneValues value(1);
    if (parameter.type.find('*') != std::string::npos) {
      std::string type = PointedTo(parameter.type);
      if (const ThreadVectorType vector = ThreadVectorTypeOf(type); vector.count > 0) {
        value.width = vector.count;
        type = vector.number;
      }
      value.memory = text == "nullptr" ? -1 : memories_.Buffer(FirstNameOf(text), type, ArgumentElements());
    } else if (const auto number = constants_.ValueOfArgument(text)) {
      value.numbers[0] = *number;
    } else {
      value.known[0] = Knowledge::kUnknown;
    }
    arguments[child] = std::move(value);
  }
  return arguments;
}

std::optional<GridPosition> GridLaunches::PositionOf(const LaunchDirective& launch) {
  GridPosition found;
  std::int64_t threads = 1;
  found.blocks = 1;
  for (const bool of_grid : {true, false}) {
    const auto& dimensions = of_grid ? launch.grid : launch.block;
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
      const auto extent = constants_.ValueOf(dimensions[axis]);
      if (!extent) {
        refusal_.Add(fmt::format("how many blocks or threads {} has is not known", launch.kernel));
        return std::nullopt;
      }
      if (*extent < 1) {
        refusal_.Add(fmt::format("of {} elements, {} has no blocks or threads", setting_.elements, launch.kernel));
        return std::nullopt;
      }
      if (axis > 0 && *extent != 1 && !setting_.axes) {
        refusal_.Add(fmt::format("{} has blocks or a grid of more than one dimension", launch.kernel));
        return std::nullopt;
      }
      (of_grid ? found.grid : found.threads)[axis] = *extent;
      (of_grid ? found.blocks : threads) *= *extent;
    }
  }
  found.lanes = static_cast<std::size_t>(threads);
  if (threads <= kMostBlockThreads) return found;
  refusal_.Add(fmt::format("{} has blocks of {} threads", launch.kernel, threads));
  return std::nullopt;
}

void GridLaunches::Launch(const LaunchDirective& launch) {
  if (++launched_ > kMostLoopLaunches) return refusal_.Add("it has very many launches");
  if (launch.when) {
    const auto when = constants_.ValueOf(*launch.when);
    if (!when) return refusal_.Add(fmt::format("whether {} is launched is not known", launch.kernel));
    if (*when == 0) return;
  }
  if (launch.cooperative || !launch.cluster.empty())
    return refusal_.Add(fmt::format("the blocks of {} work together", launch.kernel));
  const int kernel = KernelOf(launch);
  if (refusal_.given()) return;
  auto position = PositionOf(launch);
  if (!position) return;
  const GridArguments arguments = ArgumentsOf(launch, kernel);
  const std::int64_t dynamic_bytes = constants_.ValueOf(launch.shared).value_or(0);
  memories_.StartLaunch();
  for (std::int64_t at = 0; at < position->blocks && !refusal_.given(); ++at) {
    position->block = setting_.reversed ? position->blocks - 1 - at : at;
    block_.Run(kernel, *position, dynamic_bytes, arguments);
  }
}

}  // namespace evo
