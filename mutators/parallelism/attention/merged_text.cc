#include "mutators/parallelism/attention/merged_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The kernel, with words that end with _ for what the source says.
constexpr std::string_view kMerged = R"(
__global__ void KERNEL_(const ELEMENT_* Q_, const ELEMENT_* K_, const ELEMENT_* V_, OUTPUT_* O_, PARAMETERS_) {
  const int LINE_ = blockIdx.x * 32 + threadIdx.x;
  if (LINE_ >= LINES_) return;
  const ELEMENT_* query = Q_ + (QUERY_ROW_) * DEPTH_;
  const ELEMENT_* keys = K_ + FIRST_KEY_ * DEPTH_;
  const ELEMENT_* values = V_ + FIRST_VALUE_ * DEPTH_;
  float most = -INFINITY, weights = 0.0f, sums[MOST_] = {};
  for (int j = 0; j < END_; ++j) {
    float score = 0.0f;
    for (int d = 0; d < DEPTH_; ++d) score += TO_FLOAT_(query[d]) * TO_FLOAT_(keys[(long long)j * STEP_ + d]);
    score *= SCALE_;
    const float next = fmaxf(most, score), fade = expf(most - next), weight = expf(score - next);
    weights = weights * fade + weight;
    for (int d = 0; d < DEPTH_; ++d) sums[d] = sums[d] * fade + weight * TO_FLOAT_(values[(long long)j * STEP_ + d]);
    most = next;
  }
  for (int d = 0; d < DEPTH_; ++d) O_[(ROW_) * DEPTH_ + d] = FROM_FLOAT_(RESULT_);
)";

// What a row stores of its scores, too.
std::string MergedStatistics(const AttentionOfLaunches& chain) {
  std::string text = "  const float top = ";
  text += chain.started ? "fmaxf(LARGEST_[ROW_], most);\n" : "most;\n";
  for (const auto& [statistic, buffer] : chain.beside) {
    if (statistic == ScoreStatistic::kLogSum) text += "  SUMS_[ROW_] = most + logf(weights);\n";
    if (statistic == ScoreStatistic::kLargest) text += "  LARGEST_[ROW_] = top;\n";
    if (statistic == ScoreStatistic::kWeights) text += "  WEIGHTS_[ROW_] = weights * expf(most - top);\n";
  }
  return chain.beside.empty() ? "" : text;
}

// Names of the text that the source may have already.
constexpr std::string_view kOwnNames[] = {"query", "keys",   "values", "most", "weights", "sums", "score", "next",
                                          "fade",  "weight", "j",      "d",    "row",     "head", "top"};

std::string Renamed(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, meaning] : words) text = WithOtherName(text, word, meaning);
  return text;
}

// What a launch line says for the one row of a head, until it is known how rows are shared out: as many as are tried.
std::string OneRow(const AttentionOfLaunches& chain) { return fmt::format("({} + 2)", chain.keys); }

// Parameters of the kernel, and what is passed for them.
struct MergedParameters {
  std::vector<std::string> parameters, arguments;
  void Add(const std::string& parameter, const std::string& argument) {
    parameters.push_back(parameter);
    arguments.push_back(argument);
  }
};

std::string QuotientOf(const std::string& dividend, const std::string& divisor) {
  return fmt::format("({}) / ({})", dividend.empty() ? "1" : dividend, divisor.empty() ? "1" : divisor);
}

