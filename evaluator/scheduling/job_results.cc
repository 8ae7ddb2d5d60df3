#include "evaluator/scheduling/job_results.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/messages/message_codec.h"

namespace evo {
namespace {

bool BelongsToCandidate(Stage stage) {
  return stage == Stage::kLoad || stage == Stage::kCheck || stage == Stage::kTime || stage == Stage::kReverify;
}

RunResult ReadDeath(const WorkerDeath& death, const std::optional<Stage>& stage) {
  if (death.kind == WorkerDeath::Kind::kCannotStart) return PoolFailure{death.description};
  if (death.kind == WorkerDeath::Kind::kStopped || (stage && BelongsToCandidate(*stage))) {
    return CandidateFailure{OutcomeOf(death), stage.value_or(Stage::kLoad), death.description};
  }
  return InfrastructureReport{death.description};
}

}  // namespace

Outcome OutcomeOf(const WorkerDeath& death) {
  switch (death.kind) {
    case WorkerDeath::Kind::kDeadline:
      return Outcome::kTimeout;
    case WorkerDeath::Kind::kStopped:
      return Outcome::kCancelled;
    default:
      return Outcome::kCrash;
  }
}

double StageMs(const JobResult& result, Stage stage) {
  const auto found = result.stage_ms.find(stage);
  return found == result.stage_ms.end() ? 0 : found->second;
}

CompileResult ReadCompileResult(const JobResult& result) {
  CompileResult failed;
  if (result.death) {
    failed.outcome = OutcomeOf(*result.death);
    failed.message = fmt::format("the compiler: {}", result.death->description);
    return failed;
  }
  try {
    return ToCompileResult(*result.reply);
  } catch (const std::exception& error) {
    failed.outcome = Outcome::kCrash;
    failed.message = fmt::format("the compile worker sent a malformed reply: {}", PlainText(error));
    return failed;
  }
}

CompileResult RequireCompileResult(const JobResult& result) {
  CompileResult compiled = ReadCompileResult(result);
  if (compiled.machine_failed) throw Error(compiled.message);
  return compiled;
}

RunResult ReadRunResult(const JobResult& result) {
  if (result.death) return ReadDeath(*result.death, result.stage);
  try {
    auto answer = FromReply<Evaluation>(*result.reply);
    if (auto* report = std::get_if<InfrastructureReport>(&answer)) return std::move(*report);
    return std::get<Evaluation>(std::move(answer));
  } catch (const std::exception& error) {
    return CandidateFailure{Outcome::kCrash, Stage::kCheck,
                            fmt::format("the run worker sent a malformed reply: {}", PlainText(error))};
  }
}

}  // namespace evo
