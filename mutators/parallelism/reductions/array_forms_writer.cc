#include "mutators/parallelism/reductions/array_forms_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/reductions/array_forms.h"
#include "mutators/analysis/reductions/array_statistics.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/reductions/array_forms_text.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kArrayThreads{32, 64, 128, 256, 512, 1024};
const std::vector<std::int64_t> kArrayItems{1, 2, 4, 8};
const std::vector<std::int64_t> kArrayBlocks{1, 16, 66, 132, 264, 528, 1056, 2112, 4224};

// The kernel before whose first launch the new ones are: behind whatever fills the outputs.
std::string LastKernel(const MutationContext& context) {
  std::string last;
  for (const Step& step : context.rendered.steps) {
    if (step.launch) last = step.launch->kernel;
  }
  return last;
}

// The statistics that the numbers are computed from.
std::set<std::string> StatisticsNamedIn(const ArrayForms& forms) {
  std::string all;
  for (const ArrayForms::Stored& one : forms.stored) all += one.form + " ";
  std::set<std::string> names;
  for (const ArrayStatistic& one : ArrayStatistics()) {
    if (ContainsName(all, one.name)) names.insert(one.name);
  }
  return names;
}

// What a block has left of the statistic with this number.
std::string PartialStatistic(std::size_t row) {
  return fmt::format("partial[{}i]", row == 0 ? "" : row == 1 ? "blocks + " : fmt::format("{} * blocks + ", row));
}

class ArrayFormsText {
 public:
  ArrayFormsText(const MutationContext& context, const ArrayForms& forms)
      : context_(context),
        forms_(forms),
        // As exact as the source, which may add up floats as doubles.
        double_(forms.type == "double" || ContainsName(CodeOf(context.tree), "double") ||
                StatisticsNamedIn(forms).contains("moved")),
        threads_(Unused("THREADS")),
        items_(Unused("ITEMS")),
        blocks_(Unused("BLOCKS")),
        partial_(Unused("partial")),
        first_(Unused("combine_elements")),
        last_(Unused("combine_blocks")) {
    std::set<std::string> names = StatisticsNamedIn(forms);
    for (const ArrayStatistic& one : ArrayStatistics()) {
      if (one.IsPlace() && names.contains(one.name)) names.insert(one.term);
    }
    for (const ArrayStatistic& one : ArrayStatistics()) {
      if (names.contains(one.name)) used_.push_back(&one);
    }
    for (const ArrayForms::Stored& one : forms.stored) {
      if (std::find(outputs_.begin(), outputs_.end(), one.buffer) == outputs_.end()) outputs_.push_back(one.buffer);
    }
  }

