#include "mutators/parallelism/scans/look_back_writer.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

constexpr std::string_view kScanState =
    R"(// What a tile publishes in one word: above whether `sum` is that of the tile (1) or of all elements up to its end (2).
__device__ unsigned long long @State(unsigned kind, @T sum) {
  return (unsigned long long)kind << 32 | @bits;
}

)";

// Of elements of 8 bytes: each half of a sum in a word of its own. Each kind is published once, so that words of one kind belong
// together.
constexpr std::string_view kLongScanState =
    R"(// Four neighbouring elements.
struct alignas(16) @T4 {
  @T x, y, z, w;
};

__device__ @T4 make_@T4(@T x, @T y, @T z, @T w) { return @T4{x, y, z, w}; }

// A tile publishes two words, each with one half of `sum`, above whether it is that of the tile (1) or of all elements up to its
// end (2).
__device__ void @Publish(volatile unsigned long long* states, int tile, unsigned kind, @T sum) {
  const unsigned long long bits = @bits, above = (unsigned long long)kind << 32;
  states[2 * (size_t)tile] = above | (bits & 0xffffffffu);
  states[2 * (size_t)tile + 1] = above | bits >> 32;
}

// What a tile has published, and which sum that is: 0 for none yet. Before the first tile it is zero.
__device__ unsigned @Look(const volatile unsigned long long* states, int tile, @T& sum) {
  sum = @0;
  if (tile < 0) return 2;
  const unsigned long long low = states[2 * (size_t)tile], high = states[2 * (size_t)tile + 1];
  if (low >> 32 != high >> 32) return 0;   // one half is not there yet
  const unsigned long long bits = high << 32 | (low & 0xffffffffu);
  sum = @value;
  return (unsigned)(low >> 32);
}

)";

constexpr std::string_view kScanLoads =
    R"(// Four elements of the tile from i on; zeros behind its end.
__device__ @T4 @LoadFour(const @In* x, int i, int count, bool whole) {
  if (whole) @load_whole
  return make_@T4(i < count ? x[i] : @0, i + 1 < count ? x[i + 1] : @0, i + 2 < count ? x[i + 2] : @0,
                     i + 3 < count ? x[i + 3] : @0);
}

// The sum of the lanes up to this one.
__device__ @T @WarpScan(@T value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const @T left = __shfl_up_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 >= distance) value += left;
  }
  return value;
}

)";

// Floats: from left to right, from the nearest tile that knows the sum of all before it.
constexpr std::string_view kOrderedLookBack =
    R"(// The sum of all tiles before this one, for each lane of a warp; always added from left to right.
__device__ @T @TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  const int other = tile - 32 + lane;
  unsigned long long state;
  unsigned prefixes;
  int last;   // the nearest tile that knows what is before it
  do {
    state = other >= 0 ? states[other] : @State(2, @0);
    prefixes = __ballot_sync(0xffffffffu, state >> 32 == 2);
    last = 31 - __clz(prefixes);
    // Wait for such a tile, and for the sums of all tiles behind it.
  } while (prefixes == 0 || __ballot_sync(0xffffffffu, lane > last && state >> 32 == 0) != 0);
  const @T sum = @value;
  @T before = __shfl_sync(0xffffffffu, sum, last);
  for (int next = last + 1; next < 32; ++next) before += __shfl_sync(0xffffffffu, sum, next);
  return before;
}

)";

// Integers: 32 tiles at a time, in any order.
constexpr std::string_view kLookBack =
    R"(// The sum of all tiles before this one, for each lane of a warp, 32 tiles at a time.
__device__ @T @TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  @T before = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    const int other = nearest - lane;
    unsigned long long state;
    do {
      state = other >= 0 ? states[other] : @State(2, 0);
    } while (__any_sync(0xffffffffu, state >> 32 == 0));
    const unsigned prefixes = __ballot_sync(0xffffffffu, state >> 32 == 2);
    // Tiles behind the nearest that knows what is before it count with their own sums.
    @T sum = prefixes == 0 || lane < __ffs(prefixes) ? @value : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    before += sum;
    if (prefixes != 0) return before;
  }
}

)";

// The same of elements of 8 bytes.
constexpr std::string_view kLongOrderedLookBack =
    R"(// The sum of all tiles before this one, for each lane of a warp; always added from left to right.
