#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "evaluator/device/device.h"
#include "evaluator/session/run_session.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// A run worker: owns one device, and checks and times one program at a time. Answers every RunRequest with its result or an
// InfrastructureReport.
class RunRole : public WorkerRole {
 public:
  // `jobs_wait` says whether jobs wait for this worker or another of its pool.
  RunRole(std::unique_ptr<Device> device, std::function<bool()> jobs_wait, std::unique_ptr<Reference> python = nullptr)
      : session_(std::move(device), std::move(jobs_wait), RunSession::kReverificationTime, std::move(python)) {}
  nlohmann::json Describe() override;
  Message Handle(const Message& job, WorkerChannel& channel) override;
  bool MustRestart() const override { return session_.must_restart(); }

 private:
  Message Answer(const SetupRequest& request, WorkerChannel& channel);
  Message Answer(const EvaluateRequest& request, WorkerChannel& channel);
  Message Answer(const ChampionRequest& request, WorkerChannel& channel);
  Message Answer(const BaselineRequest& request, WorkerChannel& channel);
  Message Answer(const SurveyRequest& request, WorkerChannel& channel);
  Message Answer(const ReferenceRequest& request, WorkerChannel& channel);
  Message Answer(const MachineRequest& request, WorkerChannel& channel);
  Message Answer(const SmallCaseRequest& request, WorkerChannel& channel);
  Message Answer(const CountRequest& request, WorkerChannel& channel);
  Message Answer(const IdleRequest& request, WorkerChannel& channel);
  Message Answer(const BlockSampleRequest& request, WorkerChannel& channel);

  RunSession session_;
};

}  // namespace evo
