#include "mutators/analysis/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/convolution_finder.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// What the sizes of the launch line are in three settings: those of images, channels and filters, and those of a filter's taps,
// of strides and of paddings. Which is which is not known: the first few sizes are taken for the former.
constexpr std::int64_t kLargeSizes[3][10] = {
    {8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, {9, 8, 11, 12, 10, 14, 13, 16, 15, 18}, {10, 12, 9, 8, 13, 11, 16, 14, 17, 15}};
constexpr std::int64_t kTapSizes[3][6] = {{3, 2, 1, 2, 1, 2}, {5, 3, 2, 1, 2, 1}, {4, 3, 3, 1, 3, 1}};
constexpr std::size_t kMostNames = 10;
constexpr std::size_t kCuts[] = {kMostNames, 5, 4, 6};
// Elements of a launch that are looked at, and threads that are tried for each.
constexpr std::size_t kSamples = 40;
constexpr std::size_t kTriesEach = 24;

std::set<int> Noted(const ConvolutionParts& parts) {
  std::set<int> noted = parts.variables;
  noted.insert(parts.accumulator);
  return noted;
}

// Those of elements with the most and with the fewest taps first.
std::vector<std::int64_t> Threads(std::vector<std::pair<std::int64_t, ConvolutionSample>> samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const auto& a, const auto& b) { return a.second.x.size() > b.second.x.size(); });
  if (samples.size() > 2) std::rotate(samples.begin() + 1, samples.end() - 1, samples.end());
  std::vector<std::int64_t> threads;
  for (const auto& [thread, sample] : samples) threads.push_back(thread);
  return threads;
}

}  // namespace

ConvolutionFinder::ConvolutionFinder(const MutationContext& context, const LaunchDirective& launch, int kernel,
                                     const ConvolutionParts& parts)
    : context_(context),
      tree_(context.tree),
      parts_(parts),
      runs_(context, launch, kernel, parts.loop, Noted(parts)),
      written_(WrittenIn(context.tree, kernel)) {
  found_.kernel = kernel;
  found_.launch = &launch;
  found_.accumulator = parts.accumulator;
  found_.starts_at_zero = parts.starts_at_zero;
}

std::variant<Convolution, std::string> ConvolutionFinder::Find() {
  if (!runs_.refusal().empty()) return parts_.deep ? runs_.refusal() : "";
  if (runs_.names().size() > kMostNames) return parts_.deep ? "its launch line names too many sizes" : "";
  if (!FindShapes() || !FindNumbers() || !RunSome(third_, kSamples, "with other sizes") || !RunSmall() || !RunSymbolic() ||
      !RunLarge())
    return why_;
  ConvolutionEpilogue epilogue(tree_, parts_, observed_, written_);
  if (!epilogue.AddTo(found_)) return epilogue.why();
  return found_;
}

// A thread's element; nullopt if it stores none. Refuses if it does anything else.
std::optional<ConvolutionSample> ConvolutionFinder::SampleOf(const ThreadTrace& trace) {
  const auto refuse = [&](std::string why) {
    Refuse(std::move(why));
    return std::nullopt;
  };
  if (!trace.refusal.empty()) return refuse(trace.refusal);
  if (trace.stores.empty()) return std::nullopt;
  const auto& [parameter, elements] = *trace.stores.begin();
  if (trace.stores.size() > 1 || elements.size() > 1 || trace.after.times != 1)
    return refuse("a thread stores more than one element");
  if (found_.y >= 0 && found_.y != parameter) return refuse("its threads store to two buffers");
  found_.y = parameter;
  if (trace.after.rounded) return refuse("it rounds parts of its sum");
  if (trace.after.reals_compared) return refuse("it compares real numbers before its sum is there");
  const auto before = trace.before.values.find(parts_.accumulator), after = trace.after.values.find(parts_.accumulator);
  if (before == trace.before.values.end() || after == trace.after.values.end())
    return refuse(fmt::format("{} has no value before its loop", NameOf(parts_.accumulator)));
  ConvolutionSample sample;
  sample.element = elements.begin()->first;
  sample.sum = after->second.real - before->second.real;
  if (!AddReads(trace, sample)) return std::nullopt;
  return sample;
}

// What the loop reads: of two buffers, of which the first that is seen counts as the images until more is known.
bool ConvolutionFinder::AddReads(const ThreadTrace& trace, ConvolutionSample& sample) {
  for (const auto& [buffer, read] : trace.after.reads) {
    const auto earlier = trace.before.reads.find(buffer);
    if (earlier != trace.before.reads.end() && earlier->second.size() == read.size()) continue;
    if (buffers_.x < 0)
      buffers_.x = buffer;
    else if (buffers_.f < 0 && buffer != buffers_.x)
      buffers_.f = buffer;
    if (buffer != buffers_.x && buffer != buffers_.f) return Refuse("its sum is of more than images and filters");
    (buffer == buffers_.x ? sample.x : sample.f) = read;
  }
  return true;
}

// Some elements of a launch with the threads that compute them.
std::vector<std::pair<std::int64_t, ConvolutionSample>> ConvolutionFinder::SamplesOf(const Setting& setting, std::size_t count) {
  std::vector<std::pair<std::int64_t, ConvolutionSample>> samples;
  std::uint64_t random = 1;
  for (std::size_t tries = 0; samples.size() < count && tries < kTriesEach * count; ++tries) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto thread = static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting.Threads()));
    const ThreadTrace trace = runs_.Run(setting, thread);
    const auto sample = SampleOf(trace);
    if (!why_.empty()) return {};
    if (!sample) continue;
    samples.emplace_back(thread, *sample);
    Observe(setting, thread, trace, sample->element);
  }
  return samples;
}

