#include "evaluator/session/survey_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/gate/omissions.h"
#include "evaluator/gate/standard_battery.h"
#include "evaluator/session/bare_inputs.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTime{25};
// Candidates have blocks of other sizes than the baseline, whose launch may be a single one.
constexpr std::uint64_t kLeastBlocks = 64;
// Larger outputs are not brought to the host.
constexpr std::size_t kMostElements = std::size_t{1} << 24;

double MsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

// "X: normal(200,1), W: uniform(-1,1)"
std::string InputsText(const InputPool& inputs, const Case& sizes, int generator) {
  if (inputs.IsRecorded(sizes, generator)) return sizes.data;
  std::string text;
  for (const Argument& argument : inputs.task().arguments) {
    if (!argument.IsInput() || argument.generators.empty()) continue;
    const auto& one = argument.generators[static_cast<std::size_t>(generator) % argument.generators.size()];
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", argument.name, one.text);
  }
  return text.empty() ? "no inputs" : text;
}

std::vector<const Argument*> Outputs(const Task& task) {
  std::vector<const Argument*> outputs;
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kOut || argument.role == Role::kInOut) outputs.push_back(&argument);
  }
  return outputs;
}

bool OfReference(const LeftOut& failure) { return failure.reason.starts_with("the reference "); }

void KeepLarger(double& most, double value) {
  if (std::isnan(most) || value > most) most = value;
}

class CaseSurvey {
 public:
  CaseSurvey(const SessionContext& context, WorkerChannel& channel, const Case& sizes)
      : context_(context), channel_(channel), sizes_(sizes), outputs_(Outputs(context.inputs.task())) {
    const Task& task = context.inputs.task();
    seen_.name = sizes.name;
    seen_.bytes = static_cast<double>(BareInputs::Bytes(task, sizes));
    const Variables variables = CaseVariables(task, sizes);
    for (const Argument* argument : outputs_) {
      SurveyedOutput& output = seen_.outputs.emplace_back();
      const OutputCheck check = CheckFor(*argument, variables);
      output.output = argument->name;
      output.exact = check.kind == OutputCheck::Kind::kExact;
      if (!output.exact) output.allowed_l2 = check.l2, output.allowed_max = check.max;
      if (argument->check.kind == OutputCheck::Kind::kDerived)
        output.terms = static_cast<std::int64_t>(argument->check.sources.sum.Evaluate(variables).AsReal());
    }
  }

  // Looks at one more distribution.
  void Add(int generator) {
    const InputPool& inputs = context_.inputs;
    const Counterexample on{sizes_.name, generator, inputs.check_seed(), ""};
    ++seen_.inputs;
    if (const auto reason = context_.legal.baseline_runs().Avoided(on)) {
      if (seen_.failures.empty()) seen_.failures.push_back({InputsText(inputs, sizes_, generator), *reason});
      return;
    }
    InputSet& set = Answered(generator, on);
    const std::size_t failures = seen_.failures.size();
    if (context_.legal.enabled()) RunBaseline(set, generator, on);
    if (seen_.failures.size() == failures) ++seen_.right;
    Omit(set, generator, on);
  }

