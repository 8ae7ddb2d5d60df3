#include "mutators/parallelism/reductions/array_forms_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <string_view>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/reductions/array_forms.h"
#include "mutators/analysis/reductions/array_statistics.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kArrayThreads{32, 64, 128, 256, 512, 1024};
const std::vector<std::int64_t> kArrayItems{1, 2, 4, 8};
const std::vector<std::int64_t> kArrayBlocks{1, 16, 66, 132, 264, 528, 1056, 2112, 4224};

constexpr std::string_view kBlockCombined =
    R"(// The @word of a block's values, for its first thread: of the lanes of a warp by shuffles, then of the warps.
__device__ @A @name(@A value) {
  __shared__ @A of_warps[@THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const @A other = __shfl_down_sync(0xffffffffu, value, offset);
    value = @combined;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < @THREADS / 32 ? of_warps[threadIdx.x] : @0;
    for (int offset = 16; offset > 0; offset /= 2) {
      const @A other = __shfl_down_sync(0xffffffffu, value, offset);
      value = @combined;
    }
  }
  return value;
}

)";

constexpr std::string_view kArrayKernels =
    R"(// Each block combines its share of the elements, of which a thread takes @ITEMS vectors in a round; the only block stores
// the results.
__global__ void __launch_bounds__(@THREADS) @first(@inputs, @A* partial, @outputs, long long count) {
  constexpr int kVector = 16 / sizeof(@T);
  constexpr int kRound = @THREADS * @ITEMS * kVector;
  struct alignas(16) Vector {
    @T at[kVector];
  };
@begin
  for (long long first = (long long)blockIdx.x * kRound; first < count; first += (long long)gridDim.x * kRound) {
    if (count - first >= kRound && (@addresses) % 16 == 0) {
#pragma unroll
      for (int k = 0; k < @ITEMS; ++k) {
@loads
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
@turn_of_vectors
        }
      }
    } else {
      for (long long i = first + threadIdx.x; i < count && i - first < kRound; i += @THREADS) {
@turn_of_elements
      }
    }
  }
@combine
  if (threadIdx.x != 0) return;
  if (gridDim.x > 1) {
@hand_on
    return;
  }
@store
}

// Combines the blocks' results, always in the same order.
__global__ void __launch_bounds__(@THREADS) @last(const @A* __restrict__ partial, @outputs, int blocks, long long count) {
@begin
  for (int i = threadIdx.x; i < blocks; i += @THREADS) {
@turn_of_blocks
  }
@combine
  if (threadIdx.x != 0) return;
@store
})";

// The kernel before whose first launch the new ones are: behind whatever fills the outputs.
std::string LastKernel(const MutationContext& context) {
  std::string last;
  for (const Step& step : context.rendered.steps) {
    if (step.launch) last = step.launch->kernel;
  }
  return last;
}

class ArrayFormsText {
 public:
  ArrayFormsText(const MutationContext& context, const ArrayForms& forms)
      : context_(context),
        forms_(forms),
        // As exact as the source, which may add up floats as doubles.
        double_(forms.type == "double" || ContainsName(CodeOf(context.tree), "double")),
        threads_(Unused("THREADS")),
        items_(Unused("ITEMS")),
        blocks_(Unused("BLOCKS")),
        partial_(Unused("partial")),
        first_(Unused("combine_elements")),
        last_(Unused("combine_blocks")) {
    std::string all;
    for (const ArrayForms::Stored& one : forms.stored) all += one.form + " ";
    for (const ArrayStatistic& one : ArrayStatistics()) {
      if (ContainsName(all, one.name)) used_.push_back(&one);
    }
    for (const ArrayForms::Stored& one : forms.stored) {
      if (std::find(outputs_.begin(), outputs_.end(), one.buffer) == outputs_.end()) outputs_.push_back(one.buffer);
    }
  }

  Proposal Change(const GridSource& source) {
    Proposal proposal;
    proposal.parameters = forms_.parameters;
    proposal.brings = {{threads_, kArrayThreads, 256}, {items_, kArrayItems, 4}, {blocks_, kArrayBlocks, 528}};
    ReplaceLaunches(context_, {first_, Text(), Lines(), "", LastKernel(context_), source.Kernels(), source.AllFunctions()},
                    proposal);
    return proposal;
  }

 private:
  std::string Unused(const char* wanted) const { return UnusedName(context_.tree.text(), wanted); }
  const char* Added() const { return double_ ? "double" : "float"; }

