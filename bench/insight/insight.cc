// evo-bench-insight ARCH CUBIN...: what insight costs for each candidate. For every file: the microseconds of reading its machine
// code and of finding its bottleneck, the median of many repetitions, and what the code consists of.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/diagnosis.h"
#include "evaluator/compiler/nvrtc/instruction_mix.h"

namespace evo {
namespace {

constexpr int kRepetitions = 2001;

template <typename Work>
double MedianMicroseconds(Work work) {
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  const auto middle = times.begin() + kRepetitions / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// An H100's rates, and a kernel that no rule but the last fits.
DiagnosedDevice Device(const std::string& arch) {
  DiagnosedDevice device;
  device.machine.launch_ns = 800;
  device.machine.dram_bytes_per_s = 3e12;
  device.machine.l2_bytes_per_s = 6e12;
  device.machine.f32_per_s = 60e12;
  device.machine.tensor_per_s = 700e12;
  device.arch = arch;
  device.multiprocessors = 132;
  return device;
}

void Measure(const std::string& file, const std::string& arch) {
  std::ifstream in(file, std::ios::binary);
  const std::string cubin{std::istreambuf_iterator<char>(in), {}};
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.device = "cuda";
  evaluation.facts.occupancy = 0.5;
  CaseMeasurement& measured = evaluation.cases.emplace_back();
  measured.median_ns = 100'000;
  measured.bytes = 30e6;
  measured.operations = 60e6;
  measured.launches = "k<4> grid 1056x2x1 block 256x1x1 shared 0";
  const double read = MedianMicroseconds([&] { evaluation.facts.mix = CountInstructions(cubin, arch); });
  const DiagnosedDevice device = Device(arch);
  Diagnosis diagnosis;
  const double found = MedianMicroseconds([&] { diagnosis = Diagnose(evaluation, device); });
  fmt::print("{}: {} bytes, {} instructions, machine code {:.1f} us, bottleneck {:.1f} us ({})\n", file, cubin.size(),
             evaluation.facts.mix.instructions, read, found, ToString(diagnosis.bottleneck));
}

}  // namespace
}  // namespace evo

int main(int count, char** arguments) {
  for (int i = 2; i < count; ++i) evo::Measure(arguments[i], arguments[1]);
  return count > 2 ? 0 : 2;
}
