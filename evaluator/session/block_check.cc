#include "evaluator/session/block_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluator/session/program_checker.h"
#include "kernel_templates/launch_plan.h"

namespace evo {
namespace {

// A checked access takes 24 times its bytes of further memory.
constexpr std::size_t kMostBytes = 256 << 20;
// Before a later launch the earlier ones run whole: about a second for this many operations, or bytes.
constexpr double kMostWorkBefore = 5e7;

double Work(const Task& task, const Case& sizes) {
  const double operations = task.operations.Evaluate(CaseVariables(task, sizes)).AsReal();
  return std::max(operations, static_cast<double>(BareInputs::Bytes(task, sizes)));
}

}  // namespace

std::optional<Failure> BlockCheck::Run(const AttachedProgram& checked, const std::vector<Case>& cases) {
  const auto share = most_ / std::max<std::size_t>(1, cases.size());
  for (const Case& sizes : cases) {
    begin_(sizes);
    if (stopped_) break;
    if (BareInputs::Bytes(task_, sizes) > kMostBytes) {
      Note(fmt::format("case {} is too large", sizes.name));
      continue;
    }
    if (auto failure = RunCase(checked, sizes, share)) {
      result_ = {result_.tool, failure->outcome == Outcome::kCrash ? "crash" : "error", failure->message};
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> BlockCheck::RunCase(const AttachedProgram& checked, const Case& sizes, std::chrono::milliseconds most) {
  auto made = BareInputs::Make(device_, task_, sizes, seed_);
  if (const auto* failure = std::get_if<Failure>(&made)) {
    Note(fmt::format("case {}: {}", sizes.name, failure->message));
    return std::nullopt;
  }
  BareInputs& inputs = *std::get<std::unique_ptr<BareInputs>>(made);
  const std::vector<std::size_t> launches = FirstLaunches(checked.source, sizes);
  for (const std::size_t step : launches) {
    if (step > launches.front() && Work(task_, sizes) > kMostWorkBefore) {
      Note(fmt::format("case {}: only its first launch", sizes.name));
      break;
    }
    const BlockSample sample{step, seed_ + step, most / launches.size()};
    if (auto failure = RunLaunch(checked, sizes, inputs, sample)) return Located(*failure, sizes);
    if (stopped_) break;
  }
  return std::nullopt;
}

// The places in the sequence of the first launch of each launch line. Empty if there is no plan, which RunLaunch explains.
std::vector<std::size_t> BlockCheck::FirstLaunches(const std::string& source, const Case& sizes) const {
  const KernelTemplate rendered = ParseTemplate("candidate", source);
  const auto planned = PlanLaunches(rendered, rendered.space.Defaults(), task_, sizes);
  if (const auto* plan = std::get_if<LaunchPlan>(&planned)) return evo::FirstLaunches(*plan);
  return {0};
}

// The program is loaded anew for each sample, which leaves the module's variables as no whole launch would.
std::optional<Failure> BlockCheck::RunLaunch(const AttachedProgram& checked, const Case& sizes, BareInputs& inputs,
                                             const BlockSample& sample) {
  auto loaded = LoadProgram(device_, checked.source, checked.program);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Program& program = std::get<Program>(loaded);
  if (program.ImageFor(sizes.sizes) == nullptr) {
    Note(fmt::format("case {}: not compiled for these sizes", sizes.name));
    return std::nullopt;
  }
  auto bound = LaunchBinding::Make(device_, program, task_, sizes);
  if (auto* failure = std::get_if<Failure>(&bound)) return *failure;
  const LaunchBinding& binding = std::get<LaunchBinding>(bound);
  if (DeviceStatus status = inputs.Reset(); !status.ok()) return ToFailure(status);
  Preparation preparation;
  preparation.poison = binding.PoisonWith({});
  const auto place_of = [&](const std::string& name) { return inputs.PlaceOf(name); };
  preparation.restore = binding.FillConstants(place_of);
  if (DeviceStatus status = device_.Prepare(preparation); !status.ok()) return ToFailure(status);
  const Sequence sequence = binding.Bind(place_of);
  const SampledBlocks sampled = device_.RunBlocks(*binding.image().loaded, sequence, sample);
  switch (sampled.status.outcome) {
    case Outcome::kOk:
      if (sampled.run > 0 && result_.result == "missing") result_.result = "clean";
      Note(fmt::format("case {}: {} of {} blocks", sizes.name, sampled.run, sampled.all));
      return std::nullopt;
    case Outcome::kTimeout:
    case Outcome::kResourceLimit:
    case Outcome::kUnsupported:
      result_.result = sampled.status.outcome == Outcome::kTimeout ? "timeout" : "unsupported";
      Note(fmt::format("case {}: {}", sizes.name, sampled.status.message));
      stopped_ = sampled.status.sticky;
      return std::nullopt;
    default:
      stopped_ = sampled.status.sticky;
      return ToFailure(sampled.status);
  }
}

void BlockCheck::Note(const std::string& text) { result_.message += (result_.message.empty() ? "" : "; ") + text; }

}  // namespace evo