  std::string Function(ArrayStatistic::By by) const {
    return Unused(by == ArrayStatistic::By::kSum       ? "BlockSum"
                  : by == ArrayStatistic::By::kLargest ? "BlockLargest"
                                                       : "BlockSmallest");
  }
  std::string Combined(ArrayStatistic::By by, const std::string& a, const std::string& b) const {
    if (by == ArrayStatistic::By::kSum) return fmt::format("{} + {}", a, b);
    return fmt::format("{}{}({}, {})", by == ArrayStatistic::By::kLargest ? "fmax" : "fmin", double_ ? "" : "f", a, b);
  }
  std::string Neutral(ArrayStatistic::By by) const {
    if (by == ArrayStatistic::By::kSum) return double_ ? "0.0" : "0.0f";
    return by == ArrayStatistic::By::kLargest ? "-INFINITY" : "INFINITY";
  }

  std::string Turn(const std::string& x, const std::string& a, const char* indent) const {
    std::string text;
    for (const ArrayStatistic* one : used_) {
      std::string term = WithOtherName(WithOtherName(one->term, "X", x), "A", a);
      term = WithOtherName(term, "ABS", double_ ? "fabs" : "fabsf");
      text += fmt::format("{}{} = {};\n", indent, one->name, Combined(one->by, one->name, term));
    }
    return text;
  }

  std::string Form(const std::string& form) const {
    const std::string length = WithOtherName(form, "L", fmt::format("({})count", Added()));
    return WithOtherName(length, "sqrt", double_ ? "sqrt" : "sqrtf");
  }

  std::string Text() const {
    std::string text;
    std::vector<ArrayStatistic::By> ways;
    for (const ArrayStatistic* one : used_) {
      if (std::find(ways.begin(), ways.end(), one->by) != ways.end()) continue;
      ways.push_back(one->by);
      std::string function(kBlockCombined);
      const char* const word = one->by == ArrayStatistic::By::kSum       ? "sum"
                               : one->by == ArrayStatistic::By::kLargest ? "largest"
                                                                         : "smallest";
      boost::replace_all(function, "@word", word);
      boost::replace_all(function, "@name", Function(one->by));
      boost::replace_all(function, "@combined", Combined(one->by, "value", "other"));
      boost::replace_all(function, "@0", Neutral(one->by));
      text += function;
    }
    text += kArrayKernels;
    const bool second = !forms_.second.empty();
    std::string begin, combine, hand_on, store, of_blocks;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const ArrayStatistic& one = *used_[i];
      begin += fmt::format("  {} {} = {};\n", Added(), one.name, one.term.starts_with("ABS") ? "0" : Neutral(one.by));
      combine += fmt::format("  {0} = {1}({0});\n", one.name, Function(one.by));
      const std::string row = i == 0 ? "" : i == 1 ? "gridDim.x + " : fmt::format("{} * gridDim.x + ", i);
      const std::string row_of_last = i == 0 ? "" : i == 1 ? "blocks + " : fmt::format("{} * blocks + ", i);
      hand_on += fmt::format("    partial[{}blockIdx.x] = {};\n", row, one.name);
      of_blocks += fmt::format("    {} = {};\n", one.name, Combined(one.by, one.name, fmt::format("partial[{}i]", row_of_last)));
    }
    for (const ArrayForms::Stored& one : forms_.stored) {
      const auto place = std::find(outputs_.begin(), outputs_.end(), one.buffer) - outputs_.begin();
      store += fmt::format("  y{}[{}] = {};\n", place, one.index, Form(one.form));
    }
    std::vector<std::string> inputs{fmt::format("const {}* __restrict__ x", forms_.type)}, outputs;
    if (second) inputs.push_back(fmt::format("const {}* __restrict__ a", forms_.type));
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs.push_back(fmt::format("{}* y{}", TypeOf(outputs_[i]), i));
    std::string loads = "        const Vector of_x = reinterpret_cast<const Vector*>(x + first)[k * @THREADS + threadIdx.x];\n";
    if (second) loads += "        const Vector of_a = reinterpret_cast<const Vector*>(a + first)[k * @THREADS + threadIdx.x];\n";
    const std::string cast = double_ && forms_.type == "float" ? "(double)" : "";
    const auto line = [](std::string lines) {
      if (lines.ends_with('\n')) lines.pop_back();
      return lines;
    };
    // In this order: a mark may begin another.
    const std::vector<std::pair<std::string_view, std::string>> marks{
        {"@inputs", fmt::format("{}", fmt::join(inputs, ", "))},
        {"@outputs", fmt::format("{}", fmt::join(outputs, ", "))},
        {"@begin", line(begin)},
        {"@addresses", second ? "reinterpret_cast<size_t>(x + first) | reinterpret_cast<size_t>(a + first)"
                              : "reinterpret_cast<size_t>(x + first)"},
        {"@loads", line(loads)},
        {"@turn_of_vectors", line(Turn(cast + "of_x.at[v]", cast + "of_a.at[v]", "          "))},
        {"@turn_of_elements", line(Turn(cast + "x[i]", cast + "a[i]", "        "))},
        {"@turn_of_blocks", line(of_blocks)},
        {"@combine", line(combine)},
        {"@hand_on", line(hand_on)},
        {"@store", line(store)},
        {"@first", first_},
        {"@last", last_},
        {"@THREADS", threads_},
        {"@ITEMS", items_},
        {"@A", Added()},
        {"@T", forms_.type},
    };
    for (const auto& [mark, by] : marks) boost::replace_all(text, mark, by);
    return text;
  }

  std::string TypeOf(const std::string& buffer) const {
    return std::find_if(forms_.stored.begin(), forms_.stored.end(), [&](const auto& one) { return one.buffer == buffer; })->type;
  }

  std::vector<std::string> Lines() const {
    const int bytes = forms_.type == "double" ? 8 : 4;
    const std::string blocks =
        fmt::format("max(1, min(ceil_div({}, {} * {} * {}), {}))", forms_.length, threads_, items_, 16 / bytes, blocks_);
    std::vector<std::string> inputs{forms_.x};
    if (!forms_.second.empty()) inputs.push_back(forms_.second);
    return {fmt::format("workspace {} {} [{} * {}]", partial_, double_ ? "f64" : "f32", used_.size(), blocks_),
            fmt::format("launch {}({}, {}, {}, i64({})) grid({}) block({})", first_, fmt::join(inputs, ", "), partial_,
                        fmt::join(outputs_, ", "), forms_.length, blocks, threads_),
            fmt::format("launch {}({}, {}, {}, i64({})) grid(1) block({}) when({} > 1)", last_, partial_,
                        fmt::join(outputs_, ", "), blocks, forms_.length, threads_, blocks)};
  }

  const MutationContext& context_;
  const ArrayForms& forms_;
  const bool double_;
  const std::string threads_, items_, blocks_, partial_, first_, last_;
  std::vector<const ArrayStatistic*> used_;
  std::vector<std::string> outputs_;  // buffers
};

