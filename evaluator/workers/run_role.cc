#include "evaluator/workers/run_role.h"

#include <type_traits>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/messages/message_codec.h"

namespace evo {

nlohmann::json RunRole::Describe() { return {{"device", session_.info()}}; }

Message RunRole::Handle(const Message& job, WorkerChannel& channel) {
  try {
    return std::visit([&](const auto& request) { return Answer(request, channel); }, ToRunRequest(job));
  } catch (const InfrastructureFailure& failure) {
    return ToReply(InfrastructureReport{failure.what()});
  }
}

Message RunRole::Answer(const SetupRequest& request, WorkerChannel&) {
  session_.Setup(request);
  return {};
}

Message RunRole::Answer(const EvaluateRequest& request, WorkerChannel& channel) {
  return ToReply(session_.Evaluate(request, channel));
}

Message RunRole::Answer(const ChampionRequest& request, WorkerChannel& channel) {
  return ToReply(session_.CheckChampion(request, channel));
}

Message RunRole::Answer(const BaselineRequest& request, WorkerChannel& channel) {
  return ToReply(session_.TryBaseline(request, channel));
}

Message RunRole::Answer(const SurveyRequest& request, WorkerChannel& channel) {
  return ToReply(session_.Survey(request, channel));
}

Message RunRole::Answer(const ReferenceRequest&, WorkerChannel& channel) { return ToReply(session_.TimeReference(channel)); }

Message RunRole::Answer(const MachineRequest& request, WorkerChannel& channel) {
  Message reply = ToReply(session_.Measure(request, channel));
  reply.header["uuid"] = session_.info().uuid;
  return reply;
}

Message RunRole::Answer(const SmallCaseRequest& request, WorkerChannel& channel) {
  return ToReply(SmallCaseResult{session_.RunOnce(request, channel)});
}

Message RunRole::Answer(const CountRequest& request, WorkerChannel& channel) {
  return ToReply(session_.CountEvents(request, channel));
}

Message RunRole::Answer(const IdleRequest&, WorkerChannel&) { return {}; }

Message RunRole::Answer(const BlockSampleRequest& request, WorkerChannel& channel) {
  return ToReply(session_.SampleBlocks(request, channel));
}

}  // namespace evo
