#include "evaluator/scheduling/emulated_blocks.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/deadlines.h"
#include "evaluator/scheduling/image_sizes.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {
namespace {

constexpr const char* kTool = "sampled blocks";
// Five seconds of blocks, and the inputs before them.
constexpr std::chrono::milliseconds kDeadline{60'000};

WorkerPoolOptions PoolOptions(const std::vector<std::string>& worker_argv, const char* role) {
  WorkerPoolOptions options;
  options.name = role;
  options.argv = worker_argv;
  options.init = {{"role", role}, {"device", "cpu"}, {"check", true}};
  return options;
}

}  // namespace

ToolResult SampleEmulatedBlocks(const std::vector<std::string>& worker_argv, const Task& task, const std::string& source,
                                const std::string& arch, std::uint64_t seed, const std::stop_token& stop) {
  CompileResult compiled;
  {
    WorkerPool compiler(PoolOptions(worker_argv, "compile"));
    const JobResult result =
        RunAndWait(compiler, {MakeCompileJob(source, arch, true, kCompileDeadline, SizesOfBlockSamples(task))}, stop).front();
    if (!result.reply) return {kTool, "missing", result.death ? result.death->description : "stopped"};
    compiled = ReadCompileResult(result);
  }
  if (compiled.machine_failed) return {kTool, "missing", compiled.message};
  // The kernel runs on the GPU: what the host compiler refuses is what the emulation lacks.
  if (compiled.outcome != Outcome::kOk) return {kTool, "unsupported", compiled.message};
  WorkerPool runner(PoolOptions(worker_argv, "run"));
  const BlockSampleRequest request{
      task.json, task.reference, task.directory.string(), {source, std::move(compiled.checked)}, seed};
  const JobResult result = RunAndWait(runner, {MakeRunJob(ToMessage(request), kDeadline, nullptr)}, stop).front();
  return ReadBlockSample(result);
}

ToolResult ReadBlockSample(const JobResult& result) {
  if (!result.death) {
    try {
      const auto answer = FromReply<ToolResult>(*result.reply);
      if (const auto* tool = std::get_if<ToolResult>(&answer)) return *tool;
      return {kTool, "missing", std::get<InfrastructureReport>(answer).message};
    } catch (const std::exception& error) {
      return {kTool, "crash", fmt::format("the worker sent a malformed reply: {}", PlainText(error))};
    }
  }
  const std::string where = result.run.on.case_name.empty() ? "" : fmt::format("case {}: ", result.run.on.case_name);
  const std::string message = where + result.death->description;
  switch (result.death->kind) {
    case WorkerDeath::Kind::kDeadline:
      return {kTool, "timeout", message};
    case WorkerDeath::Kind::kStopped:
    case WorkerDeath::Kind::kCannotStart:
      return {kTool, "missing", result.death->description};
    default:
      return {kTool, result.death->from_outside ? "missing" : "crash", message};
  }
}

}  // namespace evo
