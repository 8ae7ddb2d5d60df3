#include "mutators/parallelism/attention/attention_source.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Names of the texts that the source may have already, and get a number behind them then.
constexpr std::string_view kAttentionNames =
    "kThreads kRows kParts tiles queries tile_k tile_v warp lane first_row own_row factor query sums largest "
    "weights end steps step next t place d key row slot scores part i j e r first_key most shift fade sum left "
    "weight inverse last_row last_key score from_q from_k count from_v to kPanel bring size signed_factor kVector "
    "kVectors kColumns kGroups warp_sums warp_largest warp_weights group column begin stride_k stride_v aligned c "
    "first keys values k v elements share from_bias from_mask slope own_sums own_largest own_weights top";
constexpr std::string_view kLastDeclaration = "  const ELEMENT_* from_v = V_;\n";
constexpr std::string_view kLastOfFloats = "  const float* from_v = V_;\n";

std::string AsOperand(const std::string& expression) {
  return expression.find(' ') == std::string::npos ? expression : fmt::format("({})", expression);
}

}  // namespace

LaunchChange AttentionGrid(const Attention& found, const std::string& rows) {
  const LaunchDirective& launch = *found.launch;
  if (!found.flat_rows.empty())
    return {launch.kernel, "grid", fmt::format("ceil_div({}, {}), {}", found.flat_rows, rows, found.flat_heads)};
  return WithDimension(launch, "grid", found.axis,
                       BlocksOf(launch.grid[found.axis], found.extent, rows,
                                fmt::format("ceil_div(({}) * ({}), {})", launch.grid[found.axis].text(), found.extent, rows)));
}

AttentionSource::AttentionSource(const SyntaxTree& tree, const Attention& found, AttentionParameters names,
                                 std::vector<const DeviceBlock*> blocks)
    : tree_(tree), found_(found), names_(std::move(names)), terms_(found), blocks_(std::move(blocks)) {}

std::string AttentionSource::Blocks() const {
  std::string text = DepthMacro();
  for (const DeviceBlock* block : blocks_)
    text += BlockText(*block, found_.element, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

// The number of elements of a row as a compiled-in size, where the task decides it.
std::string AttentionSource::DepthMacro() const {
  if (found_.depth_size.empty()) return "";
  std::string text = fmt::format("// evo:size {0} = {1}\n#ifndef {0}\n#define {0} {2}\n#endif\n", found_.depth_name,
                                 found_.depth_size, found_.depth);
  const auto check = [&](const std::string& condition, const std::string& why) {
    text += fmt::format("static_assert({} {}, \"{}\");\n", found_.depth_name, condition, why);
  };
  if (found_.element != "float") check("% 16 == 0", "tensor cores take 16 elements at a time");
  if (found_.depth_limit > 0) check(fmt::format("<= {}", found_.depth_limit), "rows may not be longer");
  return text + "\n";
}

std::string AttentionSource::Stride(const std::string& stride) const {
  if (found_.depth_size.empty() && stride == std::to_string(found_.depth)) return found_.depth_name;
  return AsOperand(stride);
}

// What stays of the source where the body stands: its own names must differ from those there.
std::string AttentionSource::Kept() const {
  const SyntaxNode& kernel = tree_.node(found_.kernel);
  std::string kept(tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}));
  kept += Declarations() + fmt::format(" {} {} {} {} ", found_.rows, found_.keys, found_.scale, found_.depth_name);
  for (const Attention::Matrix* matrix : {&found_.q, &found_.k, &found_.v, &found_.o})
    kept += fmt::format("{} {} ", matrix->base, matrix->stride);
  for (const Attention::Plane* plane :
       {&found_.term.plane, &found_.mask.plane, &found_.beside.sums, &found_.beside.largest, &found_.beside.weights})
    kept += fmt::format("{} {} {} ", plane->base, plane->row_stride, plane->key_stride);
  kept += fmt::format("{} {} {} {} ", found_.term.factor, found_.window, found_.after, found_.mask.length);
  kept += fmt::format("{} {} ", found_.query_width, found_.value_width);
  const std::string& text = tree_.text();
  for (std::size_t at = text.find("#define "); at != std::string::npos; at = text.find("#define ", at + 1))
    kept += text.substr(at, text.find('\n', at) + 1 - at);
  return kept;
}

