#include "mutators/parallelism/attention/merged_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/attention/attention_launches.h"
#include "mutators/analysis/attention/launch_parts.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/breeding/edit_application.h"
#include "mutators/parallelism/attention/attention_terms.h"
#include "mutators/parallelism/changed_kernel.h"
#include "mutators/parallelism/whole_source.h"

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

struct MergedText {
  std::string text, arguments, grid;
};

// Of a source in which the chain was found.
MergedText TextOfMerged(const SyntaxTree& tree, const AttentionOfLaunches& chain, const std::string& kernel) {
  const bool own_keys = chain.rows.empty();
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
  std::vector<std::string> parameters, arguments{chain.q, chain.k, chain.v, chain.o};
  const std::string depth = chain.depth_size.empty() ? std::to_string(chain.depth) : unused("depth");
  const std::size_t slash = chain.depth_size.find(" / ");
  const std::string width = unused("width"), parts = unused("parts");
  const std::pair<ScoreStatistic, std::string> statistics[] = {{ScoreStatistic::kLogSum, unused("log_sums")},
                                                               {ScoreStatistic::kLargest, unused("largest_scores")},
                                                               {ScoreStatistic::kWeights, unused("sums_of_weights")}};
  for (const auto& [statistic, name] : statistics) {
    const auto buffer = chain.beside.find(statistic);
    if (buffer == chain.beside.end()) continue;
    parameters.push_back(fmt::format("float* {}", name));
    arguments.push_back(buffer->second);
  }
  for (const auto& [type, name, argument] : chain.of_scale) {
    parameters.push_back(fmt::format("{} {}", type, name));
    arguments.push_back(argument);
  }
  parameters.push_back(fmt::format("int {}", rows));
  arguments.push_back(own_keys ? chain.heads : chain.rows);
  if (slash != std::string::npos) {
    parameters.push_back(fmt::format("int {}, int {}", width, parts));
    arguments.push_back(fmt::format("{}, {}", chain.depth_size.substr(0, slash), chain.depth_size.substr(slash + 3)));
  } else if (!chain.depth_size.empty()) {
    parameters.push_back(fmt::format("int {}", depth));
    arguments.push_back(chain.depth_size);
  }
  if (chain.rows != chain.keys) {
    parameters.push_back(fmt::format("int {}", length));
    arguments.push_back(chain.keys);
  }
  const std::string inside = unused("inside");
  if (!chain.inside.empty()) {
    parameters.push_back(fmt::format("int {}", inside));
    arguments.push_back(chain.inside);
  }
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
                        {"PARAMETERS_", fmt::format("{}", fmt::join(parameters, ", "))},
                        {"Q_", unused("all_queries")},
                        {"K_", unused("all_keys")},
                        {"V_", unused("all_values")},
                        {"O_", unused("output")},
                        {"SUMS_", statistics[0].second},
                        {"LARGEST_", statistics[1].second},
                        {"WEIGHTS_", statistics[2].second}});
  const std::string grid = fmt::format("ceil_div({}, 32)", own_keys ? chain.heads : chain.rows);
  if (!chain.inside.empty())
    return {text, fmt::format("{}", fmt::join(arguments, ", ")), fmt::format("{}, {}, {}", grid, chain.inside, chain.heads)};
  return {text, fmt::format("{}", fmt::join(arguments, ", ")), own_keys ? grid : fmt::format("{}, {}", grid, chain.heads)};
}

Proposal Merge(const SyntaxTree& tree, const AttentionOfLaunches& chain) {
  const std::string kernel = tree.node(chain.kernel).name;
  const MergedText merged = TextOfMerged(tree, chain, kernel);
  Proposal proposal;
  proposal.changes.push_back({chain.kernel, Placement::kReplace, merged.text});
  proposal.launch = {
      {kernel, "arguments", merged.arguments}, {kernel, "grid", merged.grid}, {kernel, "block", "32"}, {kernel, "shared", ""}};
  for (const std::string& other : chain.others) proposal.launch.push_back({other, "removed", ""});
  for (const int function : Functions(tree)) {
    for (const std::string& other : chain.others) {
      if (tree.node(function).name == other) proposal.changes.push_back({function, Placement::kReplace, ""});
    }
  }
  proposal.launch.push_back({kernel, "unused", ""});
  proposal.parameters = chain.parameters;
  return proposal;
}

// Of launches among others.
std::optional<AttentionOfLaunches> InPartOfLaunches(const MutationContext& context) {
  for (const KernelTemplate& part : LaunchPartsWithExponentials(context)) {
    const MutationContext inside{context.kernel_template, context.genome,           context.tree, part,
                                 context.second_parent,   context.product_elsewhere};
    std::string why;
    if (auto found = AsAttentionOfLaunches(inside, why)) return found;
  }
  return std::nullopt;
}

