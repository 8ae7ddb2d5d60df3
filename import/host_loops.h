#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/host_calls.h"
#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// A variable that a loop of the host changes once in each iteration.
struct LoopVariable {
  std::string name;
  HostExpression next;                 // what it becomes, in terms of names of the host
  SourceRange update;                  // where that stands; in the head of a for loop it counts as behind the body
  std::optional<SourceRange> initial;  // in the head of the loop
  bool in_body = false;
};

// A loop of the host around launches, or around calls of what launches.
struct HostLoop {
  int function = -1;
  SourceRange range;
  SourceRange body;
  std::vector<std::string_view> condition;
  bool at_least_once = false;  // do .. while
  SourceRange own_break;       // of `while (true)`: the break behind the condition that ends it; empty if there is none
  std::vector<LoopVariable> variables;

  const LoopVariable* Find(const std::string& name) const;
};

// The loops around the launches of a program, in the order of the text.
std::vector<HostLoop> ReadHostLoops(const SourceProgram& program, const HostCalls& calls);
// All other loops of host code.
std::vector<HostLoop> ReadPlainLoops(const SourceProgram& program, const HostCalls& calls);
// Of such loops the last before a place that multiplies or divides a variable; nullptr if there is none. `at`: 0 for the end of
// the function.
const HostLoop* PlainLoopThatScales(const SourceProgram& program, const std::vector<HostLoop>& loops,
                                    const ProgramVariable& variable, std::uint32_t at);

// A loop before `at` that counts its turns in a variable that begins with 0: `while ((1 << steps) < n) steps++;`, or by the side
// of one that it doubles or halves. The loop is nullptr if there is none.
struct CountingLoop {
  const HostLoop* loop = nullptr;
  HostExpression turns;
};
CountingLoop LoopThatCounts(const SourceProgram& program, const std::vector<HostLoop>& loops, const ProgramVariable& variable,
                            std::uint32_t at);

// How a variable changes: by a sum, by a factor, or by a divisor.
struct LoopRule {
  enum class Kind { kAdd, kTimes, kDivide, kCeilDivide };
  Kind kind = Kind::kAdd;
  HostExpression by;  // negative for a loop that counts down

  bool IsGeometric() const { return kind != Kind::kAdd; }
  // The value after `steps` iterations.
  HostExpression ValueAfter(const HostExpression& start, const HostExpression& steps) const;
};

// The rule of `label`, which becomes `next`; nullopt if it follows none.
std::optional<LoopRule> RuleOf(const std::string& label, const HostExpression& next);

// How often a loop runs whose variable begins with `start` and must meet `OP bound`; nullopt if the rule does not tell.
std::optional<HostExpression> IterationsOf(const LoopRule& rule, const HostExpression& start, std::string_view op,
                                           const HostExpression& bound);
// What `name` is behind a loop that makes `next` of it in each iteration, and begins with `start`; nullopt if the rule or the
// condition is not understood.
std::optional<HostExpression> ValueAfterLoop(const std::string& name, const HostExpression& start, const HostExpression& next,
                                             const HostExpression& condition);

// A comparison of a loop's condition, the variable on the left.
struct LoopComparison {
  std::string variable;
  std::string op;
  HostExpression bound;
};
// All those of a condition that are of variables of this kind, joined by `&&`.
std::vector<LoopComparison> ComparisonsOf(const HostExpression& condition,
                                          const std::function<bool(const std::string&)>& is_variable);

}  // namespace evo