struct FoundForms {
  std::vector<Proposal> proposals;
  std::string why;
};

// Whether an output is filled behind the place of the new launches.
bool IsSetLater(const MutationContext& context, const ArrayForms& forms) {
  const std::string last = LastKernel(context);
  bool launched = false;
  for (const Step& step : context.rendered.steps) {
    launched = launched || (step.launch && step.launch->kernel == last);
    const auto is_set = [&](const ArrayForms::Stored& one) { return step.memset && step.memset->buffer == one.buffer; };
    if (launched && std::any_of(forms.stored.begin(), forms.stored.end(), is_set)) return true;
  }
  return false;
}

FoundForms FormsIn(const MutationContext& context) {
  FoundForms found;
  const GridSource source(context);
  const auto kernels = source.Kernels();
  const auto is_missing = [&](const std::string& kernel) { return source.KernelNamed(kernel) < 0; };
  if (kernels.empty() || !source.resembles_work() || source.has_loop() || !context.genome.edits.empty() ||
      std::any_of(kernels.begin(), kernels.end(), is_missing))
    return found;
  const MutationContext plain = WrittenOut(context);
  const auto forms = AsArrayForms(plain, found.why);
  if (forms && !IsSetLater(context, *forms)) found.proposals.push_back(ArrayFormsText(context, *forms).Change(source));
  return found;
}

const FoundForms& FoundIn(const MutationContext& context) {
  return context.tree.Kept<FoundForms>(fmt::format("array forms with {}", fmt::join(context.genome.parameters, ",")),
                                       [&] { return FormsIn(context); });
}

}  // namespace

std::vector<Proposal> ArrayFormProposals(const MutationContext& context) { return FoundIn(context).proposals; }
std::string WhyNoArrayForms(const MutationContext& context) { return FoundIn(context).why; }

}  // namespace evo