  // For the first and the last place of one extreme.
  static bool AsksForBoth(const ArrayForms& forms) {
    const auto names = StatisticsNamedIn(forms);
    return (names.contains("largest_at") && names.contains("last_largest_at")) ||
           (names.contains("smallest_at") && names.contains("last_smallest_at"));
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
  // The statistic that says where this one is; null if nobody asks.
  const ArrayStatistic* PlaceOf(const ArrayStatistic& value) const {
    const auto place =
        std::find_if(used_.begin(), used_.end(), [&](const auto* one) { return one->IsPlace() && one->term == value.name; });
    return place == used_.end() ? nullptr : *place;
  }
  bool AsksForPlaces() const {
    return std::any_of(used_.begin(), used_.end(), [](const ArrayStatistic* one) { return one->IsPlace(); });
  }
  // That a value at a place counts, and not the one so far.
  std::string Better(const ArrayStatistic& value, const std::string& other, const std::string& at) const {
    const ArrayStatistic& place = *PlaceOf(value);
    return fmt::format("({4} >= 0 && ({1} < 0 || {3} {0} {2} || ({3} == {2} && {4} {5} {1})))",
                       value.by == ArrayStatistic::By::kLargest ? ">" : "<", place.name, value.name, other, at,
                       place.by == ArrayStatistic::By::kFirstPlace ? "<" : ">");
  }
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

  std::string Turn(const std::string& x, const std::string& a, const std::string& at, const char* indent) const {
    std::string text;
    for (const ArrayStatistic* one : used_) {
      if (one->IsPlace()) continue;
      std::string term = WithOtherName(WithOtherName(one->term, "X", x), "A", a);
      term = WithOtherName(WithOtherName(term, "FIRST", "origin"), "ABS", double_ ? "fabs" : "fabsf");
      text += PlaceOf(*one) == nullptr ? fmt::format("{}{} = {};\n", indent, one->name, Combined(one->by, one->name, term))
                                       : indent + Taken(*one, term, at);
    }
    return text;
  }
  // The other value and its place, if they count.
  std::string Taken(const ArrayStatistic& value, const std::string& other, const std::string& at) const {
    return fmt::format("{{ const {0} other = {1}; const long long other_at = {2}; if ({3}) {4} = other, {5} = other_at; }}\n",
                       Added(), other, at, Better(value, "other", "other_at"), value.name, PlaceOf(value)->name);
  }

  std::string PlacedFunction(const ArrayStatistic& value) const {
    return Unused(value.name == "smallest" ? "SmallestOfBlock" : value.name == "largest" ? "LargestOfBlock" : "MagnitudeOfBlock");
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
      if (one->IsPlace()) continue;
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
    for (const ArrayStatistic* one : used_) {
      if (PlaceOf(*one) == nullptr) continue;
      std::string function(kBlockPlaced);
      boost::replace_all(function, "@word", one->by == ArrayStatistic::By::kLargest ? "largest" : "smallest");
      boost::replace_all(function, "@name", PlacedFunction(*one));
      boost::replace_all(function, "@better", Better(*one, "other", "other_at"));
      boost::replace_all(function, "@value", one->name);
      boost::replace_all(function, "@at", PlaceOf(*one)->name);
      boost::replace_all(function, "@0", Neutral(one->by));
      text += function;
    }
    text += kArrayKernels;
    const bool second = !forms_.second.empty();
    std::string begin, combine, hand_on, store, of_blocks;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const ArrayStatistic& one = *used_[i];
      const std::string row = i == 0 ? "" : i == 1 ? "gridDim.x + " : fmt::format("{} * gridDim.x + ", i);
      hand_on += fmt::format("    partial[{}blockIdx.x] = {};\n", row, one.name);
      if (one.IsPlace()) {
        begin += fmt::format("  long long {} = -1;\n", one.name);
        continue;
      }
      begin += fmt::format("  {} {} = {};\n", Added(), one.name, one.term.starts_with("ABS") ? "0" : Neutral(one.by));
      const ArrayStatistic* const place = PlaceOf(one);
      if (place != nullptr) {
        const auto row_of_place = static_cast<std::size_t>(std::find(used_.begin(), used_.end(), place) - used_.begin());
        combine += fmt::format("  {}({}, {});\n", PlacedFunction(one), one.name, place->name);
        of_blocks += "    " + Taken(one, PartialStatistic(i), fmt::format("(long long){}", PartialStatistic(row_of_place)));
        continue;
      }
      combine += fmt::format("  {0} = {1}({0});\n", one.name, Function(one.by));
      of_blocks += fmt::format("    {} = {};\n", one.name, Combined(one.by, one.name, PartialStatistic(i)));
    }
    for (const ArrayForms::Stored& one : forms_.stored) {
      const auto place = std::find(outputs_.begin(), outputs_.end(), one.buffer) - outputs_.begin();
      store += fmt::format("  y{}{} = {};\n", place, one.element, Form(one.form));
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
        {"@origin", begin.find(" moved") == std::string::npos
                        ? ""
                        : fmt::format("  const {} origin = count > 0 ? x[0] : ({})0;\n", Added(), forms_.type)},
        {"@begin", line(begin)},
        {"@addresses", second ? "reinterpret_cast<size_t>(x + first) | reinterpret_cast<size_t>(a + first)"
                              : "reinterpret_cast<size_t>(x + first)"},
        {"@loads", line(loads)},
        {"@turn_of_vectors", line(Turn(cast + "of_x.at[v]", cast + "of_a.at[v]",
                                       "first + ((long long)k * @THREADS + threadIdx.x) * kVector + v", "          "))},
        {"@turn_of_elements", line(Turn(cast + "x[i]", cast + "a[i]", "i", "        "))},
        {"@turn_of_blocks", line(of_blocks)},
        {"@combine", line(combine)},
        {"@hand_on", line(hand_on)},
        {"@store", line(store)},
        {"@first", first_},
        {"@last", last_},
        {"@THREADS", threads_},
        {"@ITEMS", items_},
        {"@A", Added()},
        {"@P", AsksForPlaces() ? "double" : Added()},
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
    return {fmt::format("workspace {} {} [{} * {}]", partial_, double_ || AsksForPlaces() ? "f64" : "f32", used_.size(), blocks_),
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
  if (forms && !IsSetLater(context, *forms) && !ArrayFormsText::AsksForBoth(*forms))
    found.proposals.push_back(ArrayFormsText(context, *forms).Change(source));
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
