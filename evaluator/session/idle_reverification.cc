#include "evaluator/session/idle_reverification.h"

#include <chrono>
#include <functional>
#include <string>

#include "evaluator/session/hard_input_check.h"

namespace evo {
namespace {

// One with warm caches and one with cold ones.
constexpr int kIdleRepeats = 2;

}  // namespace

void IdleReverification::Draw(const std::string& source_digest) {
  constexpr int kDigits = 16;
  constexpr int kHexadecimal = 16;
  InputPool& inputs = context_.inputs;
  seed_ = std::stoull(source_digest.substr(0, kDigits), nullptr, kHexadecimal) ^ inputs.check_seed();
  generator_ = static_cast<int>(seed_ % static_cast<std::uint64_t>(inputs.Generators()));
  fresh_ = inputs.MakeSmall(generator_, seed_);
}

// The search cases first: generators other than the timed one before it.
std::vector<Probe> IdleReverification::Probes() const {
  const InputPool& inputs = context_.inputs;
  std::vector<Probe> probes;
  for (const Case& sizes : inputs.search_cases()) {
    for (int g = inputs.SearchGenerators(); g-- > 0;) probes.push_back({&sizes, g, kIdleRepeats});
  }
  for (int g = 0; g < inputs.Generators(inputs.task().small); ++g) probes.push_back({&inputs.task().small, g, kIdleRepeats});
  return probes;
}

// What this finds is checked first from then on.
std::optional<Failure> IdleReverification::SearchCounterexample(Evaluation& evaluation, Program& program, Gate& gate,
                                                                const std::function<bool()>& stop) {
  constexpr int kInputs = 100;
  // The reference answers up to so many times for one input: for itself and for those around it. A slow one would keep the device
  // from the search.
  constexpr double kAnswers = 6;
  if (kAnswers * context_.inputs.ReferenceMilliseconds() > static_cast<double>(most_.count())) return std::nullopt;
  HardInputCheck hard(context_, program, gate);
  auto failure = hard.Search(kInputs, stop, seed_ + static_cast<std::uint64_t>(evaluation.reverification_runs));
  evaluation.reverification_runs += hard.adversary().inputs;
  if (!failure) return failure;
  evaluation.counterexample = hard.counterexample();
  evaluation.cases.clear();  // no other candidate is compared with the times of a wrong kernel
  return failure;
}

std::optional<Failure> IdleReverification::Run(Evaluation& evaluation, Program& program, Gate& gate, WorkerChannel& channel) {
  evaluation.stage = Stage::kReverify;
  channel.Begin(Stage::kReverify);
  const auto end = std::chrono::steady_clock::now() + most_;
  ProgramChecker checker(context_.device, context_.inputs);
  CheckedErrors errors;
  const auto failed = [&](std::optional<Failure> failure, const Case& sizes, int generator,
                          std::uint64_t seed) -> std::optional<Failure> {
    evaluation.reverification_runs += kIdleRepeats;
    if (!failure) return std::nullopt;
    evaluation.counterexample = {sizes.name, generator, seed, ""};
    evaluation.cases.clear();  // no other candidate is compared with the times of a wrong kernel
    return failure;
  };
  const Case& small = context_.inputs.task().small;
  if (auto failure = failed(checker.CheckOn(program, gate, small, *fresh_, kIdleRepeats, errors), small, generator_, seed_))
    return failure;
  const auto stop = [&] { return context_.jobs_wait() || std::chrono::steady_clock::now() >= end; };
  const std::vector<Probe> probes = Probes();
  for (std::size_t i = 0; !stop(); i = (i + 1) % probes.size()) {
    if (i == 0 && evaluation.reverification_runs > kIdleRepeats) {
      if (auto failure = SearchCounterexample(evaluation, program, gate, stop)) return failure;
      if (stop()) break;
    }
    const Probe& probe = probes[i];
    if (auto failure =
            failed(checker.Check(program, gate, probe, errors), *probe.sizes, probe.generator, context_.inputs.check_seed()))
      return failure;
  }
  evaluation.stage = Stage::kTime;
  return std::nullopt;
}

}  // namespace evo
