#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/evaluation.h"
#include "core/json_error.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

Outcome OutcomeOf(const WorkerDeath& death);

// 0 if the job did not reach the stage.
double StageMs(const JobResult& result, Stage stage);

// A compile worker's result. A death and a malformed reply become an outcome and a message.
CompileResult ReadCompileResult(const JobResult& result);
// Throws Error if the machine failed.
CompileResult RequireCompileResult(const JobResult& result);

// The candidate is to blame for the end of its job.
struct CandidateFailure {
  Outcome outcome = Outcome::kCrash;
  Stage stage = Stage::kLoad;
  std::string message;
};

// No worker of the pool can be started: the run must end.
struct PoolFailure {
  std::string message;
};

// A run worker's result for a candidate. A worker that died before a stage of the candidate began is a failure of the
// infrastructure; a cancelled job is a CandidateFailure of outcome kCancelled.
using RunResult = std::variant<Evaluation, CandidateFailure, InfrastructureReport, PoolFailure>;
RunResult ReadRunResult(const JobResult& result);

// What a run worker says of the task or the machine. Throws Error, with `what` was asked, where the worker died or something but
// a candidate failed.
template <DescribedRecord Record>
Record ReadRunReply(const JobResult& result, const std::string& what) {
  if (result.death) throw Error(fmt::format("{}: {}", what, result.death->description));
  std::variant<Record, InfrastructureReport> answer;
  try {
    answer = FromReply<Record>(*result.reply);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: the run worker sent a malformed reply: {}", what, PlainText(error)));
  }
  if (const auto* report = std::get_if<InfrastructureReport>(&answer)) throw Error(report->message);
  return std::get<Record>(std::move(answer));
}

}  // namespace evo
