#include "evaluator/scheduling/machine_probe.h"

#include <fmt/format.h>

#include <exception>
#include <variant>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/job_dialogue.h"

namespace evo {
namespace {

// It takes a few milliseconds where a GPU is in order.
constexpr std::chrono::milliseconds kMeasureDeadline{20'000};

MachineState ReadState(const Message& reply, const std::string& device_name) {
  std::variant<MachineState, InfrastructureReport> answer;
  try {
    answer = FromReply<MachineState>(reply);
  } catch (const std::exception& error) {
    throw Error(fmt::format("measuring {}: the run worker sent a malformed reply: {}", device_name, PlainText(error)));
  }
  if (const auto* failed = std::get_if<InfrastructureReport>(&answer)) throw Error(failed->message);
  return std::get<MachineState>(std::move(answer));
}

}  // namespace

std::vector<MeasuredMachine> MachineProbe::Measure(const std::string& moment, const std::stop_token& stop) const {
  Job job;
  job.request = ToMessage(MachineRequest{{"", kernels_}});
  job.deadline = kMeasureDeadline;
  const std::vector<JobResult> results = RunAndWait(run_, std::vector<Job>(static_cast<std::size_t>(devices_), job), stop);
  if (stop.stop_requested()) throw Interrupted();
  std::vector<MeasuredMachine> machines;
  for (const JobResult& result : results) {
    if (result.death) throw Error(fmt::format("measuring {}: {}; see `evo doctor`", device_name_, result.death->description));
    machines.push_back({ReadState(*result.reply, device_name_), TextField(*result.reply, "uuid")});
    machines.back().state.moment = moment;
  }
  return machines;
}

}  // namespace evo