  SurveyedCase Done() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto least = blocks_[i].Least();
      if (!least) continue;
      seen_.outputs[i].block_ratio = least->ratio;
      seen_.outputs[i].block = static_cast<std::int64_t>(least->index);
      seen_.outputs[i].blocks = static_cast<std::int64_t>(least->of);
    }
    return std::move(seen_);
  }

 private:
  InputSet& Answered(int generator, const Counterexample& on) {
    channel_.Begin(Stage::kPrepare);
    const BaselineRuns::Running running(context_.legal.baseline_runs(), on);
    const auto start = Clock::now();
    InputSet& set = context_.inputs.CheckedSet(sizes_, generator);
    KeepLarger(seen_.reference_ms, MsSince(start));
    return set;
  }

  void RunBaseline(InputSet& set, int generator, const Counterexample& on) {
    channel_.Begin(Stage::kHeldOut);
    const BaselineRuns::Running running(context_.legal.baseline_runs(), on);
    const auto failed = [&](const std::string& why) {
      seen_.failures.push_back({InputsText(context_.inputs, sizes_, generator), why});
    };
    const auto start = Clock::now();
    const auto ran = context_.legal.baseline().Run(set);
    KeepLarger(seen_.baseline_ms, MsSince(start));
    if (const auto* failure = std::get_if<Failure>(&ran)) return failed(failure->message);
    const auto& answer = std::get<InputSet::Answer>(ran);
    for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
      const Difference& difference = answer.outputs[i];
      SurveyedOutput& output = seen_.outputs[i];
      if (!output.exact) KeepLarger(output.baseline_l2, difference.l2), KeepLarger(output.baseline_max, difference.max);
      if (std::isfinite(difference.ratio)) KeepLarger(output.baseline_ratio, difference.ratio);
    }
    if (!answer.difference.acceptable) failed(answer.difference.message);
  }

  // What mistakes would cost on these inputs.
  void Omit(InputSet& set, int generator, const Counterexample& on) {
    LegalInputs& legal = context_.legal;
    const std::vector<OutputCheck> checks = set.Checks();
    const std::uint64_t blocks = std::max(kLeastBlocks, legal.enabled() ? legal.baseline().MostBlocks(sizes_) : 0);
    const std::vector<std::vector<double>> references = set.References();
    const auto too_large = [](const auto& values) { return values.size() > kMostElements; };
    if (references.empty() || std::any_of(references.begin(), references.end(), too_large)) return;
    if (blocks_.empty()) {
      for (const auto& values : references) blocks_.emplace_back(std::max<std::size_t>(values.size(), 1), blocks);
    }
    for (std::size_t i = 0; i < references.size(); ++i) {
      if (!references[i].empty()) blocks_[i].Add(references[i], checks[i]);  // else no element counts
    }
    const bool sums = std::any_of(seen_.outputs.begin(), seen_.outputs.end(), [](const auto& one) { return one.terms > 1; });
    if (!sums) return;
    channel_.Begin(Stage::kPrepare);
    const BaselineRuns::Running running(legal.baseline_runs(), on);
    const DrawnArguments drawn = context_.inputs.Contents(sizes_, generator);
    const auto of_magnitudes = legal.inputs().AnswersToMagnitudes(sizes_, drawn, context_.inputs.check_seed());
    for (std::size_t i = 0; i < of_magnitudes.size(); ++i) {
      SurveyedOutput& output = seen_.outputs[i];
      if (output.terms <= 1 || output.exact || references[i].empty()) continue;
      KeepLarger(output.term_ratio, TermOmission(references[i], of_magnitudes[i], static_cast<double>(output.terms), checks[i]));
    }
  }

  const SessionContext& context_;
  WorkerChannel& channel_;
  const Case& sizes_;
  std::vector<const Argument*> outputs_;
  std::vector<BlockOmission> blocks_;  // one for each output, once there is an answer
  SurveyedCase seen_;
};

void SurveyHardInputs(const SessionContext& context, WorkerChannel& channel, Clock::time_point end, TaskSurvey& survey) {
  const InputPool& inputs = context.inputs;
  const Case& small = inputs.task().small;
  const std::vector<InputProgram> battery = StandardBattery(inputs.task(), small, inputs.check_seed());
  for (std::size_t i = 0; i < battery.size(); ++i) {
    if (Clock::now() > end) {
      survey.not_seen.push_back(fmt::format("{} of {} hard inputs", battery.size() - i, battery.size()));
      return;
    }
    channel.Begin(Stage::kHeldOut);
    const LegalInputs::Made made = context.legal.Make(small, battery[i]);
    if (const auto* left_out = std::get_if<LeftOut>(&made))
      survey.left_out.push_back(*left_out);
    else
      ++survey.hard_inputs;
  }
}

}  // namespace

TaskSurvey SurveyTask(const SessionContext& context, WorkerChannel& channel) {
  InputPool& inputs = context.inputs;
  const auto end = Clock::now() + kTime;
  std::vector<const Case*> cases = {&inputs.task().small};
  for (const Case& one : inputs.search_cases()) cases.push_back(&one);
  for (const Case& one : inputs.held_out_cases()) cases.push_back(&one);
  TaskSurvey survey;
  bool sound = true;
  for (const Case* sizes : cases) {
    CaseSurvey one(context, channel, *sizes);
    int generator = 0;
    const int generators = inputs.Generators(*sizes);
    for (; generator < generators && Clock::now() < end; ++generator) one.Add(generator);
    if (generator < generators)
      survey.not_seen.push_back(
          fmt::format("{} of {} distributions of case {}", generators - generator, generators, sizes->name));
    survey.cases.push_back(one.Done());
    const std::vector<LeftOut>& failures = survey.cases.back().failures;
    sound = sound && failures.empty();
    // It would fail on the other cases, too, and may take its whole deadline for each.
    if (std::any_of(failures.begin(), failures.end(), OfReference)) break;
  }
  if (!sound) return survey;
  if (context.legal.enabled()) SurveyHardInputs(context, channel, end, survey);
  channel.Begin(Stage::kPrepare);
  try {
    inputs.Place();
  } catch (const InfrastructureFailure& refused) {
    survey.lax = refused.what();
  }
  return survey;
}

}  // namespace evo
