// A worker that computes nothing, in the place of a launcher and of what it starts: a run worker answers after a while, a compile
// worker at once. So the coordinator can be measured with more GPUs than there are (bench/cluster/coordinator).
//   evo-bench-fake-worker MILLISECONDS KIBIBYTES [WORD...]   of an evaluation, of an image; further words are ignored
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "core/digest.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/worker_identity.h"
#include "evaluator/workers/worker_main.h"
#include "kernel_templates/case_scale.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

struct Costs {
  std::chrono::milliseconds evaluation{770};
  std::size_t image_bytes = 0;
};

// The same for the same text, from 0 to 1.
double FractionOf(const std::string& text) { return static_cast<double>(std::hash<std::string>{}(text) % 10'000) / 10'000; }

DeviceInfo FakeGpu() {
  DeviceInfo gpu;
  gpu.kind = "cuda";
  gpu.name = "a GPU that is not there";
  gpu.arch = "sm_90a";
  gpu.memory_bytes = std::size_t{140} << 30;
  gpu.l2_bytes = std::size_t{50} << 20;
  gpu.shared_bytes_per_block_optin = 227 << 10;
  gpu.multiprocessors = 132;
  gpu.tick_ns = 32;
  gpu.driver = "none";
  gpu.uuid = "GPU-" + std::to_string(::getpid());
  return gpu;
}

class FakeRunRole : public WorkerRole {
 public:
  explicit FakeRunRole(Costs costs) : costs_(costs) {}
  nlohmann::json Describe() override { return {{"device", gpu_}}; }
  Message Handle(const Message& job, WorkerChannel& channel) override {
    const RunRequest request = ToRunRequest(job);
    if (const auto* setup = std::get_if<SetupRequest>(&request)) {
      task_ = ParseTask(setup->task_json, setup->task_reference, setup->task_directory);
      return {};
    }
    if (std::holds_alternative<MachineRequest>(request)) {
      Message reply = ToReply(Machine());
      reply.header["uuid"] = gpu_.uuid;
      return reply;
    }
    if (const auto* evaluate = std::get_if<EvaluateRequest>(&request)) return ToReply(Evaluate(*evaluate, channel));
    return ToReply(InfrastructureReport{"a fake worker does not know this"});
  }

 private:
  static MachineState Machine() {
    MachineState machine;
    machine.launch_ns = 2'000;
    machine.control_ratio = 4;
    machine.dram_bytes_per_s = 4e12;
    machine.l2_bytes_per_s = 1e13;
    machine.f32_per_s = 6e13;
    machine.tensor_per_s = 9e14;
    machine.l2_bytes = std::size_t{50} << 20;
    return machine;
  }

  Evaluation Evaluate(const EvaluateRequest& request, WorkerChannel& channel) const {
    channel.Begin(Stage::kLoad);
    channel.Begin(Stage::kCheck);
    std::this_thread::sleep_for(costs_.evaluation);
    channel.Begin(Stage::kTime);
    Evaluation evaluation;
    evaluation.outcome = Outcome::kOk;
    evaluation.stage = Stage::kTime;
    evaluation.device = gpu_.kind;
    evaluation.device_name = gpu_.name;
    evaluation.l2 = "hot";
    evaluation.facts = request.facts;
    evaluation.image_digest = Digest(request.candidate.source);
    for (const Case& one : SearchCases(*task_, CaseScale::kGpu)) {
      CaseMeasurement& measured = evaluation.cases.emplace_back();
      measured.name = one.name;
      measured.weight = one.weight;
      measured.median_ns = 50'000 * (0.5 + FractionOf(request.candidate.source));
      measured.p10_ns = measured.p90_ns = measured.busy_ns = measured.median_ns;
      measured.tick_ns = gpu_.tick_ns;
      measured.samples.assign(50, static_cast<std::uint32_t>(measured.median_ns / measured.tick_ns));
      measured.max_error = measured.l2_error = 0;
      measured.launches = "fake grid 132x1x1 block 256x1x1";
    }
    evaluation.score_ns = Score(evaluation.cases);
    return evaluation;
  }

  Costs costs_;
  DeviceInfo gpu_ = FakeGpu();
  std::optional<Task> task_;
};

class FakeCompileRole : public WorkerRole {
 public:
  explicit FakeCompileRole(Costs costs) : costs_(costs) {}
  Message Handle(const Message& job, WorkerChannel& channel) override {
    const CompileWorkerRequest request = ToCompileWorkerRequest(job);
    const auto* compile = std::get_if<CompileRequest>(&request);
    if (compile == nullptr) return {};
    channel.Begin(Stage::kCompile);
    CompileResult result;
    result.outcome = Outcome::kOk;
    result.program.image = std::string(costs_.image_bytes, 'i');
    result.program_digest = Digest(compile->source);
    result.facts.registers = 32 + static_cast<int>(200 * FractionOf(compile->source));
    result.facts.spill_bytes = 0;
    return ToMessage(result);
  }

 private:
  Costs costs_;
};

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const evo::Costs costs{std::chrono::milliseconds(std::atoi(argv[1])), std::size_t{1024} * std::strtoul(argv[2], nullptr, 10)};
  return evo::WorkerMain({{"run", [&](const nlohmann::json&) { return std::make_unique<evo::FakeRunRole>(costs); }},
                          {"compile", [&](const nlohmann::json&) { return std::make_unique<evo::FakeCompileRole>(costs); }}},
                         evo::Introduction("fake"));
}
