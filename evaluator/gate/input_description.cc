// Describe (input_program.h): an input program in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "evaluator/gate/input_program.h"
#include "kernel_templates/generator.h"

namespace evo {
namespace {

using Kind = InputChange::Kind;

constexpr double kHalf = 0.5;
constexpr double kRest = 1e-3;  // as kAlternate's default

std::string Shown(double number) { return fmt::format("{:.6g}", number); }

std::string Shifted(double amount) { return fmt::format("{} {}", amount < 0 ? "minus" : "plus", Shown(std::abs(amount))); }

std::string Named(double value) {
  if (std::isinf(value) || value == 0) return Shown(value);
  return fmt::format("{} {}", value < 0 ? "dip" : "spike", Shown(value));
}

// An element as row and column; one row needs no number.
std::string Element(const std::string& what, std::size_t index, const Rows& rows) {
  if (rows.rows() <= 1) return fmt::format("{} at element {}", what, index);
  return fmt::format("row {}, {} at column {}", index / rows.length, what, index % rows.length);
}

std::string Share(const InputChange& change) {
  const double share = change.numbers.size() > 1 ? change.numbers[1] : kHalf;
  return share == kHalf ? "half" : fmt::format("{:.3g}%", 100 * share);
}

std::string DescribeStructure(const InputChange& change) {
  switch (change.kind) {
    case Kind::kAbs:
      return "absolute values";
    case Kind::kSortAscending:
      return "every row ascending";
    case Kind::kSortDescending:
      return "every row descending";
    case Kind::kReverse:
      return "every row reversed";
    case Kind::kShuffle:
      return "every row shuffled";
    case Kind::kEqualRows:
      return "every row like the first";
    case Kind::kConstantRows:
      return "every row constant";
    case Kind::kAllSmallest:
      return "all elements the smallest";
    case Kind::kAllLargest:
      return "all elements the largest";
    default:
      return ToText(change);
  }
}

std::string DescribeChange(const InputChange& change, const Rows& rows, Rng stream) {
  const double last = change.numbers.empty() ? 0 : change.numbers.back();
  const std::size_t columns = std::min(rows.length, rows.count);
  const auto place = [&](std::size_t size) {
    return change.numbers.size() == 1 ? DrawPlace(change, rows, stream) : Wrap(change.numbers[0], size);
  };
  switch (change.kind) {
    case Kind::kScale:
      return fmt::format("times {}", Shown(last));
    case Kind::kShift:
      return Shifted(last);
    case Kind::kRound:
      return fmt::format("rounded to multiples of {}", Shown(last));
    case Kind::kScaleRow:
      return fmt::format("row {} times {}", place(rows.rows()), Shown(last));
    case Kind::kShiftRow:
      return fmt::format("row {} {}", place(rows.rows()), Shifted(last));
    case Kind::kScaleColumn:
      return fmt::format("column {} times {}", place(columns), Shown(last));
    case Kind::kScaleRows:
      return fmt::format("rows times {} to {}", Shown(change.numbers[0]), Shown(last));
    case Kind::kSpike:
      if (change.numbers.size() == 1) return Element(Named(last), DrawPlace(change, rows, stream), rows);
      return fmt::format("{} at column {} of every row", Named(change.numbers[0]), Wrap(last, columns));
    case Kind::kSpikes:
      return fmt::format("{} at a random column of every row", Named(last));
    case Kind::kMaskFirst:
      return fmt::format("first {} of every row {}", Share(change), Shown(change.numbers[0]));
    case Kind::kMaskSecond:
      return fmt::format("last {} of every row {}", Share(change), Shown(change.numbers[0]));
    case Kind::kMaskRandom:
      return fmt::format("random {} of the elements {}", Share(change), Shown(change.numbers[0]));
    case Kind::kRamp:
      return fmt::format("plus a ramp from {} to {} along every row", Shown(change.numbers[0]), Shown(last));
    case Kind::kAlternate:
      return fmt::format("each second value cancels the one before it to {} of itself",
                         Shown(change.numbers.empty() ? kRest : last));
    case Kind::kRepeat:
      return fmt::format("runs of {} equal values", Shown(last));
    case Kind::kSet:
      return Element(Shown(last), Wrap(change.numbers[0], rows.count), rows);
    case Kind::kTakeAll:
      return fmt::format("row {} has all elements", Wrap(last, std::max<std::size_t>(rows.count, 2) - 1));
    default:
      return DescribeStructure(change);
  }
}

std::string BaseName(const Generator& base) {
  return base.kind == Generator::Kind::kNormal && base.a == 0 && base.b == 1 ? "normal" : ToText(base);
}

}  // namespace

std::string Describe(const InputProgram& program, const Task& task, const Case& sizes) {
  if (program.arguments.empty()) return "as drawn for timing";
  const Variables variables = CaseVariables(task, sizes);
  std::vector<std::string> arguments;
  for (const Argument& argument : task.arguments) {
    const auto found = program.arguments.find(argument.name);
    if (found == program.arguments.end()) continue;
    std::string text = fmt::format("{}: {}", argument.name, BaseName(found->second.base));
    const Rows rows = RowsOf(argument, variables);
    for (std::size_t i = 0; i < found->second.changes.size(); ++i) {
      const Rng stream = StreamOf(program, task, sizes, argument.name, i);
      text += fmt::format("; {}", DescribeChange(found->second.changes[i], rows, stream));
    }
    arguments.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(arguments, ". "));
}

}  // namespace evo
