#include "core/bottleneck.h"

#include <algorithm>

namespace evo {
namespace {

struct Row {
  Bottleneck bottleneck;
  std::string_view name;
  std::string_view cause;
  std::string_view words;
};

constexpr auto kRows = std::to_array<Row>({
    {Bottleneck::kNone, "", "", "-"},
    {Bottleneck::kDram, "dram", "DRAM", "DRAM bound"},
    {Bottleneck::kL2, "l2", "L2", "L2 bound"},
    {Bottleneck::kL1, "l1", "L1 and shared memory", "L1 bound"},
    {Bottleneck::kArithmetic, "arithmetic", "arithmetic", "arithmetic bound"},
    {Bottleneck::kTensorStarved, "tensor_starved", "missing tensor instructions", "tensor-starved"},
    {Bottleneck::kSpills, "spills", "spills", "spilling registers"},
    {Bottleneck::kBarrier, "barrier", "barriers", "barrier bound"},
    {Bottleneck::kLatency, "latency", "latency", "latency bound"},
    {Bottleneck::kTail, "tail", "idle multiprocessors", "multiprocessors idle"},
    {Bottleneck::kLaunch, "launch", "launch", "launch bound"},
    {Bottleneck::kUnknown, "unknown", "unknown", "unknown"},
});

const Row& RowOf(Bottleneck bottleneck) {
  return *std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.bottleneck == bottleneck; });
}

}  // namespace

std::string_view ToString(Bottleneck bottleneck) { return RowOf(bottleneck).name; }

std::string_view CauseOf(Bottleneck bottleneck) { return RowOf(bottleneck).cause; }

std::string_view Describe(Bottleneck bottleneck) { return RowOf(bottleneck).words; }

std::optional<Bottleneck> ParseBottleneck(std::string_view text) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == text; });
  if (row == kRows.end()) return std::nullopt;
  return row->bottleneck;
}

}  // namespace evo
