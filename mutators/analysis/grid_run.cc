// How a GridRun runs launches, blocks and statements.
#include "mutators/analysis/grid_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

bool AnyLane(const std::vector<char>& mask) { return std::find(mask.begin(), mask.end(), 1) != mask.end(); }

// `float` of `const float *__restrict`.
std::string PointedTo(const std::string& type) { return PlainType(type.substr(0, type.find_last_of('*'))); }

}  // namespace

LaneValues GridRun::Refuse(const std::string& why) {
  if (trace_.refusal.empty()) trace_.refusal = why;
  return LaneValues(lanes_, 0, Knowledge::kUnknown);
}

std::string GridRun::Quoted(int node) const {
  const std::string_view text = tree_.Text(node);
  return fmt::format("`{}`", text.substr(0, text.find('\n')));
}

GridTrace GridRun::Run(const GridSetting& setting) {
  setting_ = &setting;
  trace_ = {};
  memories_.clear();
  launch_ = block_ = phase_ = work_ = 0;
  sizes_ = ToVariables(setting.parameters);
  sizes_[setting.size] = Number::Integer(setting.elements);
  for (const Workspace& workspace : context_.rendered.workspaces) {
    GridMemory memory{workspace.name, "", true, false, 1, -1, {}};
    for (const Expression& extent : workspace.shape) memory.elements *= Evaluated(extent).value_or(0);
    memories_.push_back(std::move(memory));
  }
  for (const Step& step : context_.rendered.steps) {
    if (step.launch)
      Launch(*step.launch);
    else if (step.memset)
      Fill(*step.memset);
    else
      Refuse("its launches are in a loop");
    if (refused()) break;
  }
  trace_.buffers = std::move(memories_);
  return std::move(trace_);
}