void ConvolutionFinder::Observe(const Setting& setting, std::int64_t thread, const ThreadTrace& trace, std::int64_t element) {
  ConvolutionObserved one;
  one.element = element;
  one.integers = ConvolutionRuns::BuiltinsOf(setting, thread);
  for (const auto& [variable, value] : trace.after.values) {
    if (value.kind == ThreadValue::Kind::kInteger) one.integers[variable] = value.integer;
  }
  observed_.push_back(std::move(one));
}

// Sets the shape of those that have been observed since.
void ConvolutionFinder::Settle(std::size_t from, const ConvolutionShape& shape) {
  for (std::size_t i = from; i < observed_.size(); ++i) observed_[i].shape = shape;
}

ConvolutionFinder::Sizes ConvolutionFinder::SizesOf(std::size_t number, std::size_t cut) const {
  Sizes sizes;
  const auto& names = runs_.names();
  for (std::size_t i = 0; i < names.size(); ++i)
    sizes[names[i]] = i < cut ? kLargeSizes[number][i] : kTapSizes[number][(i - cut) % std::size(kTapSizes[number])];
  return sizes;
}

// Two launches whose elements a shape explains.
bool ConvolutionFinder::FindShapes() {
  std::string first_why;
  for (const std::size_t cut : kCuts) {
    if (cut < kMostNames && cut >= runs_.names().size()) continue;
    observed_.clear();
    why_.clear();
    if (FindShape(0, cut) && FindShape(1, cut)) {
      third_ = SizesOf(2, cut);
      return true;
    }
    if (first_why.empty()) first_why = why_;
  }
  return Refuse(first_why);
}

bool ConvolutionFinder::FindShape(std::size_t number, std::size_t cut) {
  sizes_[number] = SizesOf(number, cut);
  const auto setting = runs_.SettingOf(sizes_[number]);
  if (!setting) return Refuse(parts_.deep ? "its launch line passes what is no number" : "");
  settings_[number] = *setting;
  const std::size_t from = observed_.size();
  if (number == 0) buffers_ = {}, found_.y = -1;
  const auto found = SamplesOf(*setting, kSamples);
  if (!why_.empty()) return Refuse(parts_.deep ? why_ : "");
  if (found.empty() || buffers_.f < 0)
    return Refuse(parts_.deep ? "no thread stores a sum of products of two buffers in a launch with sizes of 8 to 17" : "");
  threads_[number] = Threads(found);
  std::vector<ConvolutionSample> samples;
  for (const auto& [thread, sample] : found) samples.push_back(sample);
  std::set<std::int64_t> values;
  for (const auto& [name, value] : setting->values) values.insert(value.integer);
  for (const auto& [parameter, value] : setting->integers) values.insert(value);
  auto shape = ShapeOf(samples, buffers_, values);
  if (std::holds_alternative<std::string>(shape) && number == 0) {
    for (ConvolutionSample& sample : samples) std::swap(sample.x, sample.f);
    auto other = ShapeOf(samples, {buffers_.f, buffers_.x}, values);
    if (std::holds_alternative<ConvolutionShape>(other) || std::get<std::string>(shape).empty()) {
      std::swap(buffers_.x, buffers_.f);
      shape = std::move(other);
    }
  }
  if (const auto* why = std::get_if<std::string>(&shape)) return Refuse(*why);
  shapes_[number] = std::get<ConvolutionShape>(shape);
  Settle(from, shapes_[number]);
  return CheckTypes();
}

bool ConvolutionFinder::CheckTypes() {
  found_.x = buffers_.x, found_.f = buffers_.f;
  found_.element = PointedTo(tree_, found_.x);
  if (found_.element != "__half" && found_.element != "__nv_bfloat16")
    return Refuse(
        fmt::format("the elements of {} are {}; tensor cores multiply half or bfloat16", NameOf(found_.x), found_.element));
  return found_.element == PointedTo(tree_, found_.f) || Refuse("its images and filters are of two types");
}

std::variant<Convolution, std::string> AsConvolution(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.children.empty() || tree.node(node.children.back()).kind_name != "CompoundStmt") return "";
  const auto parts = ConvolutionPartsOf(tree, kernel);
  if (const auto* why = std::get_if<std::string>(&parts)) return *why;
  const ConvolutionParts& found = std::get<ConvolutionParts>(parts);
  const auto refuse = [&](const char* why) -> std::string { return found.deep ? why : ""; };
  if (node.kind_name != "FunctionDecl") return refuse("it is a function template");
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr) return refuse("it is not launched by exactly one launch line");
  if (!launch->cluster.empty() || launch->cooperative) return refuse("its blocks are launched as clusters or together");
  if (tree.Text({node.range.begin, tree.node(node.children.back()).range.begin}).find("__launch_bounds__") !=
      std::string_view::npos)
    return refuse("its __launch_bounds__ rule out other blocks");
  const auto nodes = Subtree(tree, kernel);
  if (std::any_of(nodes.begin(), nodes.end(), [&](int one) { return tree.node(one).kind_name == "attribute(shared)"; }))
    return refuse("its threads work together already, through shared memory");
  return ConvolutionFinder(context, *launch, kernel, found).Find();
}

}  // namespace evo
