#include "evaluator/session/held_out_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "evaluator/session/block_check.h"
#include "evaluator/session/hard_input_check.h"
#include "evaluator/session/other_inputs.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

std::string PartOf(const Case& sizes, int generator) { return fmt::format("case {}, generator {}", sizes.name, generator); }

// Enough to show most races that two runs did not.
constexpr int kHeldOutRepeats = 4;
constexpr std::chrono::milliseconds kMarkerInterval{200};
// For samples of blocks at the sizes of one device.
constexpr std::chrono::milliseconds kBlocksTime{2000};
constexpr std::chrono::hours kUnlimited{24};

// `seconds` from now, but at most `most`. Not a number: `most`.
Clock::time_point EndAfter(double seconds, std::chrono::milliseconds most) {
  const double limit = std::isnan(seconds) ? HUGE_VAL : std::max(seconds, 0.0) * 1000;
  const auto whole = static_cast<std::int64_t>(std::min(limit, static_cast<double>(most.count())));
  return Clock::now() + std::chrono::milliseconds(whole);
}

}  // namespace

HeldOutCheck::HeldOutCheck(const SessionContext& context, const ChampionRequest& request, WorkerChannel& channel,
                           PartTimes& times)
    : context_(context),
      request_(request),
      channel_(channel),
      times_(times),
      checker_(context.device, context.inputs),
      gate_(context.device, context.inputs.task().determinism) {}

std::optional<Failure> HeldOutCheck::Run(ChampionCheck& check) {
  const std::size_t placements = context_.device.policy().code_placements;
  times_.Begin("loading");
  channel_.Begin(Stage::kLoad);
  auto loaded = LoadProgram(context_.device, request_.candidate.source, request_.candidate.program, placements);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Program& program = std::get<Program>(loaded);

  if (auto failure = CheckInputs(check, program)) return failure;
  times_.Begin("loading");
  channel_.BeginPart(Stage::kHeldOut, "loading the baseline");
  auto loaded_baseline = LoadProgram(context_.device, request_.baseline.source, request_.baseline.program, placements);
  if (auto* failure = std::get_if<Failure>(&loaded_baseline)) return *failure;
  auto candidate = checker_.PrepareSearchCases(program);
  if (auto* failure = std::get_if<Failure>(&candidate)) return *failure;
  auto baseline = checker_.PrepareSearchCases(std::get<Program>(loaded_baseline));
  if (auto* failure = std::get_if<Failure>(&baseline)) return *failure;
  times_.Begin("listed cases");
  if (auto failure = CheckTimedSets(std::get<CasesOfProgram>(candidate))) return failure;

  times_.Begin("timing");
  channel_.BeginPart(Stage::kTime, "timing both kernels", context_.device.policy().pauses_compilers);
  if (auto failure = Compare(check, std::get<CasesOfProgram>(candidate), std::get<CasesOfProgram>(baseline))) return failure;
  if (auto failure = CompareOnFreshData(check, std::get<CasesOfProgram>(candidate), std::get<CasesOfProgram>(baseline)))
    return failure;
  OtherInputs others(context_, channel_, checker_);
  // That it seems slow depends on the machine's load, and what it does wrong counts more: that is looked for first.
  const auto slower = others.Compare(program, std::get<Program>(loaded_baseline), check);
  if (slower && slower->outcome != Outcome::kSlower) return slower;
  times_.Begin("blocks");
  if (auto failure = CheckBlocks(check)) return failure;
  if (auto failure = gate_.CheckProtected(true)) return failure;
  return slower;
}

// First what is known to fail others: the next fastest of a search often has the same mistake.
std::optional<Failure> HeldOutCheck::CheckInputs(ChampionCheck& check, Program& program) {
  HardInputCheck hard(context_, program, gate_);
  auto failure = hard.CheckKnown(request_.first, BeginPart("inputs that have failed others"));
  times_.Begin("listed cases");
  if (!failure) failure = CheckHeldOut(check, program);
  if (!failure) failure = CheckHardInputs(hard);
  check.domain = hard.domain();
  check.adversary = hard.adversary();
  if (failure) check.counterexample = hard.counterexample();
  return failure;
}

// Each part has the deadline for itself, so that only an input on which the kernel hangs meets it, and is named when it does.
std::optional<Failure> HeldOutCheck::CheckHeldOut(ChampionCheck& check, Program& program) {
  InputPool& inputs = context_.inputs;
  CheckedErrors errors;
  for (const Case& sizes : inputs.search_cases()) {
    for (int g = 1; g < inputs.SearchGenerators(); ++g) {
      channel_.BeginPart(Stage::kHeldOut, PartOf(sizes, g));
      if (auto failure = checker_.Check(program, gate_, {&sizes, g, kHeldOutRepeats}, errors)) return failure;
    }
  }
  for (const Case& sizes : inputs.held_out_cases()) {
    for (int g = 0; g < inputs.Generators(sizes); ++g) {
      // Inputs and answers are made first: their time is not the candidate's.
      channel_.BeginPart(Stage::kPrepare, PartOf(sizes, g));
      inputs.CheckedSet(sizes, g);
      channel_.BeginPart(Stage::kHeldOut, PartOf(sizes, g));
      if (auto failure = checker_.Check(program, gate_, {&sizes, g, kHeldOutRepeats}, errors)) return failure;
    }
    check.held_out_cases.push_back(sizes.name);
  }
  channel_.BeginPart(Stage::kHeldOut, "the small case with every access checked");
  if (auto failure = checker_.CheckAccesses(request_.checked, inputs.Generators(inputs.task().small))) return failure;
  if (!request_.checked.program.image.empty()) check.tools.push_back({"checked accesses", "clean", ""});
  return std::nullopt;
}

