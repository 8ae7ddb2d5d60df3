#include "evaluator/workers/run_role.h"

namespace evo {

Message RunRole::Handle(const Message& job, WorkerChannel& channel) {
  try {
    const auto kind = job.header.at("kind").get<std::string>();
    if (kind == "setup") {
      session_.Setup(job);
      return {};
    }
    if (kind == "machine") return {{{"machine", session_.Measure(job, channel)}}, {}};
    if (kind == "once") return {{{"failure", session_.RunOnce(job, channel)}}, {}};
    if (kind == "champion") return {{{"check", session_.CheckChampion(job, channel)}}, {}};
    return {{{"evaluation", session_.Evaluate(job, channel)}}, {}};
  } catch (const InfrastructureFailure& failure) {
    return {{{"infrastructure", failure.message}}, {}};
  }
}

}  // namespace evo