__device__ @T @TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  @T sum;
  unsigned kind, prefixes;
  int last;   // the nearest tile that knows what is before it
  do {
    kind = @Look(states, tile - 32 + lane, sum);
    prefixes = __ballot_sync(0xffffffffu, kind == 2);
    last = 31 - __clz(prefixes);
    // Wait for such a tile, and for the sums of all tiles behind it.
  } while (prefixes == 0 || __ballot_sync(0xffffffffu, lane > last && kind == 0) != 0);
  @T before = __shfl_sync(0xffffffffu, sum, last);
  for (int next = last + 1; next < 32; ++next) before += __shfl_sync(0xffffffffu, sum, next);
  return before;
}

)";
constexpr std::string_view kLongLookBack =
    R"(// The sum of all tiles before this one, for each lane of a warp, 32 tiles at a time.
__device__ @T @TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  @T before = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    @T sum;
    unsigned kind;
    do {
      kind = @Look(states, nearest - lane, sum);
    } while (__any_sync(0xffffffffu, kind == 0));
    const unsigned prefixes = __ballot_sync(0xffffffffu, kind == 2);
    // Tiles behind the nearest that knows what is before it count with their own sums.
    if (prefixes != 0 && lane >= __ffs(prefixes)) sum = 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    before += sum;
    if (prefixes != 0) return before;
  }
}

)";

constexpr std::string_view kKernel =
    R"(// Prefix sums in one pass: a block scans a tile, publishes its sum and adds up those of the tiles before it, until one of
// these knows the sum of all before it (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// 2016).
__global__ void __launch_bounds__(@THREADS) @kernel(const @In*@restrict X, @T*@restrict Y,@also_parameter
    unsigned long long* states, unsigned* ticket, @index count) {
  constexpr int kTile = @THREADS * @ITEMS;
  constexpr int kVectors = @ITEMS / 4;
  constexpr int kWarps = @THREADS / 32;
  __shared__ @T sums[kWarps];
  __shared__ @T tiles_before;
  __shared__ int tile_of_block;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  // Tiles in the order in which blocks start: those that a block waits for have started before it.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const int tile = tile_of_block;
  const @index begin = @wide_tile * kTile;
  const @In* x = X + begin;
  @T* y = Y + begin;
@also_begin  const int own = count - begin < kTile ? count - begin : kTile;
@declare_read  const bool whole = own == kTile && (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)@also) % 16 == 0;

  const int first = warp * (@ITEMS * 32) + lane * 4;
  @T4 values[kVectors];
  @T sum = @0;   // of the warp's elements so far
#pragma unroll
  for (int k = 0; k < kVectors; ++k) values[k] = @LoadFour(x, first + k * 128, @read);
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
  if (lane == 0) sums[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    const @T scanned = @WarpScan(lane < kWarps ? sums[lane] : @0);
    const @T total = __shfl_sync(0xffffffffu, scanned, 31);
    volatile unsigned long long* published = states;
    if (lane == 0) published[tile] = @State(1, total);
    const @T before = @TilesBefore(published, tile);
    if (lane == 0) {
      published[tile] = @State(2, before + total);
@store_total      tiles_before = before;
    }
    if (lane < kWarps) sums[lane] = scanned;
  }
  __syncthreads();
  const @T before = warp > 0 ? tiles_before + sums[warp - 1] : tiles_before;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int i = first + k * 128;
    values[k].x += before;
    values[k].y += before;
    values[k].z += before;
    values[k].w += before;
    if (whole) {
      *reinterpret_cast<@T4*>(y + i) = values[k];
@also_four    } else {
      if (i < own) y[i] = values[k].x;
      if (i + 1 < own) y[i + 1] = values[k].y;
      if (i + 2 < own) y[i + 2] = values[k].z;
      if (i + 3 < own) y[i + 3] = values[k].w;
@also_single    }
  }
})";

// Where the elements are shorter than the sums.
constexpr std::string_view kShorterElements =
    R"(// Four neighbouring elements of the input.
struct alignas(4 * sizeof(@In)) @ReadFour {
  @In x, y, z, w;
};

)";
constexpr std::string_view kLoadShorter =
    R"({
    const @ReadFour four = *reinterpret_cast<const @ReadFour*>(x + i);
    return make_@T4(four.x, four.y, four.z, four.w);
  })";

constexpr std::string_view kAddInclusive = R"(    values[k].x += before;
    values[k].y += before;
    values[k].z += before;
    values[k].w += before;)";
constexpr std::string_view kAddExclusive =
    R"(    values[k] = make_@T4(before, before + values[k].x, before + values[k].y, before + values[k].z);)";