// Of a source in which templates and structs have to be written out first: a new kernel in the place of all others.
std::optional<Proposal> MergeWrittenOut(const MutationContext& context, MergedAttention& merged) {
  const bool has_any = std::any_of(context.rendered.steps.begin(), context.rendered.steps.end(), [](const Step& step) {
    if (!step.launch) return false;
    const auto& arguments = step.launch->arguments;
    return step.launch->kernel_expression != step.launch->kernel ||
           std::any_of(arguments.begin(), arguments.end(), [](const std::string& one) { return one.starts_with("{"); });
  });
  if (!has_any) return std::nullopt;
  const MutationContext plain = WrittenOut(context);
  const GridSource source(context);
  const auto is_missing = [&](const std::string& kernel) { return source.KernelNamed(kernel) < 0; };
  const auto kernels = source.Kernels();
  if (&plain.tree == &context.tree || kernels.empty() || std::any_of(kernels.begin(), kernels.end(), is_missing))
    return std::nullopt;
  std::string why;
  const auto chain = AsAttentionOfLaunches(plain, why);
  if (!why.empty()) merged.why = why;
  if (!chain) return std::nullopt;
  merged.kernel = UnusedName(context.tree.text(), "attention_of_rows");
  MergedText text = TextOfMerged(plain.tree, *chain, merged.kernel);
  while (text.text.ends_with('\n')) text.text.pop_back();
  Proposal proposal;
  proposal.parameters = chain->parameters;
  const std::string line = fmt::format("launch {}({}) grid({}) block(32)", merged.kernel, text.arguments, text.grid);
  ReplaceLaunches(context, {merged.kernel, text.text, {line}, "", kernels.back(), kernels, source.AllFunctions()}, proposal);
  return proposal;
}

}  // namespace

const MergedAttention& MergedAttentionIn(const MutationContext& context) {
  return context.tree.Kept<MergedAttention>(
      fmt::format("merged attention with {}", fmt::join(context.genome.parameters, ",")), [&] {
        const StepBudget budget;
        MergedAttention merged;
        auto chain = AsAttentionOfLaunches(context, merged.why);
        if (!chain) chain = InPartOfLaunches(context);
        if (chain) {
          merged.kernel = context.tree.node(chain->kernel).name;
          merged.proposal = Merge(context.tree, *chain);
        } else if (auto whole = MergeWrittenOut(context, merged)) {
          merged.proposal = *std::move(whole);
        } else {
          return merged;
        }
        const AppliedEdit applied =
            ApplyEdit(context.tree, context.genome.parameters, MakeEdit(context.tree, "merged_attention", merged.proposal));
        if (!applied.dropped.empty()) return merged;
        merged.rendered = ParseTemplate(context.rendered.name, applied.text);
        merged.tree = context.tree.Reparsed(applied.text);
        return merged;
      });
}

std::optional<Proposal> WithMerged(const MergedAttention& merged, const Proposal& proposal) {
  const auto text = KernelWith(*merged.tree, merged.kernel, proposal);
  if (!text) return std::nullopt;
  Proposal result = merged.proposal;
  result.changes.front().text = *text + (result.changes.front().placement == Placement::kBefore ? "\n\n" : "");
  for (const Proposal::Change& change : proposal.changes) {
    if (change.text.starts_with("#include "))
      result.changes.push_back({result.changes.front().node, Placement::kBefore, change.text});
  }
  result.launch.insert(result.launch.end(), proposal.launch.begin(), proposal.launch.end());
  result.brings = proposal.brings;
  result.constraints = proposal.constraints;
  for (const auto& [name, value] : proposal.parameters) result.parameters[name] = value;
  return result;
}

const MergedAttention* VisitMerged(const MutationContext& context, const ProposeChange& propose,
                                   const std::function<void(const MutationContext&, const ProposeChange&)>& visit) {
  bool found = false;
  visit(context, [&](Proposal proposal) { found = true, propose(std::move(proposal)); });
  if (found) return nullptr;
  const MergedAttention& merged = MergedAttentionIn(context);
  if (!merged.tree) return &merged;
  const MutationContext inside{context.kernel_template, context.genome, *merged.tree, merged.rendered};
  visit(inside, [&](const Proposal& proposal) {
    if (auto whole = WithMerged(merged, proposal)) propose(*std::move(whole));
  });
  return &merged;
}

}  // namespace evo
