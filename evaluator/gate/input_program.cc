#include "evaluator/gate/input_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/generator.h"

namespace evo {
namespace {

// A bound with an operator that separates changes, too, is written in parentheses.
std::string BaseText(const Generator& base) {
  Generator written = base;
  if (base.bound.text().find('|') != std::string::npos && base.bound.text().front() != '(')
    written.bound = Expression::Parse(fmt::format("({})", base.bound.text()));
  return ToText(written);
}

// Splits at the separator outside of parentheses, and trims the parts.
std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != separator || depth > 0)) continue;
    parts.push_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

// Throws Error unless everything that the program makes is a legal value of the argument.
void CheckFits(const ArgumentProgram& program, const Argument& argument) {
  const std::string base = BaseText(program.base);
  if (!Fits(program.base.kind, argument.dtype)) throw Error(fmt::format("'{}' cannot fill {}", base, ToString(argument.dtype)));
  const bool own = std::any_of(argument.generators.begin(), argument.generators.end(),
                               [&](const Generator& one) { return BaseText(one) == base; });
  if (!IsFloating(argument.dtype) && !own) throw Error(fmt::format("'{}' is not one of the argument's generators", base));
  for (const InputChange& change : program.changes) {
    if (const std::string fault = Fault(change); !fault.empty()) throw Error(fault);
    if (!Fits(change.kind, program.base.kind, argument.dtype))
      throw Error(fmt::format("'{}' does not fit {} of type {}", ToText(change), base, ToString(argument.dtype)));
  }
}

const Argument& InputNamed(const Task& task, std::string_view name) {
  const auto found = std::find_if(task.arguments.begin(), task.arguments.end(),
                                  [&](const Argument& one) { return one.name == name && one.IsDrawn(); });
  if (found == task.arguments.end()) throw Error(fmt::format("task {} has no input '{}'", task.name, name));
  return *found;
}

std::pair<std::string, ArgumentProgram> ParseArgument(std::string_view text, const Task& task) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw Error(fmt::format("'{}': write ARGUMENT: DISTRIBUTION | CHANGE | ..", text));
  const Argument& argument = InputNamed(task, Trim(text.substr(0, colon)));
  const std::vector<std::string_view> parts = SplitAt(text.substr(colon + 1), '|');
  ArgumentProgram program;
  program.base = ParseGenerator(std::string(parts.front()));
  for (std::size_t i = 1; i < parts.size(); ++i) program.changes.push_back(ParseInputChange(parts[i]));
  CheckFits(program, argument);
  return {argument.name, std::move(program)};
}

// Each case has random streams of its own: from one stream all cases would draw the same numbers.
std::uint64_t SeedOf(const InputProgram& program, const Case& sizes, std::size_t argument) {
  const std::uint64_t stream = program.seed ^ std::stoull(Digest(sizes.name).substr(0, 16), nullptr, 16);
  return Rng(stream, argument + 1, 0).Next();
}

Rng StreamOfChange(std::uint64_t seed, const std::vector<InputChange>& changes, std::size_t position) {
  const auto kind = changes[position].kind;
  const auto before = std::count_if(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(position),
                                    [&](const InputChange& change) { return change.kind == kind; });
  return {seed, static_cast<std::uint64_t>(kind) + 1, static_cast<std::uint64_t>(before)};
}

std::vector<std::byte> DrawArgument(const Argument& argument, const ArgumentProgram& program, const Variables& variables,
                                    std::uint64_t seed) {
  CheckFits(program, argument);
  const Rows rows = RowsOf(argument, variables);
  Rng rng(seed);
  std::vector<double> values = DrawValues(program.base, rows.count, rows.length, variables, rng);
  const bool real = IsFloating(argument.dtype);
  const std::int64_t bound = real ? 0 : program.base.bound.EvaluateInteger(variables);
  const double largest = LargestFinite(argument.dtype);
  for (std::size_t i = 0; i < program.changes.size(); ++i) {
    Rng stream = StreamOfChange(seed, program.changes, i);
    if (real) {
      Apply(program.changes[i], rows, values, stream);
    } else {
      ApplyToIntegers(program.changes[i], program.base, bound, rows, values, stream);
    }
  }
  if (real) {
    for (double& value : values)
      if (std::isfinite(value)) value = std::clamp(value, -largest, largest);
  }
  return FromDoubles(values, argument.dtype);
}

}  // namespace

Rows RowsOf(const Argument& argument, const Variables& variables) {
  return {static_cast<std::size_t>(ElementCount(argument, variables)),
          static_cast<std::size_t>(argument.shape.back().EvaluateInteger(variables))};
}

std::string ToText(const InputProgram& program) {
  std::vector<std::string> arguments;
  for (const auto& [name, argument] : program.arguments) {
    std::string text = fmt::format("{}: {}", name, BaseText(argument.base));
    for (const InputChange& change : argument.changes) text += fmt::format(" | {}", ToText(change));
    arguments.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(arguments, " ; "));
}

InputProgram ParseInputProgram(const std::string& text, std::uint64_t seed, const Task& task) {
  InputProgram program;
  program.seed = seed;
  if (Trim(text).empty()) return program;
  try {
    for (const std::string_view part : SplitAt(text, ';')) {
      auto [name, argument] = ParseArgument(part, task);
      if (!program.arguments.emplace(name, std::move(argument)).second) throw Error(fmt::format("'{}' is there twice", name));
    }
  } catch (const Error& error) {
    throw UsageError(fmt::format("input '{}': {}", text, error.what()));
  }
  return program;
}

Rng StreamOf(const InputProgram& program, const Task& task, const Case& sizes, const std::string& argument,
             std::size_t position) {
  const auto at =
      std::find_if(task.arguments.begin(), task.arguments.end(), [&](const Argument& one) { return one.name == argument; });
  const auto index = static_cast<std::size_t>(at - task.arguments.begin());
  return StreamOfChange(SeedOf(program, sizes, index), program.arguments.at(argument).changes, position);
}

DrawnArguments DrawArguments(const Task& task, const Case& sizes, const InputProgram& program) {
  const Variables variables = CaseVariables(task, sizes);
  const auto draw = [&](std::size_t i) {
    const Argument& argument = task.arguments[i];
    const auto found = program.arguments.find(argument.name);
    const ArgumentProgram own =
        found == program.arguments.end() ? ArgumentProgram{argument.generators.front(), {}} : found->second;
    return DrawArgument(argument, own, variables, SeedOf(program, sizes, i));
  };
  for (const auto& [name, argument] : program.arguments) InputNamed(task, name);
  std::vector<std::optional<std::int64_t>> elements(task.arguments.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (task.arguments[i].IsDrawn()) elements[i] = ElementCount(task.arguments[i], variables);
  }
  return DrawSideBySide(elements, draw);
}

}  // namespace evo
