#include "mutators/analysis/attention/launches_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/attention/launched_scale.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// A score less than minus this hides a key.
constexpr double kLeastHidingNumber = 1e4;

std::string ProductOfNames(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " * ")); }

std::vector<std::string> Without(std::vector<std::string> names, const std::vector<std::string>& others) {
  std::erase_if(names, [&](const std::string& name) { return std::find(others.begin(), others.end(), name) != others.end(); });
  return names;
}

// The types of the buffers' elements. False if the matrices are of two, or of none that is known.
bool FindTypes(const SyntaxTree& tree, const SourceRuns& runs, const AttentionGuess& guess, AttentionOfLaunches& found,
               std::string& why) {
  const auto refuse = [&](std::string text) { return why = std::move(text), false; };
  for (const SourceRuns::Link& link : runs.links()) {
    if (link.launch == nullptr) continue;
    for (const auto& [parameter, buffer] : link.buffers) {
      const std::string type = PointedTo(tree, parameter);
      if (buffer == guess.o) found.output = type;
      if (buffer == guess.extra.buffer) found.more.extra_type = type;
      if (!guess.beside.empty() && guess.beside.front().contains(buffer) && type != "float")
        return refuse(fmt::format("it stores sums of type {}", type));
      if (buffer != guess.q && buffer != guess.k && buffer != guess.v) continue;
      if (!found.element.empty() && found.element != type) return refuse("its matrices are of two types");
      found.element = type;
    }
  }
  for (const std::string* type : {&found.element, &found.output}) {
    if (*type != "float" && *type != "__half" && *type != "half" && *type != "__nv_bfloat16")
      return refuse(fmt::format("its elements are {}, and half, bfloat16 and float are known", *type));
  }
  const std::string& type = found.more.extra_type;
  if (!type.empty() && !guess.extra.integers() && type != "float" && type != "double" && type != "__half" &&
      type != "__nv_bfloat16")
    return refuse(fmt::format("it adds elements of type {} to scores", type));
  return true;
}

// The text with fewer words.
bool FindScale(const SyntaxTree& tree, const SourceRuns& runs, const AttentionGuess& guess, AttentionOfLaunches& found,
               std::string& why) {
  std::vector<std::string> scales(guess.scales.begin(), guess.scales.end());
  std::stable_sort(scales.begin(), scales.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return std::any_of(scales.begin(), scales.end(), [&](const std::string& scale) {
    found.scale = scale;
    auto passed = PassedFor(tree, runs.links(), scale, why);
    if (!passed) return false;
    found.of_scale = *std::move(passed);
    return true;
  });
}

void DescribeMore(const AttentionGuess& guess, AttentionOfLaunches::More& more) {
  more.any = !guess.IsPlain();
  more.output_inside = ProductOfNames(guess.output_inside);
  more.shares = guess.shares;
  more.key_heads = ProductOfNames(Without(guess.key_heads, guess.key_inside));
  more.key_inside = ProductOfNames(guess.key_inside);
  more.room = guess.room, more.value_size = guess.value_size;
  more.after = guess.after;
  if (guess.after == kKeysBefore) more.after = fmt::format("({}) - ({})", guess.keys, guess.rows);
  more.extra = guess.extra;
}

}  // namespace

bool DescribeAttention(const MutationContext& context, const SourceRuns& runs, const AttentionGuess& guess,
                       const std::set<std::string>& names, AttentionOfLaunches& found, std::string& why) {
  const SyntaxTree& tree = context.tree;
  if (!FindTypes(tree, runs, guess, found, why)) return false;
  std::map<int, int> launches;
  for (const SourceRuns::Link& link : runs.links()) {
    if (link.launch != nullptr) ++launches[link.kernel];
  }
  for (const SourceRuns::Link& link : runs.links()) {
    if (link.launch != nullptr && launches.at(link.kernel) == 1) found.kernel = link.kernel;
  }
  for (const auto& [kernel, times] : launches) {
    if (kernel != found.kernel) found.others.push_back(tree.node(kernel).name);
  }
  if (found.kernel < 0) return why = "it launches each of its kernels more than once", false;
  if (!FindScale(tree, runs, guess, found, why)) return false;
  found.q = guess.q, found.k = guess.k, found.v = guess.v, found.o = guess.o;
  const std::vector<std::string> outside = guess.Outside();
  found.heads = outside.empty() ? "1" : ProductOfNames(outside);
  found.inside = ProductOfNames(guess.inside);
  found.rows = guess.rows, found.keys = guess.keys;
  found.depth = guess.depth_size.empty() ? guess.depth : 0;
  found.depth_size = guess.depth_size;
  found.causal = guess.causal;
  found.packed = guess.packed;
  if (!guess.beside.empty()) {
    for (const auto& [buffer, statistic] : guess.beside.front()) found.beside[statistic] = buffer;
  }
  found.started = !guess.started.empty();
  found.parameters = ParametersBehind(context, fmt::format("{}", fmt::join(names, " ")));
  DescribeMore(guess, found.more);
  if (found.more.any && (!found.beside.empty() || guess.packed)) return why = "it stores numbers of its scores, too", false;
  return true;
}

std::vector<std::string> LargeNumbersIn(const SyntaxTree& tree) {
  std::vector<std::string> numbers;
  const std::string& text = tree.text();
  for (const SourceRange& range : Tokenize(text)) {
    std::string number = text.substr(range.begin, range.size());
    if (std::isdigit(static_cast<unsigned char>(number.front())) == 0 || number.starts_with("0x")) continue;
    if (number.find_first_of(".eEfF") == std::string::npos || std::strtod(number.c_str(), nullptr) < kLeastHidingNumber) continue;
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(std::move(number));
  }
  return numbers;
}

}  // namespace evo
