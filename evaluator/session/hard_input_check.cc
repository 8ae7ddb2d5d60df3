#include "evaluator/session/hard_input_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "evaluator/adversary/adversary.h"
#include "evaluator/gate/standard_battery.h"
#include "evaluator/session/bare_inputs.h"
#include "evaluator/session/input_trials.h"
#include "evaluator/session/shape_probes.h"

namespace evo {
namespace {

std::string NotDescribed() { return ""; }

// Sizes of the task itself are checked with its generators.
bool IsUnlisted(const Case& sizes, const Task& task) { return sizes.name == SizesText(task, sizes); }

// nullopt if it is of another version of the task.
std::optional<InputProgram> KnownProgram(const Counterexample& known, const Task& task) {
  try {
    return ParseInputProgram(known.inputs, known.seed, task);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A program that is not launched gives no wrong answer.
bool Refuses(Outcome outcome) {
  return outcome == Outcome::kResourceLimit || outcome == Outcome::kUnsupported || outcome == Outcome::kLaunchError;
}

}  // namespace

void PlaceHardInputs(const SessionContext& context, std::size_t most, const std::vector<Counterexample>& known,
                     const std::function<void()>& begin) {
  if (!context.legal.enabled()) return;
  const Task& task = context.inputs.task();
  for (const InputProgram& inputs : context.inputs.SmallBattery(most)) {
    begin();
    context.legal.Get(task.small, inputs);
  }
  for (const Counterexample& one : known) {
    begin();
    const auto sizes = FindCase(task, one.case_name);
    if (!sizes) continue;
    if (one.inputs.empty()) {
      if (IsUnlisted(*sizes, task)) context.legal.GetOfSizes(*sizes, one.seed);
    } else if (const auto inputs = KnownProgram(one, task)) {
      context.legal.Get(*sizes, *inputs);
    }
  }
}

const Case& CaseForHardInputs(const Task& task, const std::vector<Case>& held_out) {
  const auto bytes = [&](const Case& sizes) { return BareInputs::Bytes(task, sizes); };
  const auto small =
      std::find_if(held_out.begin(), held_out.end(), [&](const Case& sizes) { return bytes(sizes) <= kMostHardBytes; });
  if (small != held_out.end()) return *small;
  return *std::min_element(held_out.begin(), held_out.end(), [&](const Case& a, const Case& b) { return bytes(a) < bytes(b); });
}

void HardInputCheck::LeaveOut(const LeftOut& what) {
  const bool known =
      std::any_of(domain_.left_out.begin(), domain_.left_out.end(), [&](const LeftOut& one) { return one.what == what.what; });
  if (!known) domain_.left_out.push_back(what);
}

std::optional<Failure> HardInputCheck::CheckOn(Gate& gate, InputSet& set, int repeats, const Counterexample& inputs,
                                               const Description& describe) {
  CheckedErrors errors;  // of inputs that are judged more leniently: not those of the measurement
  auto failure = checker_.CheckOn(program_, gate, set.sizes(), set, repeats, errors);
  if (!failure) return std::nullopt;
  return Noted(std::move(*failure), inputs, describe);
}

Failure HardInputCheck::Noted(Failure failure, const Counterexample& inputs, const Description& describe) {
  if (failure.outcome != Outcome::kWrongResult && failure.outcome != Outcome::kNondeterministic) return failure;
  counterexample_ = inputs;
  if (const std::string text = describe(); !text.empty()) failure.message += fmt::format("; inputs: {}", text);
  return failure;
}

std::optional<Failure> HardInputCheck::CheckOnce(InputSet& set, const Counterexample& inputs, const Description& describe) {
  Gate gate(context_.device, context_.inputs.task().determinism);
  return CheckOn(gate, set, 1, inputs, describe);
}

std::optional<Failure> HardInputCheck::CheckProgram(const Case& sizes, const InputProgram& inputs, int repeats) {
  const LegalInputs::Legal& legal = context_.legal.Get(sizes, inputs);
  if (const auto* left_out = std::get_if<LeftOut>(&legal)) {
    LeaveOut(*left_out);
    return std::nullopt;
  }
  const std::string text = ToText(inputs);
  auto failure = CheckOn(gate_, *std::get<InputSet*>(legal), repeats, {sizes.name, 0, inputs.seed, text},
                         [&] { return Describe(inputs, context_.inputs.task(), sizes); });
  if (!failure && std::find(domain_.inputs.begin(), domain_.inputs.end(), text) == domain_.inputs.end())
    domain_.inputs.push_back(text);
  return failure;
}

std::optional<Failure> HardInputCheck::CheckKnown(const std::vector<Counterexample>& known, const std::function<void()>& begin) {
  if (!context_.legal.enabled()) return std::nullopt;
  for (const Counterexample& one : known) {
    begin();
    const auto sizes = FindCase(context_.inputs.task(), one.case_name);
    // A candidate of the search is not compiled for the sizes of a champion's check.
    if (!sizes || program_.ImageFor(sizes->sizes) == nullptr) continue;
    if (one.inputs.empty()) {
      if (auto failure = CheckUnlistedSizes(*sizes, one.seed)) return failure;
      continue;
    }
    const auto inputs = KnownProgram(one, context_.inputs.task());
    if (!inputs) continue;
    if (auto failure = CheckProgram(*sizes, *inputs, 1)) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> HardInputCheck::CheckUnlistedSizes(const Case& sizes, std::uint64_t seed) {
  if (!IsUnlisted(sizes, context_.inputs.task())) return std::nullopt;
  const LegalInputs::Legal& legal = context_.legal.GetOfSizes(sizes, seed);
  if (!std::holds_alternative<InputSet*>(legal)) return std::nullopt;
  auto failure = CheckOn(gate_, *std::get<InputSet*>(legal), 1, {sizes.name, 0, seed, ""}, NotDescribed);
  return failure && !Refuses(failure->outcome) ? failure : std::nullopt;
}

std::optional<Failure> HardInputCheck::CheckBattery(std::size_t most, int repeats, const std::function<void()>& begin) {
  if (!context_.legal.enabled()) return std::nullopt;
  const Case& small = context_.inputs.task().small;
  for (const InputProgram& inputs : context_.inputs.SmallBattery(most)) {
    begin();
    if (auto failure = CheckProgram(small, inputs, repeats)) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> HardInputCheck::CheckBatteryTogether(std::size_t most) {
  if (!context_.legal.enabled()) return std::nullopt;
  const Case& small = context_.inputs.task().small;
  std::vector<const InputProgram*> tried;
  std::vector<InputSet*> sets;
  for (const InputProgram& inputs : context_.inputs.SmallBattery(most)) {
    const LegalInputs::Legal& legal = context_.legal.Get(small, inputs);
    if (const auto* left_out = std::get_if<LeftOut>(&legal)) {
      LeaveOut(*left_out);
      continue;
    }
    tried.push_back(&inputs);
    sets.push_back(std::get<InputSet*>(legal));
  }
  CheckedErrors errors;
  auto failed = sets.empty() ? std::nullopt : checker_.CheckTogether(program_, gate_, small, sets, 1, errors);
  if (!failed) return std::nullopt;
  if (!failed->program) return std::move(failed->failure);
  const InputProgram& inputs = *tried[*failed->program];
  return Noted(std::move(failed->failure), {small.name, 0, inputs.seed, ToText(inputs)},
               [&] { return Describe(inputs, context_.inputs.task(), small); });
}

std::optional<Failure> HardInputCheck::CheckBatteryOn(const Case& sizes, std::size_t most, const std::function<void()>& begin) {
  if (!context_.legal.enabled()) return std::nullopt;
  const Task& task = context_.inputs.task();
  for (const InputProgram& inputs : StandardBattery(task, sizes, context_.inputs.check_seed(), most)) {
    begin();
    LegalInputs::Made made = context_.legal.Make(sizes, inputs);
    if (const auto* left_out = std::get_if<LeftOut>(&made)) {
      LeaveOut({fmt::format("{} with {}", left_out->what, sizes.name), left_out->reason});
      continue;
    }
    InputSet& set = *std::get<std::unique_ptr<InputSet>>(made);
    if (auto failure =
            CheckOnce(set, {sizes.name, 0, inputs.seed, ToText(inputs)}, [&] { return Describe(inputs, task, sizes); }))
      return failure;
  }
  return std::nullopt;
}

std::string HardInputCheck::CannotTry(const Case& sizes) {
  const auto made = LaunchBinding::Make(context_.device, program_, context_.inputs.task(), sizes);
  if (const auto* failure = std::get_if<Failure>(&made)) return "the kernel cannot be launched: " + failure->message;
  const std::uint64_t threads = std::get<LaunchBinding>(made).Threads();
  if (static_cast<double>(threads) <= context_.device.policy().largest_probe.threads) return "";
  return fmt::format("{} threads take too long here", threads);
}

std::optional<Failure> HardInputCheck::CheckSizes(const std::function<void()>& begin, std::chrono::steady_clock::time_point end) {
  if (!context_.legal.enabled()) return std::nullopt;
  const std::uint64_t seed = context_.inputs.check_seed();
  for (const Case& sizes : context_.inputs.SizesToTry()) {
    if (std::chrono::steady_clock::now() >= end) {
      LeaveOut({sizes.name, "no time was left for these sizes; `evo verify` tries them"});
      continue;
    }
    begin();
    if (const std::string why = CannotTry(sizes); !why.empty()) {
      LeaveOut({sizes.name, why});
      continue;
    }
    LegalInputs::Made made = context_.legal.MakeOfSizes(sizes, seed);
    if (const auto* left_out = std::get_if<LeftOut>(&made)) {
      LeaveOut(*left_out);
      continue;
    }
    const auto failure = CheckOnce(*std::get<std::unique_ptr<InputSet>>(made), {sizes.name, 0, seed, ""}, NotDescribed);
    if (!failure) {
      domain_.sizes.push_back(sizes.name);
    } else if (Refuses(failure->outcome)) {
      LeaveOut({sizes.name, fmt::format("the kernel cannot be launched: {}", failure->message)});
    } else {
      return failure;
    }
  }
  return std::nullopt;
}

// The small case, or less of it on a device where each input takes long.
Case HardInputCheck::AdversaryCase() {
  const Task& task = context_.inputs.task();
  const Case smaller = ShrunkCase(task, task.small, context_.device.policy().adversary_elements);
  if (program_.ImageFor(smaller.sizes) == nullptr) return task.small;
  const bool legal = std::holds_alternative<InputSet*>(context_.legal.GetOfSizes(smaller, context_.inputs.check_seed()));
  return legal ? smaller : task.small;
}

std::optional<Failure> HardInputCheck::Search(int most, const std::function<bool()>& stop, std::uint64_t seed) {
  if (!context_.legal.enabled()) return std::nullopt;
  const Task& task = context_.inputs.task();
  const Case sizes = AdversaryCase();
  Adversary adversary(task, sizes, seed);
  InputTrials trials(context_.device, context_.legal, program_, sizes);
  const auto probe = [&](const InputProgram& inputs) -> ProbeAnswer {
    auto tried = trials.Try(inputs);
    if (std::holds_alternative<LeftOut>(tried)) {
      const std::string text = ToText(inputs);
      if (const auto reason = context_.legal.baseline_runs().Avoided({sizes.name, 0, inputs.seed, text}))
        LeaveOut({fmt::format("{} with {}", text, sizes.name), *reason});
      return IllegalInput{};
    }
    if (const auto* failure = std::get_if<Failure>(&tried)) return *failure;
    return std::get<RightAnswer>(tried);
  };
  const AdversaryReport report = adversary.Run(probe, most, stop);
  adversary_.inputs += report.inputs;
  if (!(report.worst <= adversary_.worst)) {
    adversary_.worst = report.worst;
    adversary_.worst_inputs = ToText(report.worst_input);
  }
  if (!report.failing) return std::nullopt;
  const InputProgram& inputs = report.failing->program;
  counterexample_ = {sizes.name, 0, inputs.seed, ToText(inputs)};
  Failure failure = Located(report.failing->failure, sizes);
  failure.message += fmt::format("; found by searching: {}", Describe(inputs, task, sizes));
  return failure;
}

}  // namespace evo
