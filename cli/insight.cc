#include "cli/insight.h"

#include <fmt/format.h>

#include "cli/print.h"
#include "core/diagnosis.h"

namespace evo {

std::string DescribeBottleneck(const Evaluation& evaluation) {
  if (evaluation.outcome != Outcome::kOk) return "";
  if (evaluation.device == "cpu") return "not known: there is no machine code of a GPU on the cpu device";
  if (evaluation.bottleneck == Bottleneck::kNone) return "not recorded";
  return fmt::format("{}: {}", Describe(evaluation.bottleneck), evaluation.evidence);
}

std::string DescribeMix(const InstructionMix& mix) {
  if (mix.instructions < 0) return "";
  std::string text;
  const auto add = [&](int count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, what);
  };
  add(mix.loads_128, "128-bit loads");
  add(mix.loads_64, "64-bit loads");
  add(mix.loads_32, "narrower loads");
  add(mix.stores, "stores");
  add(mix.async_copies, "asynchronous copies");
  add(mix.shared_loads, "shared loads");
  add(mix.shared_stores, "shared stores");
  add(mix.tensor_operations, "tensor");
  add(mix.float_operations, "float");
  add(mix.integer_operations, "integer");
  add(mix.special_functions, "special functions");
  add(mix.conversions, "conversions");
  add(mix.barriers, "barriers");
  add(mix.branches, "branches");
  add(mix.local_accesses, "local loads and stores");
  return fmt::format("{} instructions{}", mix.instructions, text);
}

void DiagnoseOlder(Evaluation& evaluation, const RunRecord& run, const std::vector<MachineState>& machines) {
  if (evaluation.bottleneck != Bottleneck::kNone || machines.empty()) return;
  DiagnosedDevice device;
  device.machine = machines.front();
  device.arch = run.arch;
  device.cold = run.l2 == "cold";
  device.half = IsHalf(run.arithmetic);
  const Diagnosis diagnosis = Diagnose(evaluation, device);
  evaluation.bottleneck = diagnosis.bottleneck;
  evaluation.evidence = diagnosis.evidence;
}

void PrintBottleneck(std::FILE* out, const Evaluation& evaluation) {
  if (const std::string text = DescribeBottleneck(evaluation); !text.empty()) Print(out, "bottleneck  {}\n", text);
}

void PrintInsight(std::FILE* out, const Evaluation& evaluation, const std::string& arch) {
  if (const std::string text = DescribeOccupancy(evaluation, arch); !text.empty()) Print(out, "occupancy   {}\n", text);
  if (const std::string text = DescribeMix(evaluation.facts.mix); !text.empty()) Print(out, "code        {}\n", text);
  PrintBottleneck(out, evaluation);
}

}  // namespace evo