std::function<void()> HeldOutCheck::BeginPart(const std::string& part) {
  times_.Begin(part);
  const auto begin = [this, part] { channel_.BeginPart(Stage::kHeldOut, part); };
  begin();
  return begin;
}

// Sizes that the task does not list come before what takes long: where the baseline turns out not to be meant for some of them,
// the check begins again without them.
std::optional<Failure> HeldOutCheck::CheckHardInputs(HardInputCheck& hard) {
  const Case& unusual = CaseForHardInputs(context_.inputs.task(), context_.inputs.held_out_cases());
  if (auto failure = hard.CheckBattery(0, kHeldOutRepeats, BeginPart("hard inputs on the small case"))) return failure;
  if (auto failure = CheckOtherSizes(hard)) return failure;
  const std::function<void()> begin = BeginPart(fmt::format("hard inputs on case {}", unusual.name));
  if (auto failure = hard.CheckBatteryOn(unusual, context_.device.policy().searched_battery, begin)) return failure;
  return SearchInputs(hard);
}

std::optional<Failure> HeldOutCheck::CheckOtherSizes(HardInputCheck& hard) {
  const std::function<void()> begin = BeginPart("sizes that the task does not list");
  return hard.CheckSizes(begin, EndAfter(request_.effort.sizes_s, kUnlimited));
}

std::optional<Failure> HeldOutCheck::SearchInputs(HardInputCheck& hard) {
  const DevicePolicy& policy = context_.device.policy();
  const std::function<void()> begin = BeginPart("the search for hard inputs");
  const auto end = EndAfter(request_.effort.search_s, policy.adversary_time * request_.adversary_factor);
  const auto stop = [&, marked = Clock::time_point()]() mutable {
    const auto now = Clock::now();
    if (now - marked > kMarkerInterval) {
      begin();
      marked = now;
    }
    return now >= end;
  };
  return hard.Search(policy.adversary_inputs * request_.adversary_factor, stop, context_.inputs.check_seed());
}

std::optional<Failure> HeldOutCheck::CheckTimedSets(CasesOfProgram& cases) {
  for (const auto& one : cases) {
    for (const BoundProgram& bound : std::span(one->bound).first(context_.inputs.SetCount(one->sizes))) {
      channel_.BeginPart(Stage::kHeldOut, fmt::format("case {}, inputs that are timed", one->sizes.name));
      if (auto failure = gate_.Check(bound, kHeldOutRepeats, one->errors)) return Located(*failure, one->sizes);
    }
  }
  return std::nullopt;
}

std::optional<Failure> HeldOutCheck::Compare(ChampionCheck& check, CasesOfProgram& candidate, CasesOfProgram& baseline) {
  Gate gate(context_.device, context_.inputs.task().determinism);
  CaseTimer::Pairs pairs;
  auto failure = context_.timer.MeasureInterleaved(candidate, baseline, gate, pairs);
  for (auto& [of_candidate, of_baseline] : pairs) {
    check.candidate.push_back(std::move(of_candidate));
    check.baseline.push_back(std::move(of_baseline));
  }
  return failure;
}

// A candidate that has answers ready, or knows the data that it is timed on in another way, takes longer on data that never was
// there before.
std::optional<Failure> HeldOutCheck::CompareOnFreshData(ChampionCheck& check, CasesOfProgram& candidate,
                                                        CasesOfProgram& baseline) {
  CaseTimer::Pairs repeated;
  for (std::size_t i = 0; i < check.candidate.size(); ++i) repeated.emplace_back(check.candidate[i], check.baseline[i]);
  Gate gate(context_.device, context_.inputs.task().determinism);
  channel_.BeginPart(Stage::kTime, "timing on fresh data", context_.device.policy().pauses_compilers);
  if (auto failure = context_.timer.CompareOnFreshData(candidate, baseline, gate, repeated, check.fresh_ratio)) return failure;
  channel_.BeginPart(Stage::kHeldOut, "what was computed from fresh data");
  return context_.timer.CheckOnFreshData(candidate, gate);
}

// Last, because the device may be unusable after it.
std::optional<Failure> HeldOutCheck::CheckBlocks(ChampionCheck& check) {
  if (request_.checked.program.image.empty()) return std::nullopt;
  channel_.BeginPart(Stage::kHeldOut, "sampled blocks");
  const InputPool& inputs = context_.inputs;
  BlockCheck blocks(context_.device, inputs.task(), inputs.check_seed(), kBlocksTime, [&](const Case& sizes) {
    channel_.Announce({{sizes.name, 0, inputs.check_seed(), ""}});
  });
  auto failure = blocks.Run(request_.checked, inputs.search_cases());
  // A champion of an emulator is meant for a GPU.
  const std::vector<Case>& on_gpu = SearchCases(inputs.task(), CaseScale::kGpu);
  if (!failure && &on_gpu != &inputs.search_cases()) failure = blocks.Run(request_.checked, on_gpu);
  check.tools.push_back(blocks.result());
  return failure;
}

}  // namespace evo
