#include "mutators/analysis/scans/sums_of_blocks.h"

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/scans/launches_alone.h"

namespace evo {
namespace {

// What shows that it is such a launch.
constexpr std::int64_t kFewSums = 5;
// Rounds of a block that has so many sums for each thread, and more than two of them.
constexpr std::int64_t kSumsOfThread[] = {1, 2, 4, 8};
constexpr std::int64_t kMostSums = 40'000;
constexpr std::int64_t kThreadsOfFullBlock = 1024;  // of a block

bool WasStored(const GridCell& cell) { return cell.write.launch >= 0; }

}  // namespace

std::optional<std::int64_t> SumsOfBlocks::SumsWith(const MutationContext& alone, std::int64_t elements) const {
  GridSetting setting{context_.genome.parameters, size_, elements};
  setting.parameters.insert(others_.begin(), others_.end());
  setting.open = true;
  const GridTrace trace = GridRun(alone).Run(setting);
  if (!trace.refusal.empty() || trace.has_tickets) return std::nullopt;
  const GridMemory* output = nullptr;
  std::size_t most = 0;
  // The total may be stored elsewhere.
  for (const GridMemory& buffer : trace.buffers) {
    const auto stored = static_cast<std::size_t>(std::count_if(buffer.cells.begin(), buffer.cells.end(), WasStored));
    if (buffer.workspace || stored <= most) continue;
    output = &buffer;
    most = stored;
  }
  if (output == nullptr) return std::nullopt;
  for (const GridMemory& input : trace.buffers) {
    if (input.fingerprints < 0 || input.type != output->type) continue;
    for (const bool exclusive : {false, true}) {
      std::uint64_t sum = 0;
      std::size_t right = 0;
      for (; right < output->cells.size(); ++right) {
        const GridCell& cell = output->cells[right];
        const std::uint64_t element = FingerprintOf(input.fingerprints + static_cast<std::int64_t>(right));
        // In place, the first one may stay as it is.
        const bool kept = right == 0 && &input == output && !exclusive && !WasStored(cell);
        const bool is_sum = WasStored(cell) && cell.known != Knowledge::kUnknown &&
                            static_cast<std::uint64_t>(cell.number) == (exclusive ? sum : sum + element);
        if (!kept && !is_sum) break;
        sum += element;
      }
      if (right > 1 && right + 1 >= most && right <= input.cells.size() + (exclusive ? 1 : 0))
        return static_cast<std::int64_t>(right);
    }
  }
  return std::nullopt;
}

bool SumsOfBlocks::Scans(const MutationContext& alone, std::int64_t tile, std::int64_t sums) const {
  const auto found = SumsWith(alone, tile * sums);
  // Perhaps with the total behind them.
  return found && (*found == sums || *found == sums + 1);
}

std::int64_t SumsOfBlocks::MostElements(std::int64_t tile) const {
  const LaunchAlone one(context_, launch_);
  const MutationContext& alone = one.context();
  if (launch_.when) return 0;
  constexpr std::int64_t kMoreSums = 2 * kFewSums + 1;
  const auto few = SumsWith(alone, tile * kFewSums), more = SumsWith(alone, tile * kMoreSums);
  // So many sums whatever the size.
  if (few && more && *few == *more && *few >= kMoreSums) return *few * tile;
  if (!Scans(alone, tile, kFewSums) || !Scans(alone, tile, kMoreSums)) return 0;
  Variables variables = ToVariables(context_.genome.parameters);
  for (const auto& [name, value] : others_) variables[name] = Number::Integer(value);
  const auto threads_with = [&](std::int64_t elements) {
    variables[size_] = Number::Integer(elements);
    std::int64_t product = 1;
    for (const Expression& extent : launch_.block) product *= extent.EvaluateInteger(variables);
    return product;
  };
  std::int64_t threads = 1;
  try {
    threads = threads_with(tile);
    if (threads_with(tile * kMoreSums) != threads) threads = kThreadsOfFullBlock;  // as many as there are sums
  } catch (const Error&) {
    return 0;
  }
  std::int64_t right = kMoreSums;
  for (const std::int64_t each : kSumsOfThread) {
    for (const std::int64_t rounds : {1, 2}) {
      const std::int64_t sums = rounds * each * threads + 1;
      if (sums <= right || sums > kMostSums) continue;
      if (Scans(alone, tile, sums)) {
        right = sums;
        continue;
      }
      std::int64_t wrong = sums;
      while (wrong - right > 1) {
        const std::int64_t middle = right + (wrong - right) / 2;
        (Scans(alone, tile, middle) ? right : wrong) = middle;
      }
      return right * tile;
    }
  }
  return 0;
}

}  // namespace evo
