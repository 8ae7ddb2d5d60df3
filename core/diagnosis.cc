#include "core/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace evo {
namespace {

// A kernel is near a rate from this share on. The bytes and operations are the least that any kernel needs, so that one at 60% of
// them moves or computes more than that. Arithmetic shares the issue slots with the loads that feed it.
constexpr double kNear = 0.6;
constexpr double kNearArithmetic = 0.5;
// An empty kernel's time so many times is mostly start and end.
constexpr double kLaunches = 2;
// Spills, and arrays that are no registers, matter where so many of the instructions touch local memory; one spill in a prologue
// does not.
constexpr double kSpilling = 0.02;
// Where the machine code is not known: so many spilled bytes are more than a prologue's.
constexpr int kManySpilledBytes = 64;
// A loop with two barriers and a hundred other instructions has 2%.
constexpr double kWaiting = 0.03;
// With fewer warps, even four independent loads of each hide less than half of the latency of memory.
constexpr double kFewWarps = 0.25;
// The last wave of blocks leaves more than a third of the multiprocessors' time unused.
constexpr double kUsedWaves = 0.67;
constexpr int kWarpThreads = 32;

std::string Percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string MemoryWords(const RateShares& shares) {
  const std::string_view memory = shares.of_l2 ? "L2" : "DRAM";
  // The peak is that of kernels of our own, which others may surpass: that of DRAM reads as much as it writes.
  if (shares.memory > 1)
    return fmt::format("{} of the {} bandwidth of {}", Percent(shares.memory), memory, shares.of_l2 ? "a sum" : "a copy");
  return fmt::format("{} of the peak {} bandwidth", Percent(shares.memory), memory);
}

std::string ArithmeticWords(const RateShares& shares) {
  return fmt::format("{} of the peak of {}", Percent(shares.arithmetic), shares.of_tensor ? "tensor cores" : "FMA pipes");
}

// "87% of the peak DRAM bandwidth and 3% of the peak of FMA pipes", of those that are known.
std::string RateWords(const RateShares& shares) {
  const bool memory = !std::isnan(shares.memory);
  const bool arithmetic = !std::isnan(shares.arithmetic);
  return fmt::format("{}{}{}", memory ? MemoryWords(shares) : "", memory && arithmetic ? " and " : "",
                     arithmetic ? ArithmeticWords(shares) : "");
}

// The launch with the most threads: the facts of several kernels are the largest values of all.
std::optional<DescribedLaunch> LargestLaunch(const CaseMeasurement& measured) {
  const std::vector<DescribedLaunch> launches = LaunchesOf(measured.launches);
  const auto less = [](const DescribedLaunch& a, const DescribedLaunch& b) {
    return a.blocks * a.threads < b.blocks * b.threads;
  };
  const auto largest = std::max_element(launches.begin(), launches.end(), less);
  return largest == launches.end() ? std::nullopt : std::optional(*largest);
}

// A step of Diagnose each: nullopt if it is not that.
struct Question {
  const KernelFacts& facts;
  const CaseMeasurement& measured;
  const DiagnosedDevice& device;
  RateShares shares;
  std::optional<DescribedLaunch> launch;
  OccupancyLimit limit;
};
using Answer = std::optional<Diagnosis>;

double Of(int part, int whole) { return part < 0 || whole <= 0 ? kNoValue : static_cast<double>(part) / whole; }

Answer IsLaunch(const Question& q) {
  const auto launches = static_cast<double>(std::max<std::size_t>(1, LaunchesOf(q.measured.launches).size()));
  if (!(q.measured.median_ns <= kLaunches * launches * q.device.machine.launch_ns)) return std::nullopt;
  return Diagnosis{Bottleneck::kLaunch,
                   fmt::format("{:.2f} us, where {} of an empty kernel take{} {:.2f} us", q.measured.median_ns / 1e3,
                               launches > 1 ? fmt::format("{:.0f} launches", launches) : "a launch", launches > 1 ? "" : "s",
                               launches * q.device.machine.launch_ns / 1e3)};
}

Answer IsMemory(const Question& q) {
  if (!(q.shares.memory >= kNear)) return std::nullopt;
  return Diagnosis{q.shares.of_l2 ? Bottleneck::kL2 : Bottleneck::kDram, MemoryWords(q.shares)};
}

// A contraction is what the FMA pipes need longer for than memory needs for its bytes.
Answer IsTensorStarved(const Question& q) {
  const MachineState& machine = q.device.machine;
  const bool contraction = q.measured.operations / machine.f32_per_s > q.measured.bytes / machine.dram_bytes_per_s;
  if (!q.device.half || !contraction || q.facts.mix.tensor_operations != 0) return std::nullopt;
  return Diagnosis{Bottleneck::kTensorStarved,
                   fmt::format("a contraction of 16-bit numbers, and no tensor instruction among {}; {}",
                               q.facts.mix.instructions, RateWords(q.shares))};
}

Answer IsArithmetic(const Question& q) {
  if (!(q.shares.arithmetic >= kNearArithmetic)) return std::nullopt;
  return Diagnosis{Bottleneck::kArithmetic, ArithmeticWords(q.shares)};
}

Answer IsSpilling(const Question& q) {
  const double share = Of(q.facts.mix.local_accesses, q.facts.mix.instructions);
  const bool many = std::isnan(share) ? q.facts.spill_bytes >= kManySpilledBytes : share >= kSpilling;
  if (q.facts.spill_bytes <= 0 || !many) return std::nullopt;
  return Diagnosis{
      Bottleneck::kSpills,
      fmt::format("{} bytes of spills a thread{}", q.facts.spill_bytes,
                  std::isnan(share) ? "" : fmt::format(", {} of the instructions access local memory", Percent(share)))};
}

Answer IsTail(const Question& q) {
  if (!q.launch || q.device.multiprocessors <= 0) return std::nullopt;
  if (q.launch->blocks < q.device.multiprocessors) {
    if (q.launch->blocks >= kUsedWaves * q.device.multiprocessors) return std::nullopt;
    return Diagnosis{Bottleneck::kTail,
                     fmt::format("{:.0f} blocks for {} multiprocessors", q.launch->blocks, q.device.multiprocessors)};
  }
  if (q.limit.blocks <= 0) return std::nullopt;
  const double waves = q.launch->blocks / q.device.multiprocessors / q.limit.blocks;
  if (waves <= 1 || waves / std::ceil(waves) >= kUsedWaves) return std::nullopt;
  return Diagnosis{Bottleneck::kTail,
                   fmt::format("{:.2f} waves of blocks: the last leaves {} of the multiprocessors' time unused", waves,
                               Percent(1 - waves / std::ceil(waves)))};
}

Answer IsBarrier(const Question& q) {
  const InstructionMix& mix = q.facts.mix;
  if (!(Of(mix.barriers, mix.instructions) >= kWaiting)) return std::nullopt;
  if (q.launch && q.launch->threads <= kWarpThreads) return std::nullopt;  // a warp waits for nobody
  return Diagnosis{Bottleneck::kBarrier, fmt::format("{} of {} instructions are barriers", mix.barriers, mix.instructions)};
}

Answer IsLatency(const Question& q) {
  const std::string rates = RateWords(q.shares);
  if (q.facts.occupancy < kFewWarps) {
    return Diagnosis{Bottleneck::kLatency,
                     fmt::format("occupancy {:.2f}{}{}", q.facts.occupancy,
                                 q.limit.by.empty() ? "" : ", limited by " + q.limit.by, rates.empty() ? "" : "; " + rates)};
  }
  if (rates.empty()) return std::nullopt;
  const InstructionMix& mix = q.facts.mix;
  const bool narrow = mix.loads_32 > 0 && mix.loads_64 == 0 && mix.loads_128 == 0 && mix.async_copies == 0;
  const double local = Of(mix.local_accesses, mix.instructions);
  return Diagnosis{
      Bottleneck::kLatency,
      fmt::format("{}{}{}", rates, narrow ? "; all loads are of 32 bits or fewer" : "",
                  local >= kSpilling ? fmt::format("; {} of the instructions access local memory", Percent(local)) : "")};
}

}  // namespace

