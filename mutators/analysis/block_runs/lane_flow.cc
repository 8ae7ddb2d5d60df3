#include "mutators/analysis/block_runs/lane_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Turns of a loop that waits for something that never comes.
constexpr int kMostWaiting = 40;

}  // namespace

LaneFlow::LaneFlow(const SyntaxTree& tree, LaneStatements& statements, Refusal& refusal, std::int64_t most_steps)
    : tree_(tree), statements_(statements), refusal_(refusal), most_steps_(most_steps) {}

void LaneFlow::RunKernel(int body, std::size_t lanes) {
  steps_ = 0;
  depth_ = 0;
  off_ = broken_ = continued_ = returned_ = LaneMask(lanes, 0);
  Execute(body, LaneMask(lanes, 1));
}

void LaneFlow::RunFunction(int body, const LaneMask& mask) {
  const LaneMask off = off_;
  ++depth_;
  Execute(body, mask);
  --depth_;
  off_ = off;
}

bool LaneFlow::IsWholeBlock(const LaneMask& mask) const {
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (mask[lane] == returned_[lane]) return false;
  }
  return true;
}

bool LaneFlow::IsWholeWarp(const LaneMask& mask, std::size_t warp) const {
  for (std::size_t lane = warp * kWarpLanes; lane < std::min(mask.size(), (warp + 1) * kWarpLanes); ++lane) {
    if (mask[lane] == returned_[lane]) return false;
  }
  return true;
}

void LaneFlow::CountStep() {
  if (++steps_ > most_steps_) refusal_.Add("its loops do not end, or not soon");
}

void LaneFlow::Execute(int statement, const LaneMask& mask) {
  if (refusal_.given()) return;
  const LaneMask active = Active(mask);
  if (!AnyLane(active)) return;
  CountStep();
  if (refusal_.given() || !statements_.Enter(statement, active)) return;
  const SyntaxNode& node = tree_.node(statement);
  const std::string& kind = node.kind_name;
  if (kind == "CompoundStmt") {
    for (const int child : node.children) Execute(child, active);
  } else if (kind == "DeclStmt") {
    for (const int child : node.children) {
      if (tree_.node(child).kind_name == "VarDecl") statements_.Declare(child, active);
    }
  } else if (kind == "IfStmt") {
    ExecuteIf(statement, active);
  } else if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") {
    ExecuteLoop(statement, active);
  } else if (kind == "ReturnStmt" || kind == "BreakStmt" || kind == "ContinueStmt") {
    Jump(statement, active);
  } else if (!node.type.empty()) {
    statements_.Compute(statement, active);
  } else if (kind != "NullStmt" && kind != kPragmaKind) {
    refusal_.Add(fmt::format("{} is not understood", Quoted(tree_, statement)));
  }
}

void LaneFlow::ExecuteIf(int statement, const LaneMask& mask) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return refusal_.Add("an `if` with a declaration is not understood");
  const LaneMask yes = statements_.Where(parts[0], mask);
  if (refusal_.given()) return;
  Execute(parts[1], yes);
  if (parts.size() == 3) Execute(parts[2], Without(mask, yes));
}

bool LaneFlow::HasNoBody(int body) const {
  const SyntaxNode& node = tree_.node(body);
  return node.kind_name == "NullStmt" || (node.kind_name == "CompoundStmt" && node.children.empty());
}

void LaneFlow::ExecuteLoop(int statement, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  int condition = -1, body = -1, increment = -1;
  const bool body_first = node.kind_name == "DoStmt";
  if (node.kind_name == "ForStmt") {
    const auto loop = AsAnyForLoop(tree_, statement);
    if (!loop) return refusal_.Add(fmt::format("{} is not understood", Quoted(tree_, statement)));
    if (loop->init >= 0) Execute(loop->init, mask);
    condition = loop->condition;
    body = loop->body;
    increment = loop->increment;
  } else {
    condition = node.children[body_first ? 1 : 0];
    body = node.children[body_first ? 0 : 1];
  }
  const LaneMask outer_broken = std::exchange(broken_, LaneMask(mask.size(), 0));
  const LaneMask outer_continued = std::exchange(continued_, LaneMask(mask.size(), 0));
  LaneMask on = mask;
  const bool waits = increment < 0 && HasNoBody(body);
  int turns = 0;
  for (bool first = true; !refusal_.given(); first = false) {
    on = Active(on);
    if (waits) statements_.Wait(true);
    if (condition >= 0 && (!first || !body_first) && AnyLane(on)) on = statements_.Where(condition, on);
    if (waits) statements_.Wait(false);
    // The blocks before this one have done all that they do.
    if (waits && AnyLane(on) && ++turns > kMostWaiting) refusal_.Add("it waits for what no block before does");
    if (refusal_.given() || !AnyLane(on)) break;
    Execute(body, on);
    for (std::size_t lane = 0; lane < mask.size(); ++lane) {
      if (continued_[lane]) off_[lane] = continued_[lane] = 0;
    }
    if (increment >= 0) Execute(increment, on);
    CountStep();
  }
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (broken_[lane]) off_[lane] = 0;
  }
  broken_ = outer_broken;
  continued_ = outer_continued;
}

void LaneFlow::Jump(int statement, const LaneMask& mask) {
  const std::string& kind = tree_.node(statement).kind_name;
  const bool returns = kind == "ReturnStmt";
  LaneMask& jumped = returns ? returned_ : kind == "BreakStmt" ? broken_ : continued_;
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    off_[lane] = 1;
    if (!returns || depth_ == 0) jumped[lane] = 1;
  }
}

}  // namespace evo