// The text with names that are free in the place of its own.
std::string AttentionSource::Own(std::string text) const {
  const std::string kept = Kept();
  std::istringstream names{std::string(kAttentionNames)};
  for (std::string name; names >> name;) {
    const std::string unused = UnusedName(kept, name);
    if (unused != name) text = WithOtherName(text, name, unused);
  }
  for (const DeviceBlock* block : blocks_)
    text = WithOtherName(text, block->name, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

// The text with what the kernel says in the place of the words that end with _.
std::string AttentionSource::Filled(std::string text) const {
  const auto start = [&](const auto& matrix) {
    if (matrix.parameter < 0) return std::string();
    const std::string& name = tree_.node(matrix.parameter).name;
    return matrix.base == "0" ? name : fmt::format("{} + {}", name, matrix.base);
  };
  const Attention::Plane &bias = found_.term.plane, &mask = found_.mask.plane;
  const std::string only = bias.parameter < 0 ? "" : fmt::format("{}[{}]", tree_.node(bias.parameter).name, bias.base);
  const std::string of_block = fmt::format("int(blockIdx.{})", "xyz"[found_.axis]);
  const std::string backwards = fmt::format("int(gridDim.{0} - 1 - blockIdx.{0})", "xyz"[found_.axis]);
  const std::pair<std::string_view, std::string> words[] = {{"WARPS_", names_.warps},
                                                            {"GROUPS_", names_.warps},
                                                            {"WARP_ROWS_", names_.warp_rows},
                                                            {"TILE_KEYS_", names_.tile_keys},
                                                            {"STAGES_", names_.stages},
                                                            {"ELEMENT_", ElementName(found_.element)},
                                                            {"OUTPUT_", ElementName(found_.output)},
                                                            {"DEPTH_", found_.depth_name},
                                                            {"ROWS_", found_.rows},
                                                            {"KEYS_", found_.keys},
                                                            {"BLOCK_", found_.causal ? backwards : of_block},
                                                            {"Q_", start(found_.q)},
                                                            {"K_", start(found_.k)},
                                                            {"V_", start(found_.v)},
                                                            {"O_", start(found_.o)},
                                                            {"Q_STRIDE_", Stride(found_.q.stride)},
                                                            {"K_STRIDE_", Stride(found_.k.stride)},
                                                            {"V_STRIDE_", Stride(found_.v.stride)},
                                                            {"O_STRIDE_", Stride(found_.o.stride)},
                                                            {"BIAS_", start(bias)},
                                                            {"BIAS_ROW_", Stride(bias.row_stride)},
                                                            {"BIAS_KEY_", Stride(bias.key_stride)},
                                                            {"BIAS_ONLY_", only},
                                                            {"FACTOR_", AsOperand(found_.term.factor)},
                                                            {"MASK_", start(mask)},
                                                            {"MASK_ROW_", Stride(mask.row_stride)},
                                                            {"MASK_KEY_", Stride(mask.key_stride)},
                                                            {"SUMS_", start(found_.beside.sums)},
                                                            {"LARGEST_", start(found_.beside.largest)},
                                                            {"LARGEST_ROW_", Stride(found_.beside.largest.row_stride)},
                                                            {"WEIGHTS_", start(found_.beside.weights)},
                                                            {"WEIGHTS_ROW_", Stride(found_.beside.weights.row_stride)},
                                                            {"SUMS_ROW_", Stride(found_.beside.sums.row_stride)},
                                                            {"WINDOW_", AsOperand(found_.window)},
                                                            {"AFTER_", AsOperand(found_.after)},
                                                            {"QUERY_WIDTH_", AsOperand(found_.query_width)},
                                                            {"VALUE_WIDTH_", AsOperand(found_.value_width)},
                                                            {"SCALE_", Parenthesised(found_.scale)}};
  for (const auto& [word, meaning] : words) text = WithOtherName(text, word, meaning);
  return text;
}

// Declarations of the kernel that the texts name, and the conditions on which it does nothing.
std::string AttentionSource::Declarations() const {
  std::string text;
  for (const int variable : found_.declarations) {
    const SyntaxNode& declared = tree_.node(variable);
    text +=
        fmt::format("  const {} {} = {};\n", WithoutConst(declared.type), declared.name, tree_.Text(declared.children.back()));
  }
  const std::string row = found_.row < 0 ? fmt::format("int(blockIdx.{})", "xyz"[found_.axis]) : tree_.node(found_.row).name;
  if (found_.row >= 0)
    text += fmt::format("  const {} {} = blockIdx.{};\n", WithoutConst(tree_.node(found_.row).type), row, "xyz"[found_.axis]);
  if (found_.own_keys && !found_.rows.empty()) text += fmt::format("  if ({} >= {}) return;\n", row, Parenthesised(found_.rows));
  for (const int guard : found_.guards) text += fmt::format("  {}\n", tree_.Text(guard));
  if (found_.unweighted == Attention::Unweighted::kNothing)
    text += fmt::format("  if ({} <= 0) return;\n", Parenthesised(found_.keys));
  return text;
}

std::string AttentionSource::BodyOf(const std::string& text) const {
  std::string own = text;
  for (const std::string_view line : {kLastDeclaration, kLastOfFloats}) {
    if (const std::size_t at = own.find(line); at != std::string::npos) own.insert(at + line.size(), terms_.Declarations());
  }
  return fmt::format("{{\n{}{}}}", Declarations(), Filled(Own(own)));
}

std::string AttentionSource::Inverse() const {
  return found_.unweighted == Attention::Unweighted::kZero ? "weight > 0.0f ? 1.0f / weight : 0.0f" : "1.0f / weight";
}

std::string AttentionSource::End() const {
  return found_.causal ? fmt::format("min(last_key, first_row + kRows{})", terms_.After()) : "last_key";
}

}  // namespace evo