// How a type is written, made of bits and made into bits, and its vectors.
struct ScanType {
  std::string_view type, name, bits, value, zero, vector;
};
constexpr ScanType kScanTypes[] = {
    {"float", "float", "__float_as_uint(sum)", "__uint_as_float((unsigned)state)", "0.0f", "float4"},
    {"int", "int", "(unsigned)sum", "(int)(unsigned)state", "0", "int4"},
    {"unsigned int", "unsigned", "sum", "(unsigned)state", "0", "uint4"},
    {"double", "double", "(unsigned long long)__double_as_longlong(sum)", "__longlong_as_double((long long)bits)", "0.0", ""},
    {"long", "long", "(unsigned long long)sum", "(long)bits", "0", ""},
    {"unsigned long", "unsigned long", "sum", "bits", "0", ""},
    {"long long", "long long", "(unsigned long long)sum", "(long long)bits", "0", ""},
    {"unsigned long long", "unsigned long long", "sum", "bits", "0", ""},
};

const ScanType& ScanTypeOf(const std::string& type) {
  return *std::find_if(std::begin(kScanTypes), std::end(kScanTypes), [&](const ScanType& one) { return one.type == type; });
}

}  // namespace

std::string LookBackText(const SyntaxTree& tree, const PrefixScan& scan, const LookBackNames& names) {
  const ScanType& type = ScanTypeOf(scan.type);
  const bool real = type.zero != "0", is_long = scan.long_elements;
  std::string text(is_long ? kLongScanState : kScanState);
  const bool shorter = !scan.input_type.empty();
  if (shorter) text += kShorterElements;
  text += kScanLoads;
  text += is_long ? (real ? kLongOrderedLookBack : kLongLookBack) : real ? kOrderedLookBack : kLookBack;
  text += kKernel;
  const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
  if (is_long) boost::replace_all(text, "published[tile] = @State(", "@Publish(published, tile, ");
  const std::string vector = is_long ? unused("Four") : std::string(type.vector);
  // In this order: a mark may begin another.
  const auto also = [&](const char* part) { return std::string(scan.also.empty() ? "" : part); };
  const std::vector<std::pair<std::string_view, std::string>> marks{
      {"@also_parameter", also(" @T* Z,") + (scan.total_to.empty() ? "" : " @T* total_of_all,")},
      {"@load_whole", std::string(shorter ? kLoadShorter : "return *reinterpret_cast<const @T4*>(x + i);")},
      {"@also_begin", also("  @T* z = Z + begin;\n")},
      {"@also)", also(" | reinterpret_cast<size_t>(z)") + ")"},
      {"@also_four", also("      *reinterpret_cast<@T4*>(z + i) = values[k];\n")},
      {"@also_single", also("      if (i < own) z[i] = values[k].x;\n"
                            "      if (i + 1 < own) z[i + 1] = values[k].y;\n"
                            "      if (i + 2 < own) z[i + 2] = values[k].z;\n"
                            "      if (i + 3 < own) z[i + 3] = values[k].w;\n")},
      {"@declare_read", scan.last_unread ? "  // Nothing depends on the last element, which may not be there.\n"
                                           "  const int loaded = begin + own < count ? own : own - 1;\n"
                                         : ""},
      {"@read", scan.last_unread ? "loaded, whole && loaded == own" : "own, whole"},
      {"@store_total", scan.total               ? "      if (own == count - begin) Y[count] = before + total;\n"
                       : !scan.total_to.empty() ? "      if (own == count - begin) total_of_all[0] = before + total;\n"
                                                : ""},
      {"@add", std::string(scan.exclusive ? kAddExclusive : kAddInclusive)},
      {"@State", unused("TileState")},
      {"@Publish", unused("Publish")},
      {"@LoadFour", unused("LoadFour")},
      {"@ReadFour", unused("ReadFour")},
      {"@In", shorter ? scan.input_type : std::string(type.name)},
      {"@Look", unused("Look")},
      {"@WarpScan", unused("WarpScan")},
      {"@TilesBefore", unused("TilesBefore")},
      {"@THREADS", names.threads},
      {"@ITEMS", names.items},
      {"@kernel", names.kernel},
      {"@restrict", scan.input == scan.output || scan.input == scan.also ? "" : " __restrict__"},
      {"@index", scan.wide ? "long long" : "int"},
      {"@wide_tile", scan.wide ? "(long long)tile" : "tile"},
      {"@bits", std::string(type.bits)},
      {"@value", std::string(type.value)},
      {"@0", std::string(type.zero)},
      {"make_@T4", is_long ? unused("MakeFour") : "make_" + vector},
      {"@T4", vector},
      {"@T", std::string(type.name)},
  };
  for (const auto& [mark, by] : marks) boost::replace_all(text, mark, by);
  return text;
}

}  // namespace evo
