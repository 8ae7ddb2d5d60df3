#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// `evo:launch kernel<T...>(args...) grid(..) block(..) shared(..) cluster(..) cooperative when(..)`
struct LaunchDirective {
  std::string kernel;                          // function name, with its namespaces: "mylib::k"
  std::string kernel_expression;               // with its template arguments: "attention_split<BLOCK_M>"
  std::vector<std::string> arguments;          // as written: names, expressions, casts, structs (launch_argument.h)
  std::vector<Expression> grid;                // one to three values
  std::vector<Expression> block;               // one to three values
  Expression shared = Expression::Parse("0");  // dynamic shared memory, bytes
  std::vector<Expression> cluster;             // none or three values
  bool cooperative = false;
  std::optional<Expression> when;  // launched only if this is not zero
  int line = 0;                    // in the source, from 1
};

// `evo:memset NAME VALUE`: sets every byte of a workspace or output to VALUE before the next step.
struct MemsetDirective {
  std::string buffer;
  int value = 0;
  int line = 0;
};

// `evo:constant VARIABLE = ARGUMENT`: before the launches, outside the time, the `__constant__` variable gets the contents of an
// input or of a scalar argument. Both have as many bytes.
struct ConstantDirective {
  std::string variable;  // as an expression of the source names it: "weights", "filters::weights"
  std::string argument;  // of the task
  int line = 0;
};

// `evo:swap A B`: two buffers of equal dtype and number of elements exchange their names.
struct SwapDirective {
  std::string first;
  std::string second;
  int line = 0;
};

// `evo:repeat STEP < COUNT`: the lines up to `evo:end` run COUNT times, and expressions in them know STEP, which counts from 0.
struct RepeatDirective {
  std::string step;
  Expression count = Expression::Parse("0");
  std::vector<SwapDirective> swaps;  // after each iteration, in this order; what they exchange stays so behind the loop
  int line = 0;
};

// One of: a launch, a memset, the begin or the end of a loop. Steps run in the order in which they are written.
struct Step {
  std::optional<LaunchDirective> launch;
  std::optional<MemsetDirective> memset;
  std::optional<RepeatDirective> repeat;
  bool end = false;  // of the loop that began last
};

// Reads the directives that say what runs, in their order. Errors say what is wrong but neither file nor line.
class StepReader {
 public:
  // False for a word of another kind. Throws Error.
  bool Take(std::string_view word, const std::string& text, int line);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<ConstantDirective>& constants() const { return constants_; }
  // The line of the innermost loop without an end; 0 if there is none.
  int OpenLoop() const { return loops_.empty() ? 0 : steps_[loops_.back()].repeat->line; }

 private:
  void TakeConstant(ConstantDirective constant);
  void TakeRepeat(RepeatDirective repeat);
  void TakeSwap(SwapDirective swap);
  void TakeEnd(const std::string& text);

  std::vector<Step> steps_;
  std::vector<ConstantDirective> constants_;
  std::vector<std::size_t> loops_;  // steps that begin loops which are still open, outermost first
};

// The expressions that commas separate. Throws Error.
std::vector<Expression> ParseExpressions(std::string_view text);

}  // namespace evo