// What only additions name.
template <typename Unused>
void AddMore(const AttentionOfLaunches& chain, const Unused& unused, AttentionWords& words, MergedParameters& all) {
  const AttentionOfLaunches::More& more = chain.more;
  const std::string heads = chain.inside.empty() ? chain.heads : fmt::format("({}) * ({})", chain.heads, chain.inside);
  const auto add = [&](std::string& word, const char* name, const std::string& argument) {
    word = unused(name);
    all.Add(fmt::format("int {}", word), argument);
  };
  if (!more.output_inside.empty()) add(words.output_inside, "output_inside", more.output_inside);
  if (more.shares) {
    add(words.share, "share", QuotientOf(chain.heads, more.key_heads));
    add(words.share_inside, "share_inside", QuotientOf(chain.inside, more.key_inside));
    add(words.key_inside, "key_inside", more.key_inside.empty() ? "1" : more.key_inside);
  }
  words.room = words.length;
  if (!more.room.empty()) add(words.room, "room", more.room);
  words.value = words.depth;
  if (!more.value_size.empty()) add(words.value, "value_width", more.value_size);
  if (!more.after.empty()) add(words.after, "keys_before", more.after);
  if (more.extra.kind == ScoreExtra::Kind::kNone) return;
  words.buffer = unused("of_scores");
  const std::string type = more.extra_type == "__half" ? "half" : more.extra_type;
  all.Add(fmt::format("const {}* {}", type, words.buffer), more.extra.buffer);
  if (more.extra.heads.empty()) return;
  const std::string own = fmt::format("{}", fmt::join(more.extra.heads, " * "));
  add(words.planes, "planes", more.extra.inner ? own : QuotientOf(heads, own));
}

}  // namespace

