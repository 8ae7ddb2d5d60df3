#include "evaluator/scheduling/machine_probe.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluator/messages/message_codec.h"

namespace evo {
namespace {

// It takes a few milliseconds where a GPU is in order.
constexpr std::chrono::milliseconds kMeasureDeadline{20'000};

}  // namespace

std::vector<MachineState> MachineProbe::Measure(const std::string& moment, const std::stop_token& stop) const {
  Job job;
  job.request = ToMessage(MachineRequest{{"", kernels_}});
  job.deadline = kMeasureDeadline;
  const std::vector<JobResult> results = RunAndWait(run_, std::vector<Job>(static_cast<std::size_t>(devices_), job), stop);
  if (stop.stop_requested()) throw Interrupted();
  std::vector<MachineState> machines;
  for (const JobResult& result : results) {
    if (result.death) throw Error(fmt::format("measuring {}: {}; see `evo doctor`", device_name_, result.death->description));
    const auto answer = FromReply<MachineState>(*result.reply);
    if (const auto* failed = std::get_if<InfrastructureReport>(&answer)) throw Error(failed->message);
    machines.push_back(std::get<MachineState>(answer));
    machines.back().moment = moment;
  }
  return machines;
}

}  // namespace evo
