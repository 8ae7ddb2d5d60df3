#include "mutators/parallelism/scans/part_scan_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/parallelism/whole_source.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kPartScanThreads{32, 64, 128, 256, 512, 1024};
const std::vector<std::int64_t> kPartScanItems{4, 8, 16};

constexpr std::string_view kPartScanText =
    R"(// Four neighbouring elements.
struct alignas(16) @Four {
  @T x, y, z, w;
};

// The sum of the lanes up to this one.
__device__ @T @WarpScan(@T value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const @T left = __shfl_up_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 >= distance) value += left;
  }
  return value;
}

// Each block scans a part, a tile at a time.
__global__ void __launch_bounds__(@THREADS) @kernel(const @In*@restrict X, @T*@restrict Y@sums_parameter, long long @count) {
  constexpr int kTile = @THREADS * @ITEMS;
  constexpr int kVectors = @ITEMS / 4;
  constexpr int kWarps = @THREADS / 32;
  __shared__ @T of_warps[kWarps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first = warp * (@ITEMS * 32) + lane * 4;
  const long long begin = (long long)blockIdx.x * @PART;
@end  @T before_tile = 0;
  for (long long at = begin; at < end; at += kTile) {
    const @In* x = X + at;
    @T* y = Y + at;
    const int own = end - at < kTile ? (int)(end - at) : kTile;
    const bool whole = own == kTile && (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0;
    @Four values[kVectors];
    @T sum = 0;   // of the warp's elements so far
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int i = first + k * 128;
      if (whole) {
        values[k] = @load_four;
      } else {
        values[k].x = i < own ? x[i] : 0;
        values[k].y = i + 1 < own ? x[i + 1] : 0;
        values[k].z = i + 2 < own ? x[i + 2] : 0;
        values[k].w = i + 3 < own ? x[i + 3] : 0;
      }
    }
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      values[k].y += values[k].x;
      values[k].z += values[k].y;
      values[k].w += values[k].z;
      const @T scanned = @WarpScan(values[k].w);
      const @T left = __shfl_up_sync(0xffffffffu, scanned, 1);
      const @T before = lane > 0 ? sum + left : sum;
@add
      sum += __shfl_sync(0xffffffffu, scanned, 31);
    }
    if (lane == 0) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      const @T scanned = @WarpScan(lane < kWarps ? of_warps[lane] : 0);
      if (lane < kWarps) of_warps[lane] = scanned;
    }
    __syncthreads();
    const @T before = warp > 0 ? before_tile + of_warps[warp - 1] : before_tile;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int i = first + k * 128;
      values[k].x += before;
      values[k].y += before;
      values[k].z += before;
      values[k].w += before;
      if (whole) {
        *reinterpret_cast<@Four*>(y + i) = values[k];
      } else {
        if (i < own) y[i] = values[k].x;
        if (i + 1 < own) y[i + 1] = values[k].y;
        if (i + 2 < own) y[i + 2] = values[k].z;
        if (i + 3 < own) y[i + 3] = values[k].w;
      }
    }
    before_tile += of_warps[kWarps - 1];
    __syncthreads();
  }
@store_sum})";

constexpr std::string_view kShortPartText =
    R"(// Each thread scans a part.
__global__ void __launch_bounds__(@THREADS) @kernel(const @In*@restrict X, @T*@restrict Y@sums_parameter, long long count) {
  const long long part = (long long)blockIdx.x * @THREADS + threadIdx.x;
  const long long begin = part * @PART;
  const int own = count - begin < @PART ? (int)(count - begin) : @PART;
  if (own <= 0) return;
  @T sum = 0;
#pragma unroll
  for (int i = 0; i < @PART; ++i) {
    if (i < own) {
      const @T value = X[begin + i];
@add_one
    }
  }
@store_part})";

constexpr std::string_view kPartInclusive = R"(      values[k].x += before;
      values[k].y += before;
      values[k].z += before;
      values[k].w += before;)";
constexpr std::string_view kPartExclusive =
    R"(      values[k] = @Four{before, before + values[k].x, before + values[k].y, before + values[k].z};)";

// Shorter ones leave most threads of a warp without elements.
constexpr std::int64_t kShortestOfBlock = 32;

}  // namespace

Proposal PartScanProposal(const MutationContext& context, const PartScan& scan) {
  const SyntaxTree& tree = context.tree;
  const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
  const std::string threads = unused("THREADS"), items = unused("ITEMS"), kernel = unused("scan_of_parts");
  const bool sums = !scan.sums.empty();
  const bool rows = !scan.rows.empty(), of_thread = !rows && scan.part < kShortestOfBlock;
  std::string text(of_thread ? kShortPartText : kPartScanText);
  // In this order: a mark may begin another.
  const bool same = scan.input_type.empty();
  const std::vector<std::pair<std::string_view, std::string>> marks{
      {"@load_four",
       same ? "*reinterpret_cast<const @Four*>(x + i)" : "@Four{(@T)x[i], (@T)x[i + 1], (@T)x[i + 2], (@T)x[i + 3]}"},
      {"@In", same ? scan.type : scan.input_type},
      {"@add_one",
       scan.exclusive ? "      Y[begin + i] = sum;\n      sum += value;" : "      sum += value;\n      Y[begin + i] = sum;"},
      {"@add", std::string(scan.exclusive ? kPartExclusive : kPartInclusive)},
      {"@store_part", sums ? "  sums[part] = sum;\n" : ""},
      {"@end", rows ? "  const long long end = begin + length;\n"
                    : "  const long long end = begin + @PART < count ? begin + @PART : count;\n"},
      {"@count", rows ? "length" : "count"},
      {"@store_sum", sums ? "  if (threadIdx.x == 0) sums[blockIdx.x] = before_tile;\n" : ""},
      {"@sums_parameter", sums ? ", @T* sums" : ""},
      {"@Four", unused("Four")},
      {"@WarpScan", unused("WarpScan")},
      {"@THREADS", threads},
      {"@ITEMS", items},
      {"@PART", rows ? "length" : std::to_string(scan.part)},
      {"@kernel", kernel},
      {"@restrict", scan.input == scan.output ? "" : " __restrict__"},
      {"@T", scan.type},
  };
  for (const auto& [mark, by] : marks) boost::replace_all(text, mark, by);

  Proposal proposal;
  proposal.parameters = scan.parameters;
  std::int64_t initial = rows || of_thread ? 256 : 32;
  while (initial < 256 && initial * 4 < scan.part) initial *= 2;
  proposal.brings = {{threads, kPartScanThreads, initial}};
  if (!of_thread) proposal.brings.push_back({items, kPartScanItems, 4});
  std::string grid = rows ? scan.rows : fmt::format("ceil_div({}, {})", scan.Elements(), scan.part);
  if (of_thread) grid = fmt::format("ceil_div({}, {})", grid, threads);
  const std::string line = fmt::format("launch {}({}, {}{}, i64({})) grid({}) block({}){}", kernel, scan.input, scan.output,
                                       sums ? ", " + scan.sums : "", scan.Elements(), grid, threads,
                                       scan.when.empty() ? "" : fmt::format(" when({})", scan.when));
  ReplaceLaunches(context, {kernel, text, {line}, scan.when, scan.kernels.front(), scan.kernels, scan.functions}, proposal);
  return proposal;
}

}  // namespace evo
