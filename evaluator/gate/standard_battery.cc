#include "evaluator/gate/standard_battery.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernel_templates/generator.h"

namespace evo {
namespace {

// A hard structure as written after the name of an argument. Without a base the argument's first generator is kept.
struct Structure {
  std::string base;
  std::string changes;  // separated by " | "
};

// These are tried on each real-valued input alone, too. -1000 is far enough for exp of it to be 0, and 200 for exp of it to
// overflow fp32; a mask of -1e9 is what attention uses.
const std::vector<Structure>& Hardest() {
  static const std::vector<Structure> kHardest = {
      {"", "spike(200)"},
      {"", "mask_second(-1e9)"},
      {"", "spike(-200,0)"},
      {"", "scale(30)"},
      {"", "abs | scale(-1) | shift(-1000)"},
      {"", "mask_second(-inf)"},
      {"", "scale_row(100)"},
      {"", "scale(1e-6)"},
      {"", "ramp(-100,100)"},
      {"", "alternate"},
      {"log_uniform(1e-6,1e6)", ""},
      {"cauchy(1)", ""},
      {"", "shift(1000)"},
      {"", "equal_rows"},
      {"one_hot", "scale(100)"},
  };
  return kHardest;
}

// Warps have 32 lanes, and blocks most often 128, 256 or 1024 threads.
constexpr std::int64_t kBoundaries[] = {31, 32, 127, 128, 255, 256, 1023, 1024};
constexpr std::int64_t kBoundariesOfDips[] = {31, 32, 128, 256};

// Scales at which the type loses digits (denormal numbers) or is near its largest value.
std::vector<Structure> ExtremeScales(Dtype dtype) {
  if (dtype == Dtype::kF16) return {{"", "scale(1e-6)"}, {"", "scale(1e-4)"}, {"", "scale(100)"}, {"", "scale(10000)"}};
  if (dtype == Dtype::kF64) return {{"", "scale(1e-310)"}, {"", "scale(1e-20)"}, {"", "scale(1e6)"}, {"", "scale(1e100)"}};
  return {{"", "scale(1e-40)"}, {"", "scale(1e-20)"}, {"", "scale(1e6)"}, {"", "scale(1e15)"}};
}

// The others, with places inside rows of that length only.
std::vector<Structure> Further(std::int64_t row_length, Dtype dtype) {
  std::vector<Structure> further = {
      {"", "ramp(100,-100)"},
      {"", "spike(200,0)"},
      {"", "spike(200,-1)"},
      {"", "spikes(200)"},
      {"", "mask_first(-1e9)"},
      {"", "mask_first(-inf)"},
      {"", "spike(-200)"},
      {"", "spike(-200,-1)"},
      {"", "scale(1e-3)"},
      {"", "scale(1000)"},
      {"", "sort_ascending"},
      {"", "sort_descending"},
      {"", "constant_rows"},
      {"", "mask_random(-inf)"},
      {"", "mask_second(0)"},
      {"", "spikes(10)"},
      {"", "scale(4)"},
      {"", "abs"},
      {"", "shift(100000)"},
      {"", "scale(0)"},
      {"", "scale_rows(1e-4,1e4)"},
      {"", "mask_random(1e4,0.01)"},
      {"one_hot", ""},
      {"", "mask_second(-inf,0.99)"},
  };
  for (const Structure& scale : ExtremeScales(dtype)) further.push_back(scale);
  for (const std::int64_t column : kBoundaries)
    if (column < row_length) further.push_back({"", fmt::format("spike(200,{})", column)});
  for (const std::int64_t column : kBoundariesOfDips)
    if (column < row_length) further.push_back({"", fmt::format("spike(-200,{})", column)});
  return further;
}

ArgumentProgram Programmed(const Structure& structure, const Argument& argument) {
  ArgumentProgram program;
  program.base = structure.base.empty() ? argument.generators.front() : ParseGenerator(structure.base);
  std::size_t begin = 0;
  while (begin < structure.changes.size()) {
    const std::size_t end = std::min(structure.changes.find('|', begin), structure.changes.size());
    program.changes.push_back(ParseInputChange(structure.changes.substr(begin, end - begin)));
    begin = end + 1;
  }
  return program;
}

InputProgram OnAll(const Structure& structure, const std::vector<const Argument*>& arguments) {
  InputProgram program;
  for (const Argument* argument : arguments) program.arguments[argument->name] = Programmed(structure, *argument);
  return program;
}

std::vector<Structure> OfIntegers(Generator::Kind kind) {
  switch (kind) {
    case Generator::Kind::kIndex:
      return {{"", "all_largest"}, {"", "all_smallest"}, {"", "sort_ascending"}, {"", "sort_descending"},
              {"", "repeat(32)"},  {"", "repeat(2)"},    {"", "equal_rows"}};
    case Generator::Kind::kPermutation:
      return {{"", "sort_ascending"}, {"", "sort_descending"}};
    case Generator::Kind::kOffsets:
      return {{"", "take_all(0)"}, {"", "take_all(-1)"}, {"", "take_all(17)"}};
    default:
      return {};
  }
}

std::vector<const Argument*> Inputs(const Task& task, bool real) {
  std::vector<const Argument*> inputs;
  for (const Argument& argument : task.arguments) {
    if (!argument.generators.empty() && IsFloating(argument.dtype) == real) inputs.push_back(&argument);
  }
  return inputs;
}

std::vector<InputProgram> RealPrograms(const Task& task, const Variables& variables, std::size_t most) {
  const std::vector<const Argument*> inputs = Inputs(task, true);
  if (inputs.empty()) return {};
  std::int64_t longest = 0;
  for (const Argument* input : inputs) longest = std::max(longest, input->shape.back().EvaluateInteger(variables));
  const std::vector<Structure> further = Further(longest, inputs.front()->dtype);
  const std::size_t together = Hardest().size() + further.size();
  const std::size_t alone = inputs.size() == 1 || most <= together ? 0 : (most - together) / inputs.size();
  std::vector<InputProgram> programs;
  for (std::size_t i = 0; i < Hardest().size(); ++i) {
    programs.push_back(OnAll(Hardest()[i], inputs));
    for (const Argument* input : inputs)
      if (i < alone) programs.push_back(OnAll(Hardest()[i], {input}));
  }
  for (const Structure& structure : further) programs.push_back(OnAll(structure, inputs));
  return programs;
}

std::vector<InputProgram> IntegerPrograms(const Task& task) {
  std::vector<InputProgram> programs;
  for (const Argument* input : Inputs(task, false)) {
    std::vector<std::string> seen;
    for (const Generator& generator : input->generators) {
      if (std::ranges::find(seen, ToText(generator)) != seen.end()) continue;
      seen.push_back(ToText(generator));
      for (const Structure& structure : OfIntegers(generator.kind)) {
        programs.push_back(OnAll(structure, {input}));
        programs.back().arguments.begin()->second.base = generator;
      }
    }
  }
  return programs;
}

}  // namespace

std::vector<InputProgram> StandardBattery(const Task& task, const Case& sizes, std::uint64_t seed, std::size_t most) {
  std::vector<InputProgram> programs = IntegerPrograms(task);
  const std::size_t left = most > programs.size() ? most - programs.size() : 0;
  for (InputProgram& program : RealPrograms(task, CaseVariables(task, sizes), left)) programs.push_back(std::move(program));
  for (std::size_t i = 0; i < programs.size(); ++i) programs[i].seed = Rng(seed, 1, i).Next();
  if (programs.size() <= most) return programs;
  std::vector<InputProgram> spread;
  for (std::size_t i = 0; i < most; ++i) spread.push_back(programs[i * programs.size() / most]);
  return spread;
}

}  // namespace evo