std::optional<std::int64_t> GridRun::Evaluated(const Expression& expression) const {
  try {
    return expression.EvaluateInteger(sizes_);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> GridRun::EvaluatedArgument(const std::string& text) const {
  try {
    const LaunchArgumentText argument = ParseLaunchArgument(text);
    if (argument.kind == LaunchArgumentText::Kind::kStruct) return std::nullopt;
    if (argument.kind == LaunchArgumentText::Kind::kCast && IsFloating(argument.type.dtype)) return std::nullopt;
    return Evaluated(Expression::Parse(argument.text));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void GridRun::Fill(const MemsetDirective& memset) {
  for (GridMemory& memory : memories_) {
    if (memory.name != memset.buffer) continue;
    if (memory.elements > kMostGridCells) return static_cast<void>(Refuse("its workspaces are large"));
    memory.cells.resize(static_cast<std::size_t>(memory.elements));
    for (GridCell& cell : memory.cells) {
      cell = {};
      if (memset.value == 0) cell.known = Knowledge::kKnown;
    }
    return;
  }
  Refuse(fmt::format("evo:memset fills {}, which is no workspace", memset.buffer));
}

int GridRun::KernelOf(const LaunchDirective& launch) {
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
  if (!plain) Refuse(fmt::format("{} is a template or defined more than once", launch.kernel));
  return plain ? found : -1;
}

int GridRun::Buffer(const std::string& name, const std::string& type) {
  auto found = std::find_if(memories_.begin(), memories_.end(), [&](const GridMemory& one) { return one.name == name; });
  if (found == memories_.end()) {
    const auto number = static_cast<std::int64_t>(memories_.size());
    memories_.push_back({name, type, false, false, setting_->elements, number << 40, {}});
    found = memories_.end() - 1;
  }
  if (found->type.empty()) found->type = type;
  if (found->type != type) Refuse(fmt::format("{} is used as {} and as {}", name, found->type, type));
  return static_cast<int>(found - memories_.begin());
}

bool GridRun::BindArguments(const LaunchDirective& launch, int kernel) {
  arguments_.clear();
  std::size_t at = 0;
  for (const int child : tree_.node(kernel).children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl") continue;
    if (at >= launch.arguments.size()) break;
    const std::string& text = launch.arguments[at++];
    LaneValues value(1);
    if (parameter.type.find('*') != std::string::npos) {
      value.memory = Buffer(text, PointedTo(parameter.type));
    } else if (const auto number = EvaluatedArgument(text)) {
      value.numbers[0] = *number;
    } else {
      value.known[0] = Knowledge::kUnknown;
    }
    arguments_[child] = std::move(value);
  }
  return !refused();
}

void GridRun::Launch(const LaunchDirective& launch) {
  if (launch.when) {
    const auto when = Evaluated(*launch.when);
    if (!when) return static_cast<void>(Refuse(fmt::format("whether {} is launched is not known", launch.kernel)));
    if (*when == 0) return;
  }
  if (launch.cooperative || !launch.cluster.empty())
    return static_cast<void>(Refuse(fmt::format("the blocks of {} work together", launch.kernel)));
  const int kernel = KernelOf(launch);
  if (refused()) return;
  std::int64_t threads = 1, blocks = 1;
  for (const auto& [dimensions, count] : {std::pair(&launch.grid, &blocks), std::pair(&launch.block, &threads)}) {
    for (std::size_t axis = 0; axis < dimensions->size(); ++axis) {
      const auto extent = Evaluated((*dimensions)[axis]);
      if (!extent || *extent < 1 || (axis > 0 && *extent != 1))
        return static_cast<void>(Refuse(fmt::format("{} has blocks or a grid of more than one dimension", launch.kernel)));
      if (axis == 0) *count = *extent;
    }
  }
  if (threads > 1024) return static_cast<void>(Refuse(fmt::format("{} has blocks of {} threads", launch.kernel, threads)));
  dynamic_bytes_ = Evaluated(launch.shared).value_or(0);
  lanes_ = static_cast<std::size_t>(threads);
  grid_ = blocks;
  if (!BindArguments(launch, kernel)) return;
  ++launch_;
  for (at_ = 0; at_ < blocks && !refused(); ++at_) RunBlock(tree_.node(kernel).children.back());
}

void GridRun::RunBlock(int body) {
  ++block_;
  ++phase_;
  depth_ = 0;
  variables_.clear();
  aliases_.clear();
  arrays_.clear();
  off_ = broken_ = continued_ = exited_ = Mask(lanes_, 0);
  warp_phases_.assign((lanes_ + 31) / 32, 0);
  for (const auto& [parameter, value] : arguments_) {
    LaneValues all(lanes_, value.numbers[0], value.known[0]);
    all.memory = value.memory;
    variables_[parameter] = std::move(all);
  }
  const std::size_t buffers = memories_.size();
  Execute(body, Mask(lanes_, 1));
  memories_.resize(buffers);
}

GridRun::Mask GridRun::Active(const Mask& mask) const {
  Mask active = mask;
  for (std::size_t lane = 0; lane < lanes_; ++lane) active[lane] = mask[lane] && !off_[lane];
  return active;
}

void GridRun::Execute(int statement, const Mask& mask) {
  if (refused()) return;
  const Mask active = Active(mask);
  if (!AnyLane(active)) return;
  const SyntaxNode& node = tree_.node(statement);
  const std::string& kind = node.kind_name;
  if (kind == "CompoundStmt") {
    for (const int child : node.children) Execute(child, active);
  } else if (kind == "DeclStmt") {
    for (const int child : node.children) {
      if (tree_.node(child).kind_name == "VarDecl") Declare(child, active);
    }
  } else if (kind == "IfStmt") {
    ExecuteIf(statement, active);
  } else if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") {
    ExecuteLoop(statement, active);
  } else if (kind == "ReturnStmt" || kind == "BreakStmt" || kind == "ContinueStmt") {
    Jump(statement, active);
  } else if (!node.type.empty()) {
    Evaluate(statement, active);
  } else if (kind != "NullStmt" && kind != kPragmaKind) {
    Refuse(fmt::format("{} is not understood", Quoted(statement)));
  }
}

void GridRun::ExecuteIf(int statement, const Mask& mask) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return static_cast<void>(Refuse("an `if` with a declaration is not understood"));
  const Mask yes = Where(parts[0], mask);
  Mask no = mask;
  for (std::size_t lane = 0; lane < lanes_; ++lane) no[lane] = mask[lane] && !yes[lane];
  Execute(parts[1], yes);
  if (parts.size() == 3) Execute(parts[2], no);
}

void GridRun::ExecuteLoop(int statement, const Mask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  int condition = -1, body = -1, increment = -1;
  const bool body_first = node.kind_name == "DoStmt";
  if (node.kind_name == "ForStmt") {
    const auto loop = AsForLoop(tree_, statement);
    if (!loop) return static_cast<void>(Refuse("a for loop has no start, condition or increment"));
    Execute(loop->init, mask);
    condition = loop->condition;
    body = loop->body;
    increment = loop->increment;
  } else {
    condition = node.children[body_first ? 1 : 0];
    body = node.children[body_first ? 0 : 1];
  }
  const Mask outer_broken = std::exchange(broken_, Mask(lanes_, 0));
  const Mask outer_continued = std::exchange(continued_, Mask(lanes_, 0));
  Mask on = mask;
  for (bool first = true; !refused(); first = false) {
    on = Active(on);
    if ((!first || !body_first) && AnyLane(on)) on = Where(condition, on);
    if (refused() || !AnyLane(on)) break;
    Execute(body, on);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (continued_[lane]) off_[lane] = continued_[lane] = 0;
    }
    if (increment >= 0) {
      const Mask active = Active(on);
      if (AnyLane(active)) Evaluate(increment, active);
    }
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (broken_[lane]) off_[lane] = 0;
  }
  broken_ = outer_broken;
  continued_ = outer_continued;
}

void GridRun::Jump(int statement, const Mask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  const bool returns = node.kind_name == "ReturnStmt";
  if (returns && !node.children.empty()) {
    const int value = node.children.front();
    const std::string& function = tree_.node(node.function).type;
    const LaneValues values =
        Converted(Evaluate(value, mask), tree_.node(value).type, function.substr(0, function.find(" (")), value, mask);
    if (returned_.numbers.size() != lanes_) returned_ = LaneValues(lanes_, 0, Knowledge::kUnknown);
    returned_.memory = values.memory;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!mask[lane]) continue;
      returned_.numbers[lane] = values.numbers[lane];
      returned_.known[lane] = values.known[lane];
    }
  }
  Mask& jumped = returns ? exited_ : node.kind_name == "BreakStmt" ? broken_ : continued_;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    off_[lane] = 1;
    if (!returns || depth_ == 0) jumped[lane] = 1;
  }
}

void GridRun::Barrier(const Mask& mask) {
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane] == exited_[lane]) return static_cast<void>(Refuse("not all threads of a block reach a barrier together"));
  }
  ++phase_;
}

void GridRun::WarpBarrier(const Mask& mask) {
  for (std::size_t warp = 0; warp * 32 < lanes_; ++warp) {
    int reach = 0, miss = 0;
    for (std::size_t lane = warp * 32; lane < std::min(lanes_, warp * 32 + 32); ++lane) {
      reach += mask[lane];
      miss += !mask[lane] && !exited_[lane];
    }
    if (reach > 0 && miss > 0) Refuse("not all threads of a warp reach __syncwarp together");
    warp_phases_[warp] += reach > 0;
  }
}

}  // namespace evo
