#include "evaluator/scheduling/baseline_failures.h"

#include <fmt/format.h>

#include <exception>

#include "evaluator/messages/message_codec.h"

namespace evo {
namespace {

// A candidate that takes longer than this many times the baseline's time is of no use there; it need not be awaited.
constexpr double kOfBaseline = 4;

std::optional<std::string> WhyItFailed(const JobResult& result) {
  if (!result.death) {
    try {
      const auto answer = FromReply<BaselineResult>(result.reply.value());
      if (const auto* report = std::get_if<InfrastructureReport>(&answer)) return report->message;
    } catch (const std::exception&) {  // a reply of another type, or a malformed one
    }
    return std::nullopt;
  }
  switch (result.death->kind) {
    case WorkerDeath::Kind::kStopped:
    case WorkerDeath::Kind::kCannotStart:
      return std::nullopt;
    case WorkerDeath::Kind::kDeadline:
      return "the baseline takes too long";
    default:
      return fmt::format("the baseline crashes: {}", result.death->description);
  }
}

}  // namespace

std::optional<AvoidedInputs> BaselineFailedOn(const JobResult& result) {
  if (!result.run.of_baseline || result.run.on.case_name.empty()) return std::nullopt;
  const auto reason = WhyItFailed(result);
  return reason ? std::optional(AvoidedInputs{result.run.on, *reason}) : std::nullopt;
}

std::optional<AvoidedInputs> TooLargeToTry(const JobResult& result, const Job& job) {
  const AnnouncedRun& run = result.run;
  if (!result.death || result.death->kind != WorkerDeath::Kind::kDeadline || run.of_baseline || !run.large) return std::nullopt;
  const auto own = job.stage_deadlines.find(result.stage.value());
  const std::chrono::duration<double, std::milli> deadline = own == job.stage_deadlines.end() ? job.deadline : own->second;
  if (kOfBaseline * run.baseline_ms < deadline.count()) return std::nullopt;
  return AvoidedInputs{run.on, fmt::format("the baseline takes {:.0f} s, and the kernel more than {:.0f} s",
                                           run.baseline_ms / 1000, deadline.count() / 1000)};
}

}  // namespace evo
