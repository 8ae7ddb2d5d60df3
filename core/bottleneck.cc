#include "core/bottleneck.h"

#include <algorithm>

namespace evo {
namespace {

struct Row {
  Bottleneck bottleneck;
  std::string_view name;
  std::string_view words;
};

constexpr auto kRows = std::to_array<Row>({
    {Bottleneck::kNone, "", "-"},
    {Bottleneck::kDram, "dram", "DRAM bound"},
    {Bottleneck::kL2, "l2", "L2 bound"},
    {Bottleneck::kArithmetic, "arithmetic", "arithmetic bound"},
    {Bottleneck::kTensorStarved, "tensor_starved", "tensor-starved"},
    {Bottleneck::kSpills, "spills", "spills"},
    {Bottleneck::kBarrier, "barrier", "barrier bound"},
    {Bottleneck::kLatency, "latency", "latency bound"},
    {Bottleneck::kTail, "tail", "tail"},
    {Bottleneck::kLaunch, "launch", "launch bound"},
    {Bottleneck::kUnknown, "unknown", "unknown"},
});

const Row& RowOf(Bottleneck bottleneck) {
  return *std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.bottleneck == bottleneck; });
}

}  // namespace

std::string_view ToString(Bottleneck bottleneck) { return RowOf(bottleneck).name; }

std::string_view Describe(Bottleneck bottleneck) { return RowOf(bottleneck).words; }

std::optional<Bottleneck> ParseBottleneck(std::string_view text) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == text; });
  if (row == kRows.end()) return std::nullopt;
  return row->bottleneck;
}

}  // namespace evo