bool IsHalf(std::string_view arithmetic) { return arithmetic == "f16" || arithmetic == "bf16"; }

RateShares SharesOf(const InstructionMix& mix, const CaseMeasurement& measured, const DiagnosedDevice& device) {
  const MachineState& machine = device.machine;
  RateShares shares;
  const auto share = [&](double amount, double rate) { return rate > 0 ? amount / measured.median_ns * 1e9 / rate : kNoValue; };
  shares.of_l2 = !device.cold && measured.bytes <= static_cast<double>(machine.l2_bytes);
  shares.memory = share(measured.bytes, shares.of_l2 ? machine.l2_bytes_per_s : machine.dram_bytes_per_s);
  shares.of_tensor = mix.tensor_operations > 0;
  shares.arithmetic = share(measured.operations, shares.of_tensor ? machine.tensor_per_s : machine.f32_per_s);
  return shares;
}

Diagnosis Diagnose(const KernelFacts& facts, const CaseMeasurement& measured, const DiagnosedDevice& device) {
  if (!(measured.median_ns > 0)) return {};
  Question question{facts, measured, device, SharesOf(facts.mix, measured, device), LargestLaunch(measured), {}};
  if (question.launch) question.limit = LimitOf(facts, question.launch->threads, LimitsOf(device.arch));
  for (const auto step : {IsLaunch, IsMemory, IsTail, IsTensorStarved, IsArithmetic, IsSpilling, IsBarrier, IsLatency}) {
    if (Answer answer = step(question)) return *answer;
  }
  const bool measured_device = device.machine.dram_bytes_per_s > 0;
  return {Bottleneck::kUnknown,
          fmt::format("{}, and the code shows nothing unusual", measured_device ? "the task declares neither bytes nor operations"
                                                                                : "the rates of the device were not measured")};
}

Diagnosis Diagnose(const Evaluation& evaluation, const DiagnosedDevice& device) {
  if (evaluation.outcome != Outcome::kOk || evaluation.device != "cuda" || evaluation.cases.empty()) return {};
  const auto less = [](const CaseMeasurement& a, const CaseMeasurement& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.median_ns < b.median_ns;
  };
  return Diagnose(evaluation.facts, *std::max_element(evaluation.cases.begin(), evaluation.cases.end(), less), device);
}

std::string DescribeOccupancy(const Evaluation& evaluation, std::string_view arch) {
  const MultiprocessorLimits limits = LimitsOf(arch);
  if (evaluation.device != "cuda" || evaluation.cases.empty() || limits.warps == 0) return "";
  const auto launch = LargestLaunch(evaluation.cases.front());
  if (!launch) return "";
  const OccupancyLimit limit = LimitOf(evaluation.facts, launch->threads, limits);
  const int warps = limit.blocks * ((launch->threads + kWarpThreads - 1) / kWarpThreads);
  return fmt::format("{} of {} warps a multiprocessor, {}", warps, limits.warps,
                     limit.full ? "which is all" : "limited by " + limit.by);
}

}  // namespace evo
