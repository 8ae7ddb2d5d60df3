#include "kernel_templates/step_directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

// A name with or without namespaces: "weights", "filters::weights".
bool IsQualifiedName(std::string_view text) {
  for (std::size_t at = text.find("::"); at != std::string_view::npos; at = text.find("::")) {
    if (!IsIdentifier(text.substr(0, at))) return false;
    text.remove_prefix(at + 2);
  }
  return IsIdentifier(text);
}

void AddClause(LaunchDirective& launch, const LaunchClause& clause, const std::string& text) {
  if (clause.name == "cooperative" && !clause.inside) {
    launch.cooperative = true;
    return;
  }
  std::vector<Expression> values;
  if (clause.inside) values = ParseExpressions(clause.inside->Of(text));
  const auto count = [&](std::size_t least, std::size_t most) {
    if (values.size() >= least && values.size() <= most) return;
    const std::string range = least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
    throw Error(fmt::format("evo:launch {}: {}(..) takes {} values, not {}", launch.kernel, clause.name, range, values.size()));
  };
  if (clause.name == "grid" || clause.name == "block") {
    count(1, 3);
    (clause.name == "grid" ? launch.grid : launch.block) = std::move(values);
  } else if (clause.name == "shared") {
    count(1, 1);
    launch.shared = values[0];
  } else if (clause.name == "when") {
    count(1, 1);
    launch.when = values[0];
  } else if (clause.name == "cluster") {
    count(1, 3);
    launch.cluster = std::move(values);
    launch.cluster.resize(3, Expression::Parse("1"));
  } else {
    throw Error(fmt::format(
        "evo:launch {}: no clause '{}'; there are grid(..), block(..), shared(..), cluster(..), when(..), cooperative",
        launch.kernel, clause.name));
  }
}

LaunchDirective ParseLaunch(const std::string& text) {
  const LaunchLine line = ParseLaunchLine(text);
  LaunchDirective launch;
  launch.kernel = line.kernel.Of(text);
  launch.kernel_expression = launch.kernel;
  if (line.template_arguments) launch.kernel_expression += fmt::format("<{}>", Trim(line.template_arguments->Of(text)));
  launch.arguments = SplitAtCommas(line.arguments.Of(text));
  if (std::find(launch.arguments.begin(), launch.arguments.end(), "") != launch.arguments.end())
    throw Error(fmt::format("evo:launch {}: an argument is empty", launch.kernel));
  for (const LaunchClause& clause : line.clauses) AddClause(launch, clause, text);
  for (const char* needed : {"grid", "block"}) {
    if (line.Find(needed) == nullptr) throw Error(fmt::format("evo:launch {}: no {}(..)", launch.kernel, needed));
  }
  return launch;
}

MemsetDirective ParseMemset(const std::string& text) {
  MemsetDirective memset;
  std::istringstream words(text);
  std::string value;
  std::string more;
  words >> memset.buffer >> value;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), memset.value);
  const bool whole = !value.empty() && read.ec == std::errc() && read.ptr == value.data() + value.size();
  if (!whole || (words >> more) || memset.value < 0 || memset.value > 255 || !IsIdentifier(memset.buffer))
    throw Error("evo:memset: 'NAME value' expected, value a byte from 0 to 255");
  return memset;
}

ConstantDirective ParseConstant(std::string_view text) {
  const std::size_t equals = text.find('=');
  ConstantDirective constant;
  if (equals != std::string_view::npos) {
    constant.variable = Trim(text.substr(0, equals));
    constant.argument = Trim(text.substr(equals + 1));
  }
  if (!IsQualifiedName(constant.variable) || !IsIdentifier(constant.argument))
    throw Error("evo:constant: 'VARIABLE = ARGUMENT' expected, ARGUMENT an input or a scalar of the task");
  return constant;
}

SwapDirective ParseSwap(const std::string& text) {
  SwapDirective swap;
  std::istringstream words(text);
  std::string more;
  words >> swap.first >> swap.second;
  if (!IsIdentifier(swap.first) || !IsIdentifier(swap.second) || (words >> more))
    throw Error("evo:swap: 'A B' expected, two buffers of equal dtype and shape");
  if (swap.first == swap.second) throw Error(fmt::format("evo:swap: '{}' is swapped with itself", swap.first));
  return swap;
}

RepeatDirective ParseRepeat(std::string_view text) {
  const std::size_t less = text.find('<');
  RepeatDirective repeat;
  repeat.step = Trim(text.substr(0, less));
  if (less == std::string_view::npos || !IsIdentifier(repeat.step))
    throw Error("evo:repeat: 'STEP < COUNT' expected, STEP a new name and COUNT an expression");
  repeat.count = Expression::Parse(Trim(text.substr(less + 1)));
  return repeat;
}

template <class Directive>
Directive At(Directive directive, int line) {
  directive.line = line;
  return directive;
}

}  // namespace

std::vector<Expression> ParseExpressions(std::string_view text) {
  std::vector<Expression> expressions;
  for (const std::string& part : SplitAtCommas(text)) expressions.push_back(Expression::Parse(part));
  return expressions;
}

bool StepReader::Take(std::string_view word, const std::string& text, int line) {
  if (word == "launch") {
    steps_.emplace_back().launch = At(ParseLaunch(text), line);
  } else if (word == "memset") {
    steps_.emplace_back().memset = At(ParseMemset(text), line);
  } else if (word == "constant") {
    TakeConstant(At(ParseConstant(text), line));
  } else if (word == "repeat") {
    TakeRepeat(At(ParseRepeat(text), line));
  } else if (word == "swap") {
    TakeSwap(At(ParseSwap(text), line));
  } else if (word == "end") {
    TakeEnd(text);
  } else {
    return false;
  }
  return true;
}

void StepReader::TakeConstant(ConstantDirective constant) {
  for (const ConstantDirective& other : constants_) {
    if (other.variable == constant.variable) throw Error(fmt::format("evo:constant {}: filled twice", constant.variable));
  }
  constants_.push_back(std::move(constant));
}

void StepReader::TakeRepeat(RepeatDirective repeat) {
  for (const std::size_t outer : loops_) {
    if (steps_[outer].repeat->step == repeat.step)
      throw Error(fmt::format("evo:repeat: '{}' is the name of the loop around it", repeat.step));
  }
  loops_.push_back(steps_.size());
  steps_.emplace_back().repeat = std::move(repeat);
}

void StepReader::TakeSwap(SwapDirective swap) {
  if (loops_.empty()) throw Error("evo:swap: outside of a loop; it belongs between evo:repeat and evo:end");
  steps_[loops_.back()].repeat->swaps.push_back(std::move(swap));
}

void StepReader::TakeEnd(const std::string& text) {
  if (!text.empty()) throw Error(fmt::format("evo:end: nothing may follow it, and here is '{}'", text));
  if (loops_.empty()) throw Error("evo:end: no evo:repeat before it");
  loops_.pop_back();
  steps_.emplace_back().end = true;
}

}  // namespace evo
