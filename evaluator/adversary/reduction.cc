#include "evaluator/adversary/reduction.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/adversary/number_mutation.h"
#include "kernel_templates/generator.h"

namespace evo {
namespace {

class Reduction {
 public:
  Reduction(InputProgram program, const std::function<bool(const InputProgram&)>& still_fails, int most)
      : program_(std::move(program)), still_fails_(still_fails), left_(most) {}

  // Takes the simpler program if that fails, too.
  bool Try(InputProgram simpler) {
    if (left_ <= 0 || ToText(simpler) == ToText(program_)) return false;
    --left_;
    if (!still_fails_(simpler)) return false;
    program_ = std::move(simpler);
    return true;
  }
  const InputProgram& program() const { return program_; }

 private:
  InputProgram program_;
  const std::function<bool(const InputProgram&)>& still_fails_;
  int left_;
};

std::vector<std::string> NamesOf(const InputProgram& program) {
  std::vector<std::string> names;
  for (const auto& [name, argument] : program.arguments) names.push_back(name);
  return names;
}

void DropArguments(Reduction& reduction) {
  for (const std::string& name : NamesOf(reduction.program())) {
    InputProgram simpler = reduction.program();
    simpler.arguments.erase(name);
    reduction.Try(std::move(simpler));
  }
}

// From the last one: later changes hide earlier ones.
bool DropChanges(Reduction& reduction, const std::string& name) {
  bool dropped = false;
  for (std::size_t i = reduction.program().arguments.at(name).changes.size(); i-- > 0;) {
    InputProgram simpler = reduction.program();
    std::vector<InputChange>& changes = simpler.arguments[name].changes;
    changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(i));
    dropped = reduction.Try(std::move(simpler)) || dropped;
  }
  return dropped;
}

void SimplifyBase(Reduction& reduction, const Argument& argument) {
  std::vector<Generator> simple{argument.generators.front()};
  if (IsFloating(argument.dtype)) {
    simple.push_back(ParseGenerator("normal"));
    simple.push_back(ParseGenerator("constant(0)"));
  }
  for (const Generator& base : simple) {
    InputProgram simpler = reduction.program();
    ArgumentProgram& own = simpler.arguments[argument.name];
    const auto fits = [&](const InputChange& change) { return Fits(change.kind, base.kind, argument.dtype); };
    if (!std::ranges::all_of(own.changes, fits)) continue;
    own.base = base;
    if (reduction.Try(std::move(simpler))) return;
  }
}

void RoundNumbers(Reduction& reduction, const std::string& name) {
  for (std::size_t i = 0; i < reduction.program().arguments.at(name).changes.size(); ++i) {
    for (std::size_t j = 0; j < reduction.program().arguments.at(name).changes[i].numbers.size(); ++j) {
      const InputChange& change = reduction.program().arguments.at(name).changes[i];
      // A place is a place: a round one is no simpler.
      if (RolesOf(change)[j] == NumberRole::kPlace || RolesOf(change)[j] == NumberRole::kCount) continue;
      for (const int digits : {1, 2}) {
        InputProgram simpler = reduction.program();
        double& number = simpler.arguments[name].changes[i].numbers[j];
        number = RoundToDigits(number, digits);
        if (reduction.Try(std::move(simpler))) break;
      }
    }
  }
}

}  // namespace

InputProgram Reduced(InputProgram program, const Task& task, const std::function<bool(const InputProgram&)>& still_fails,
                     int most) {
  Reduction reduction(std::move(program), still_fails, most);
  DropArguments(reduction);
  for (const std::string& name : NamesOf(reduction.program())) {
    while (DropChanges(reduction, name)) {
    }
    const auto argument = std::ranges::find(task.arguments, name, &Argument::name);
    if (argument == task.arguments.end()) continue;
    SimplifyBase(reduction, *argument);
    RoundNumbers(reduction, name);
  }
  return reduction.program();
}

}  // namespace evo
