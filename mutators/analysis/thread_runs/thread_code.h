#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "mutators/analysis/numbers/expression_kinds.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/thread_runs/thread_node.h"
#include "mutators/analysis/thread_runs/thread_structs.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What runs of a kernel's threads share: what the nodes of its code are, and for how long all these runs together may compute.
// All that depends on nothing but the code is decided once, since threads come by many times.
class ThreadCode {
 public:
  // The tree outlives the object.
  explicit ThreadCode(const SyntaxTree& tree);

  const ThreadNode& At(int node) {
    const ThreadNode& known = nodes_[static_cast<std::size_t>(node)];
    return known.decided ? known : Decided(node);
  }
  // By ThreadNode::detail.
  const ThreadConstant& constant(int number) {
    const ThreadConstant& known = constants_[static_cast<std::size_t>(number)];
    return known.resolved ? known : Resolved(number);
  }
  std::size_t constants() const { return constants_.size(); }
  const ThreadCall& call(int number) const { return calls_[static_cast<std::size_t>(number)]; }
  const ThreadLoop& loop(int number) const { return loops_[static_cast<std::size_t>(number)]; }
  // The number of a declaration among those of all variables, for memory that is dense.
  std::size_t SlotOf(int declaration) const { return static_cast<std::size_t>(slots_[static_cast<std::size_t>(declaration)]); }
  bool IsVariable(int node) const { return slots_[static_cast<std::size_t>(node)] >= 0; }
  const ThreadVariable& variable(int declaration) const { return variables_[SlotOf(declaration)]; }
  const ThreadVariable& variable_at(std::size_t slot) const { return variables_[slot]; }
  std::size_t variables() const { return variables_.size(); }
  const ThreadStructs& structs() const { return structs_; }

  // To be called for each expression that a thread computes. False if all runs so far have computed more than a breed worker has
  // time for. It counts expressions and not seconds, so that a child depends on its parents alone.
  bool Affords() { return ++steps_.taken <= steps_.most; }
  // Before a run: it ends when it has computed as much as a question may (StepBudget).
  void Limit() { steps_.most = std::min(kMostSteps, steps_.taken + StepBudget::Left()); }
  // How many these were so far, and that those since then do not count, since they are computed once more.
  std::int64_t steps() const { return steps_.taken; }
  void TakeBack(std::int64_t steps) { steps_.taken = steps; }

 private:
  // Some seconds, which a template whose threads work together may take once (IsKnownElsewhere). Tiled products and convolutions
  // of others take 15 to 35 million, one of them more than 40.
  static constexpr std::int64_t kMostSteps = 100'000'000;

  void AddVariable(int declaration);
  const ThreadNode& Decided(int node);
  void Decide(int node, ThreadNode& decided);
  bool IsPlain(int node, const ThreadNode& decided) const;
  const ThreadConstant& Resolved(int number);
  void DecideExpression(int node, ThreadNode& decided);
  void DecideUnary(int node, ThreadNode& decided);
  void DecideBinary(int node, ThreadNode& decided);
  void DecideSubscript(int node, ThreadNode& decided);
  void DecidePlace(int node, ThreadNode& decided);
  void DecideStatement(int node, ThreadNode& decided);
  int AddConstant(int node);
  int AddCall(int node);
  bool SaysTheSame(int node) const;

  const SyntaxTree& tree_;
  ExpressionKinds kinds_;
  ThreadStructs structs_;
  std::vector<ThreadNode> nodes_;
  std::vector<int> slots_;  // by node; -1 for what is no declaration
  std::vector<ThreadVariable> variables_;
  std::deque<ThreadConstant> constants_;
  std::deque<ThreadCall> calls_;
  std::vector<ThreadLoop> loops_;
  struct Steps {
    std::int64_t taken = 0;
    std::int64_t most = kMostSteps;
  };
  Steps steps_;
};

}  // namespace evo
