#include "evaluator/session/event_count.h"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>
#include <variant>

#include "core/json_error.h"
#include "evaluator/session/bare_inputs.h"
#include "evaluator/session/program_checker.h"

namespace evo {
namespace {

// A launch of a few microseconds has few samples.
constexpr int kSampledRuns = 16;

}  // namespace

const Case& CaseToCount(const InputPool& inputs) {
  const std::vector<Case>& cases = inputs.search_cases();
  const auto key = [&](const Case& one) { return std::tuple(one.weight, BareInputs::Bytes(inputs.task(), one)); };
  return *std::max_element(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return key(a) < key(b); });
}

CountedEvents EventCount::Run(const CountRequest& request) {
  const std::pair<const char*, const AttachedProgram*> programs[] = {{kCountedCandidate, &request.candidate},
                                                                     {kCountedBaseline, &request.baseline}};
  CountedEvents counted;
  try {
    channel_.Begin(Stage::kPrepare);
    const Case& sizes = CaseToCount(inputs_);
    InputSet& set = inputs_.UnansweredSet(sizes);
    for (const auto& [name, attached] : programs) {
      if (attached->program.image.empty()) return counted;
      channel_.Begin(Stage::kTime);
      auto one = LookAt<CountedRun>(*attached, sizes, set,
                                    [&](LoadedProgram& program, const TimedRun& run) { return device_.Count(program, run); });
      if (!one.status.ok()) return {{}, {}, one.status.message};
      one.counters.program = name;
      one.counters.case_name = sizes.name;
      counted.counters.push_back(std::move(one.counters));
    }
    channel_.Begin(Stage::kTime);
    const auto stalls = LookAt<SampledStalls>(request.candidate, sizes, set, [&](LoadedProgram& program, const TimedRun& run) {
      return device_.SampleStalls(program, run, kSampledRuns);
    });
    counted.stalls = StallLines(stalls.samples, request.text);
    counted.not_counted = stalls.status.message;
  } catch (const std::exception& error) {
    counted.not_counted = PlainText(error);
  }
  return counted;
}

template <typename Seen>
Seen EventCount::LookAt(const AttachedProgram& attached, const Case& sizes, InputSet& set,
                        const std::function<Seen(LoadedProgram& program, const TimedRun& run)>& look) {
  const auto refused = [](const Failure& failure) {
    Seen nothing;
    nothing.status = {failure.outcome, failure.message, failure.sticky};
    return nothing;
  };
  auto loaded = LoadProgram(device_, attached.source, attached.program);
  if (const auto* failure = std::get_if<Failure>(&loaded)) return refused(*failure);
  auto prepared = ProgramChecker(device_, inputs_).Prepare(std::get<Program>(loaded), sizes, {&set});
  if (const auto* failure = std::get_if<Failure>(&prepared)) return refused(*failure);
  const BoundProgram& bound = std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound.front();
  return look(*bound.binding->image().loaded, PrepareTimedRun(device_, bound, l2_));
}

}  // namespace evo
