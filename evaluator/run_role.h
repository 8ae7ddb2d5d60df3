#pragma once

#include <memory>
#include <string>

#include "evaluator/device/device.h"
#include "evaluator/worker_main.h"

namespace evo {

// A run worker: owns one device; checks and times one program at a time.
// Job {"kind": "evaluate"}: task, candidate, reference, seeds, l2, give_up_ns, to an Evaluation.
// Job {"kind": "champion"}: task, candidate, baseline, reference, seeds, to a ChampionCheck; meant for a fresh process.
// A reply {"infrastructure": message} says that the reference or the device failed, not the candidate.
class RunRole : public WorkerRole {
 public:
  explicit RunRole(std::unique_ptr<Device> device);
  ~RunRole() override;
  nlohmann::json Describe() override;
  Message Handle(const Message& job, WorkerChannel& channel) override;
  bool Spent() const override;

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

// A DeviceInfo as a run worker describes it.
void to_json(nlohmann::json& out, const DeviceInfo& info);
void from_json(const nlohmann::json& in, DeviceInfo& info);

}  // namespace evo
