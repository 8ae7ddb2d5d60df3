#include "evaluator/session/event_count.h"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>
#include <variant>

#include "evaluator/session/bare_inputs.h"
#include "evaluator/session/program_checker.h"

namespace evo {
namespace {

CountedRun Refused(const Failure& failure) { return {{failure.outcome, failure.message, failure.sticky}, {}}; }

}  // namespace

CountedEvents EventCount::Run(const CountRequest& request) {
  const std::pair<const char*, const AttachedProgram*> programs[] = {{kCountedCandidate, &request.candidate},
                                                                     {kCountedBaseline, &request.baseline}};
  CountedEvents counted;
  try {
    channel_.Begin(Stage::kPrepare);
    const Case& sizes = CaseToCount();
    const auto set = inputs_.Make(sizes, inputs_.Contents(sizes, 0), inputs_.check_seed());
    for (const auto& [name, attached] : programs) {
      channel_.Begin(Stage::kTime);
      CountedRun one = Count(*attached, sizes, *set);
      if (!one.status.ok()) return {{}, one.status.message};
      one.counters.program = name;
      one.counters.case_name = sizes.name;
      counted.counters.push_back(std::move(one.counters));
    }
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
  return counted;
}

const Case& EventCount::CaseToCount() const {
  const std::vector<Case>& cases = inputs_.search_cases();
  const auto key = [&](const Case& one) { return std::tuple(one.weight, BareInputs::Bytes(inputs_.task(), one)); };
  return *std::max_element(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return key(a) < key(b); });
}

CountedRun EventCount::Count(const AttachedProgram& attached, const Case& sizes, InputSet& set) {
  auto loaded = LoadProgram(device_, attached.source, attached.program);
  if (const auto* failure = std::get_if<Failure>(&loaded)) return Refused(*failure);
  auto prepared = ProgramChecker(device_, inputs_).Prepare(std::get<Program>(loaded), sizes, {&set});
  if (const auto* failure = std::get_if<Failure>(&prepared)) return Refused(*failure);
  const BoundProgram& bound = std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound.front();
  return device_.Count(*bound.binding->image().loaded, PrepareTimedRun(device_, bound, l2_));
}

}  // namespace evo
