// What else a candidate is checked on while nothing waits for its GPU: races that win nearly every time, answers that are right
// for known inputs only.
#include <chrono>
#include <string>

#include "evaluator/session/run_session.h"

namespace evo {
namespace {

// One with warm caches and one with cold ones.
constexpr int kReverificationRepeats = 2;

}  // namespace

RunSession::Fresh RunSession::DrawFresh(const std::string& source_digest) {
  constexpr int kDigits = 16;
  constexpr int kHexadecimal = 16;
  Fresh fresh;
  fresh.seed = std::stoull(source_digest.substr(0, kDigits), nullptr, kHexadecimal) ^ seeds_.front();
  fresh.generator = static_cast<int>(fresh.seed % static_cast<std::uint64_t>(Generators()));
  try {
    fresh.set = inputs_.Make(task_->small, fresh.generator, fresh.seed);
  } catch (const InfrastructureFailure&) {
    must_restart_ = true;  // what earlier candidates have left behind: the next attempt has a process of its own
    throw;
  }
  return fresh;
}

std::optional<Failure> RunSession::Reverify(Evaluation& evaluation, Program& program, Gate& gate, const Fresh& fresh,
                                            WorkerChannel& channel) {
  evaluation.stage = Stage::kReverify;
  channel.Begin(Stage::kReverify);
  const auto end = std::chrono::steady_clock::now() + reverification_time_;
  CheckedErrors errors;
  const auto failed = [&](std::optional<Failure> failure, const Case& sizes, int generator,
                          std::uint64_t seed) -> std::optional<Failure> {
    evaluation.reverification_runs += kReverificationRepeats;
    if (!failure) return std::nullopt;
    evaluation.counterexample = {sizes.name, generator, seed};
    evaluation.cases.clear();  // what a wrong kernel takes is no time to race against
    return failure;
  };
  if (auto failure = failed(CheckOn(program, gate, task_->small, *fresh.set, kReverificationRepeats, errors), task_->small,
                            fresh.generator, fresh.seed))
    return failure;
  std::vector<Probe> probes;
  for (const Case& sizes : SearchCases()) {
    for (int g = SearchGenerators(); g-- > 0;) probes.push_back({&sizes, g, kReverificationRepeats});
  }
  for (int g = 0; g < Generators(); ++g) probes.push_back({&task_->small, g, kReverificationRepeats});
  for (std::size_t i = 0; !jobs_wait_() && std::chrono::steady_clock::now() < end; i = (i + 1) % probes.size()) {
    const Probe& probe = probes[i];
    if (auto failure = failed(CheckProbe(program, gate, probe, errors), *probe.sizes, probe.generator, seeds_.front()))
      return failure;
  }
  evaluation.stage = Stage::kTime;
  return std::nullopt;
}

}  // namespace evo
