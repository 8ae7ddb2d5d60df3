#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "evaluator/device/device.h"
#include "evaluator/session/run_session.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// A run worker: owns one device; checks and times one program at a time.
// Job {"kind": "setup"}, before all others: what they are about. Job {"kind": "evaluate"} to an Evaluation. Job {"kind":
// "champion"}, meant for a fresh process, to a ChampionCheck. Job {"kind": "machine"} to a MachineState. Job {"kind": "once"},
// for a process under a tool: runs the small case. Their other fields: RunSession. A reply {"infrastructure": message} says that
// the reference or the device failed, not the candidate.
class RunRole : public WorkerRole {
 public:
  // `jobs_wait`: whether others wait for this worker, or one like it.
  RunRole(std::unique_ptr<Device> device, std::function<bool()> jobs_wait) : session_(std::move(device), std::move(jobs_wait)) {}
  nlohmann::json Describe() override { return {{"device", session_.info()}}; }
  Message Handle(const Message& job, WorkerChannel& channel) override;
  bool MustRestart() const override { return session_.must_restart(); }

 private:
  RunSession session_;
};

}  // namespace evo