MergedText TextOfMerged(const SyntaxTree& tree, const AttentionOfLaunches& chain, const std::string& kernel) {
  // One query a head, with keys of its own, unless there is more to it.
  const bool own_keys = chain.rows.empty() && !chain.more.any;
  // The bodies of the kernels go, so that only names of the file count.
  std::string taken;
  for (const int child : tree.node(0).children) taken += tree.node(child).name + " ";
  const std::string& whole = tree.text();
  for (std::size_t at = whole.find("#define "); at != std::string::npos; at = whole.find("#define ", at + 1))
    taken += whole.substr(at, whole.find('\n', at) + 1 - at);
  for (const auto& passed : chain.of_scale) taken += passed.name + " ";
  const auto unused = [&](const char* name) { return UnusedName(taken, name); };
  // Buffers keep their names, which the source need not have for variables.
  const std::string rows = unused("rows"), length = chain.rows == chain.keys ? rows : unused("length");
  MergedParameters all{{}, {chain.q, chain.k, chain.v, chain.o}};
  const std::string depth = chain.depth_size.empty() ? std::to_string(chain.depth) : unused("depth");
  const std::size_t slash = chain.depth_size.find(" / ");
  const std::string width = unused("width"), parts = unused("parts");
  const std::pair<ScoreStatistic, std::string> statistics[] = {{ScoreStatistic::kLogSum, unused("log_sums")},
                                                               {ScoreStatistic::kLargest, unused("largest_scores")},
                                                               {ScoreStatistic::kWeights, unused("sums_of_weights")}};
  for (const auto& [statistic, name] : statistics) {
    const auto buffer = chain.beside.find(statistic);
    if (buffer == chain.beside.end()) continue;
    all.Add(fmt::format("float* {}", name), buffer->second);
  }
  for (const auto& [type, name, argument] : chain.of_scale) {
    all.Add(fmt::format("{} {}", type, name), argument);
  }
  const std::string launched_rows = chain.rows.empty() ? OneRow(chain) : chain.rows;
  all.Add(fmt::format("int {}", rows), own_keys ? chain.heads : launched_rows);
  if (slash != std::string::npos) {
    all.Add(fmt::format("int {}, int {}", width, parts),
            fmt::format("{}, {}", chain.depth_size.substr(0, slash), chain.depth_size.substr(slash + 3)));
  } else if (!chain.depth_size.empty()) {
    all.Add(fmt::format("int {}", depth), chain.depth_size);
  }
  if (chain.rows != chain.keys) {
    all.Add(fmt::format("int {}", length), chain.keys);
  }
  const std::string inside = unused("inside");
  if (!chain.inside.empty()) {
    all.Add(fmt::format("int {}", inside), chain.inside);
  }
  AttentionWords words{rows, length, slash == std::string::npos ? depth : fmt::format("({} / {})", width, parts), "", inside};
  AddMore(chain, unused, words, all);
  std::string text = fmt::format("{}{}}}", kMerged.substr(1), MergedStatistics(chain));
  for (const std::string_view name : kOwnNames) text = WithOtherName(text, name, unused(std::string(name).c_str()));
  const std::string line = unused(own_keys ? "head" : "row");
  std::string first = own_keys ? fmt::format("((long long){}) * LENGTH_", line) : "((long long)blockIdx.y) * LENGTH_";
  std::string row = own_keys ? fmt::format("(long long){}", line) : fmt::format("(long long)blockIdx.y * {} + {}", rows, line);
  if (!chain.inside.empty()) {
    first = fmt::format("((long long)blockIdx.z * LENGTH_ * {} + blockIdx.y)", inside);
    row = fmt::format("((long long)blockIdx.z * {} + {}) * {} + blockIdx.y", rows, line, inside);
  }
  std::string query_row = row, first_key = first, first_value = first;
  if (chain.packed) {
    const std::string each = chain.inside.empty() ? "1" : inside;
    const std::string of_head = chain.inside.empty() ? "" : " + blockIdx.y";
    const std::string batch = chain.inside.empty() ? "blockIdx.y" : "blockIdx.z";
    query_row = fmt::format("((long long){} * {} + {}) * 3 * {}{}", batch, rows, line, each, of_head);
    first_key = fmt::format("(((long long){} * LENGTH_ * 3 + 1) * {}{})", batch, each, of_head);
    first_value = fmt::format("(((long long){} * LENGTH_ * 3 + 2) * {}{})", batch, each, of_head);
  }
  std::string step = chain.inside.empty() ? "" : inside + " * ";
  if (chain.packed) step = "3 * " + step;
  if (slash != std::string::npos) {
    text.insert(text.find("  const ELEMENT_* "), fmt::format("  const int {} = {} / {};\n", depth, width, parts));
  }
  const std::string quotient = fmt::format("{}[{}] / {}", unused("sums"), unused("d"), unused("weights"));
  text = Renamed(text, {{"KERNEL_", kernel},
                        {"ELEMENT_", chain.element == "__half" ? "half" : chain.element},
                        {"OUTPUT_", chain.output == "__half" ? "half" : chain.output},
                        {"LINE_", line},
                        {"LINES_", rows},
                        {"ROW_", row},
                        {"QUERY_ROW_", query_row},
                        {"FIRST_KEY_", first_key},
                        {"FIRST_VALUE_", first_value},
                        {"STEP_", step + kDepthWord},
                        {"LENGTH_", length},
                        {"SCALE_", Parenthesised(chain.scale)},
                        {kDepthWord, depth},
                        {"MOST_", std::to_string(chain.depth_size.empty() ? chain.depth : kLargestDepth)},
                        {"END_", chain.causal ? fmt::format("{} + 1", line) : length},
                        {"TO_FLOAT_", ConversionToFloat(chain.element)},
                        {"FROM_FLOAT_", ConversionFromFloat(chain.output)},
                        {"RESULT_", chain.zero ? fmt::format("{} > 0.0f ? {} : 0.0f", unused("weights"), quotient) : quotient},
                        {"PARAMETERS_", fmt::format("{}", fmt::join(all.parameters, ", "))},
                        {"Q_", unused("all_queries")},
                        {"K_", unused("all_keys")},
                        {"V_", unused("all_values")},
                        {"O_", unused("output")},
                        {"SUMS_", statistics[0].second},
                        {"LARGEST_", statistics[1].second},
                        {"WEIGHTS_", statistics[2].second}});
  const std::string grid = fmt::format("ceil_div({}, 32)", own_keys ? chain.heads : launched_rows);
  MergedText merged{text, fmt::format("{}", fmt::join(all.arguments, ", ")), grid, AdditionsOf(chain, words)};
  if (!own_keys && chain.rows.empty()) merged.additions.one_row = launched_rows;
  if (!chain.inside.empty())
    merged.grid = fmt::format("{}, {}, {}", grid, chain.inside, chain.heads);
  else if (!own_keys)
    merged.grid = fmt::format("{}, {}", grid, chain.heads);
  return merged;
}

}  // namespace evo
