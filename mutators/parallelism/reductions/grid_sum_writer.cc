#include "mutators/parallelism/reductions/grid_sum_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kGridSumThreads{32, 64, 128, 256, 512, 1024};
const std::vector<std::int64_t> kGridSumItems{1, 2, 4, 8};
const std::vector<std::int64_t> kGridSumBlocks{1, 16, 66, 132, 264, 528, 1056, 2112, 4224};

constexpr std::string_view kBlockSum =
    R"(// The sum of a block's values, for its first thread: of the lanes of a warp by shuffles, then of the warps.
__device__ @A @BlockSum(@A value) {
  __shared__ @A of_warps[@THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < @THREADS / 32 ? of_warps[threadIdx.x] : @0;
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  return value;
}

// The sum of a thread's share of the elements `begin` to `end` - 1, of which a block takes @ITEMS vectors a thread in a round.
__device__ @A @ThreadSum(const @T* x, long long begin, long long end, long long step) {
  constexpr int kVector = 16 / sizeof(@T);
  constexpr int kRound = @THREADS * @ITEMS * kVector;
  struct alignas(16) Vector {
    @T at[kVector];
  };
  @A sum = @0;
  for (long long first = begin; first < end; first += step * kRound) {
    const Vector* vectors = reinterpret_cast<const Vector*>(x + first);
    if (end - first >= kRound && reinterpret_cast<size_t>(vectors) % 16 == 0) {
      Vector taken[@ITEMS];
#pragma unroll
      for (int k = 0; k < @ITEMS; ++k) taken[k] = vectors[k * @THREADS + threadIdx.x];
#pragma unroll
      for (int k = 0; k < @ITEMS * kVector; ++k) sum += taken[k / kVector].at[k % kVector];
    } else {
      for (long long i = first + threadIdx.x; i < end && i - first < kRound; i += @THREADS) sum += x[i];
    }
  }
  return sum;
}

)";

constexpr std::string_view kSumOfAll =
    R"(// Each block adds up its share of the elements; the only one stores the sum.
__global__ void __launch_bounds__(@THREADS) @sum(const @T*@restrict x, @A* partial, @S* y, long long count) {
  constexpr int kRound = @THREADS * @ITEMS * (16 / sizeof(@T));
  const @A sum = @BlockSum(@ThreadSum(x, (long long)blockIdx.x * kRound, count, gridDim.x));
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1)
    y[0] @store sum;
  else
    partial[blockIdx.x] = sum;
}

// Adds up the blocks' results, always in the same order.
__global__ void __launch_bounds__(@THREADS) @last(const @A* __restrict__ partial, @S* y, int count) {
  @A sum = @0;
  for (int i = threadIdx.x; i < count; i += @THREADS) sum += partial[i];
  sum = @BlockSum(sum);
  if (threadIdx.x == 0) y[0] @store sum;
})";

constexpr std::string_view kSumsOfParts =
    R"(// Each block adds up the elements of its part.
__global__ void __launch_bounds__(@THREADS) @sum(const @T* __restrict__ x, @S* y, long long count) {
  const long long begin = (long long)blockIdx.x * @PART;
  const @A sum = @BlockSum(@ThreadSum(x, begin, begin + @PART < count ? begin + @PART : count, 1));
  if (threadIdx.x == 0) y[blockIdx.x] @store sum;
})";

// How the types of results are written, as a workspace's too.
struct SummedType {
  std::string_view type, written, dtype, zero;
  int bytes;
};
constexpr SummedType kSummedTypes[] = {
    {"float", "float", "f32", "0.0f", 4},
    {"double", "double", "f64", "0.0", 8},
    {"int", "int", "i32", "0", 4},
    {"unsigned int", "unsigned", "u32", "0", 4},
    {"long", "long", "i64", "0", 8},
    {"unsigned long", "unsigned long", "u64", "0", 8},
    {"long long", "long long", "i64", "0", 8},
    {"unsigned long long", "unsigned long long", "u64", "0", 8},
};
const SummedType& SummedTypeOf(std::string_view type) {
  return *std::find_if(std::begin(kSummedTypes), std::end(kSummedTypes), [&](const SummedType& one) { return one.type == type; });
}

