#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace evo {

// What a kernel's time is spent on. docs/insight.md says how it is found.
enum class Bottleneck {
  kNone,           // not looked at: another device, an older version, or a program that is not ok
  kDram,           // near the rate of the device's memory
  kL2,             // near the rate of L2, which holds all that is moved
  kL1,             // near the rate of L1 and shared memory, or of its banks; only counters show it
  kArithmetic,     // near the rate of the arithmetic that it uses
  kTensorStarved,  // sums of products of 16-bit numbers without tensor instructions
  kSpills,         // registers that do not fit are in memory
  kBarrier,        // threads wait for each other
  kLatency,        // near no rate: too few warps, or each waits too long
  kTail,           // multiprocessors have nothing to do for much of the time
  kLaunch,         // not much longer than an empty kernel
  kUnknown,        // looked at, and nothing is known that says it
};

inline constexpr std::array kBottlenecks{
    Bottleneck::kDram,          Bottleneck::kL2,     Bottleneck::kL1,      Bottleneck::kArithmetic,
    Bottleneck::kTensorStarved, Bottleneck::kSpills, Bottleneck::kBarrier, Bottleneck::kLatency,
    Bottleneck::kTail,          Bottleneck::kLaunch, Bottleneck::kUnknown};

// The name in the database and in JSON, such as "tensor_starved"; empty for kNone. Names never change.
std::string_view ToString(Bottleneck bottleneck);
std::optional<Bottleneck> ParseBottleneck(std::string_view text);
// What limits the kernel, for people: "DRAM", "barriers"; empty for kNone.
std::string_view CauseOf(Bottleneck bottleneck);
// What the kernel is, for people: "DRAM bound", "tensor-starved"; "-" for kNone.
std::string_view Describe(Bottleneck bottleneck);

}  // namespace evo
