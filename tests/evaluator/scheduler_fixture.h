#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/device/cuda/cuda_policy.h"
#include "evaluator/scheduling/scheduler.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {

inline constexpr const char* kDeviceName = "a device";

inline DevicePolicy TestPolicy() {
  DevicePolicy policy = kCudaPolicy;
  policy.candidate_deadline = {4, std::chrono::milliseconds(400)};
  return policy;
}

inline Candidate MakeCandidate(CandidateId id, const std::string& source, int generation = 1) {
  Candidate candidate;
  candidate.id = id;
  candidate.generation = generation;
  candidate.source = source;
  return candidate;
}

inline JobResult Compiled(const std::string& program_digest, double compile_ms = 0) {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.log = "ptxas info";
  result.program.image = "image of " + program_digest;
  result.program_digest = program_digest;
  JobResult answer = FakeJobRunner::Reply(ToMessage(result));
  answer.stage_ms[Stage::kCompile] = compile_ms;
  return answer;
}

inline JobResult CompileFailure(Outcome outcome, const std::string& message) {
  CompileResult result;
  result.outcome = outcome;
  result.message = message;
  return FakeJobRunner::Reply(ToMessage(result));
}

inline Evaluation Measured(double median_ns) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.stage = Stage::kTime;
  evaluation.score_ns = median_ns;
  CaseMeasurement& measured = evaluation.cases.emplace_back();
  measured.name = "a";
  measured.median_ns = median_ns;
  return evaluation;
}

inline JobResult Evaluated(const Evaluation& evaluation) { return FakeJobRunner::Reply(ToReply(evaluation)); }

inline JobResult Evaluated(Outcome outcome) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.stage = Stage::kCheck;
  evaluation.message = "as it was found";
  return Evaluated(evaluation);
}

inline JobResult MachineFailure() { return FakeJobRunner::Reply(ToReply(InfrastructureReport{"the reference failed"})); }

class SchedulerTest : public ::testing::Test {
 protected:
  Scheduler& MakeScheduler(PriorKnowledge prior = {}, DevicePolicy policy = TestPolicy()) {
    scheduler_.emplace(
        SchedulerSettings{compile_, run_, 1, 1, "cuda", kDeviceName, "sm_90a", "hot", policy, std::chrono::milliseconds(9000)},
        std::move(prior));
    return *scheduler_;
  }
  std::vector<Evaluation> Finish() { return scheduler_->Finish({}, {}); }
  // Starts one candidate and takes it through the compile worker.
  void StartCompiled(Candidate candidate, const std::string& program_digest) {
    scheduler_->Start({std::move(candidate)});
    compile_.Answer(Compiled(program_digest));
  }
  EvaluateRequest RunRequestOfFront() const { return std::get<EvaluateRequest>(ToRunRequest(run_.request_of_front())); }

  FakeJobRunner compile_;
  FakeJobRunner run_;
  std::optional<Scheduler> scheduler_;  // after the runners, which it cancels when it ends
};

}  // namespace evo
