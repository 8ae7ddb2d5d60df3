#include "evaluator/session/program_checker.h"

#include <fmt/format.h>

#include <utility>

namespace evo {

Failure Located(Failure failure, const Case& sizes) {
  failure.message = fmt::format("case {}: {}", sizes.name, failure.message);
  return failure;
}

std::variant<std::unique_ptr<CaseOfProgram>, Failure> ProgramChecker::Prepare(Program& program, const Case& sizes,
                                                                              const std::vector<InputSet*>& sets) {
  auto made = LaunchBinding::Make(device_, program, inputs_.task(), sizes);
  if (const auto* failure = std::get_if<Failure>(&made)) return Located(*failure, sizes);
  auto prepared = std::make_unique<CaseOfProgram>(CaseOfProgram{sizes, std::move(std::get<LaunchBinding>(made)), {}, {}});
  for (InputSet* set : sets) prepared->bound.push_back(BindProgram(prepared->binding, *set));
  return prepared;
}

std::variant<CasesOfProgram, Failure> ProgramChecker::PrepareSearchCases(Program& program) {
  CasesOfProgram cases;
  for (const Case& sizes : inputs_.search_cases()) {
    auto prepared = Prepare(program, sizes, inputs_.TimedSets(sizes));
    if (auto* failure = std::get_if<Failure>(&prepared)) return *failure;
    cases.push_back(std::move(std::get<std::unique_ptr<CaseOfProgram>>(prepared)));
  }
  return cases;
}

std::optional<Failure> ProgramChecker::Check(Program& program, Gate& gate, const Probe& probe, CheckedErrors& errors) {
  InputSet& set = inputs_.CheckedSet(*probe.sizes, probe.generator);
  auto failure = CheckOn(program, gate, *probe.sizes, set, probe.repeats, errors);
  if (failure && inputs_.IsRecorded(*probe.sizes, probe.generator))
    failure->message += fmt::format("; on the recorded inputs of {}", probe.sizes->data);
  return failure;
}

std::optional<Failure> ProgramChecker::CheckOn(Program& program, Gate& gate, const Case& sizes, InputSet& set, int repeats,
                                               CheckedErrors& errors) {
  auto prepared = Prepare(program, sizes, {&set});
  if (auto* failure = std::get_if<Failure>(&prepared)) return *failure;
  auto failure = gate.Check(std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound.front(), repeats, errors);
  if (failure) return Located(*failure, sizes);
  return std::nullopt;
}

std::optional<Gate::FailureOf> ProgramChecker::CheckTogether(Program& program, Gate& gate, const Case& sizes,
                                                             const std::vector<InputSet*>& sets, int repeats,
                                                             CheckedErrors& errors) {
  auto prepared = Prepare(program, sizes, sets);
  if (auto* failure = std::get_if<Failure>(&prepared)) return Gate::FailureOf{std::nullopt, *failure};
  std::vector<const BoundProgram*> programs;
  for (const BoundProgram& bound : std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound) programs.push_back(&bound);
  auto failed = gate.CheckTogether(programs, repeats, errors);
  if (failed) failed->failure = Located(std::move(failed->failure), sizes);
  return failed;
}

std::optional<Failure> ProgramChecker::CheckAccesses(const AttachedProgram& checked, int generators) {
  if (checked.program.image.empty()) return std::nullopt;
  auto loaded = LoadProgram(device_, checked.source, checked.program);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Gate gate(device_, inputs_.task().determinism);
  CheckedErrors errors;
  for (int g = 0; g < generators; ++g) {
    const Probe probe{&inputs_.task().small, g, 1};
    if (auto failure = Check(std::get<Program>(loaded), gate, probe, errors)) return failure;
  }
  return std::nullopt;
}

}  // namespace evo