class SumEdit {
 public:
  SumEdit(const MutationContext& context, const GridSum& sum)
      : context_(context),
        sum_(sum),
        input_(SummedTypeOf(sum.input_type)),
        output_(SummedTypeOf(sum.output_type)),
        // As exact as the source, which may add up floats as doubles.
        added_(sum.output_type == "float" && ContainsName(CodeOf(context.tree), "double") ? SummedTypeOf("double") : output_),
        threads_(Unused("THREADS")),
        items_(Unused("ITEMS")),
        blocks_(Unused("BLOCKS")),
        partial_(Unused("partial")),
        kernel_(Unused("sum_of_grid")),
        last_(Unused("sum_of_blocks")) {}

  std::vector<Proposal> Proposals() {
    const std::string anchor = Anchor();
    if (anchor.empty()) return {};
    Proposal proposal;
    proposal.parameters = sum_.parameters;
    const bool small = sum_.part > 0 && sum_.part < 2048;
    proposal.brings = {{threads_, kGridSumThreads, small ? 64 : 256}, {items_, kGridSumItems, small ? 1 : 4}};
    if (sum_.part == 0) proposal.brings.push_back({blocks_, kGridSumBlocks, 528});
    ReplaceLaunches(context_, {kernel_, Text(), Lines(), sum_.when, anchor, sum_.kernels, sum_.functions, sum_.in_loop},
                    proposal);
    return {proposal};
  }

 private:
  std::string Unused(const char* wanted) const { return UnusedName(context_.tree.text(), wanted); }

  // The kernel before whose first launch the new ones are: behind whatever sets the output to zero.
  std::string Anchor() const {
    std::string anchor;
    for (const Step& step : context_.rendered.steps) {
      if (step.launch) anchor = step.launch->kernel;
    }
    bool launched = false;
    for (const Step& step : context_.rendered.steps) {
      launched = launched || (step.launch && step.launch->kernel == anchor);
      if ((launched || sum_.in_loop) && step.memset && step.memset->buffer == sum_.output) return "";
    }
    return anchor;
  }

  std::string Blocks() const {
    return fmt::format("max(1, min(ceil_div({}, {} * {} * {}), {}))", sum_.Elements(), threads_, items_, 16 / input_.bytes,
                       blocks_);
  }

  std::string Parts() const {
    if (sum_.one_more) return fmt::format("({}) / {} + 1", sum_.Elements(), sum_.part);
    return fmt::format("ceil_div({}, {})", sum_.Elements(), sum_.part);
  }

  std::vector<std::string> Lines() const {
    const std::string when = sum_.when.empty() ? "" : fmt::format(" when({})", sum_.when);
    if (sum_.part > 0)
      return {fmt::format("launch {}({}, {}, i64({})) grid({}) block({}){}", kernel_, sum_.input, sum_.output, sum_.Elements(),
                          Parts(), threads_, when)};
    const std::string several = fmt::format("{}{} > 1", sum_.when.empty() ? "" : "(" + sum_.when + ") && ", Blocks());
    return {fmt::format("workspace {} {} [{}]", partial_, added_.dtype, blocks_),
            fmt::format("launch {}({}, {}, {}, i64({})) grid({}) block({}){}", kernel_, sum_.input, partial_, sum_.output,
                        sum_.Elements(), Blocks(), threads_, when),
            fmt::format("launch {}({}, {}, {}) grid(1) block({}) when({})", last_, partial_, sum_.output, Blocks(), threads_,
                        several)};
  }

  std::string Text() const {
    std::string text(kBlockSum);
    text += sum_.part > 0 ? kSumsOfParts : kSumOfAll;
    // In this order: a mark may begin another.
    const std::vector<std::pair<std::string_view, std::string>> marks{
        {"@BlockSum", Unused("BlockSum")},
        {"@ThreadSum", Unused("ThreadSum")},
        {"@THREADS", threads_},
        {"@ITEMS", items_},
        {"@PART", std::to_string(sum_.part)},
        {"@store", sum_.adds ? "+=" : "="},
        // The one that stores to the elements has read all of them.
        {"@restrict", sum_.input == sum_.output ? "" : " __restrict__"},
        {"@sum", kernel_},
        {"@last", last_},
        {"@A", std::string(added_.written)},
        {"@T", std::string(input_.written)},
        {"@S", std::string(output_.written)},
        {"@0", std::string(added_.zero)},
    };
    for (const auto& [mark, by] : marks) boost::replace_all(text, mark, by);
    return text;
  }

  const MutationContext& context_;
  const GridSum& sum_;
  const SummedType &input_, &output_, &added_;
  const std::string threads_, items_, blocks_, partial_, kernel_, last_;
};

}  // namespace

std::vector<Proposal> GridSumProposals(const MutationContext& context, const GridSum& sum) {
  return SumEdit(context, sum).Proposals();
}

}  // namespace evo
