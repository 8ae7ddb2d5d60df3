#include "mutators/parallelism/attention/split_attention_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/attention/attention_terms.h"
#include "mutators/parallelism/attention/split_attention_text.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kPartsOfKeys{1, 4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kWarpsOfPart{2, 4, 8};
const std::vector<std::int64_t> kLanesOfKey{1, 2, 4, 8, 16, 32};
const std::vector<std::int64_t> kKeysOfStep{1, 2, 4, 8};
// Registers of a thread that a query, its sums and a step's keys and values may take.
constexpr std::int64_t kRegistersOfPart = 192;
// Threads of a block that combines, each with a column.
constexpr std::int64_t kMostColumns = 1024;

constexpr std::string_view kGridAxes = "xyz";

}  // namespace

SplitAttentionWriter::SplitAttentionWriter(const MutationContext& context, const Attention& found)
    : context_(context),
      tree_(context.tree),
      found_(found),
      parts_(Name("PARTS")),
      warps_(Name("WARPS")),
      lanes_(Name("LANES")),
      step_keys_(Name("STEP_KEYS")),
      kernel_(Name((tree_.node(found.kernel).name + "_parts").c_str())),
      sums_(Name("part_sums")),
      states_(Name("part_states")),
      writer_(tree_, found, {"", warps_, "", ""}) {}

std::string SplitAttentionWriter::Name(const char* wanted) const { return UnusedName(context_.tree.text(), wanted); }

std::string SplitAttentionWriter::Refusal() const {
  if (found_.depth % VectorElements() != 0)
    return fmt::format("its rows have {} elements, which 16 bytes do not divide", found_.depth);
  if (found_.depth > kMostColumns || Lanes().empty())
    return fmt::format("rows of {} elements exceed the registers of lanes", found_.depth);
  const std::size_t axis = found_.launch->grid.size();
  if (axis >= kGridAxes.size()) return "its keys would be divided along a fourth dimension of the grid";
  // Before the parts are named in them.
  const std::string body = writer_.BodyOf(fmt::format("{}{}", kAttentionParts, kAttentionOfParts));
  for (const char* builtin : {"blockIdx", "gridDim"}) {
    if (body.find(fmt::format("{}.{}", builtin, kGridAxes[axis])) != std::string::npos)
      return fmt::format("it names {}.{}, along which its keys would be divided", builtin, kGridAxes[axis]);
  }
  return "";
}

// Numbers of lanes that divide a row's 16 bytes, and with which a key of a step has room.
std::vector<std::int64_t> SplitAttentionWriter::Lanes() const {
  std::vector<std::int64_t> lanes;
  const std::int64_t words = found_.depth * 4 / VectorElements();
  for (const std::int64_t one : kLanesOfKey) {
    if (found_.depth / VectorElements() % one == 0 && (2 * words + 2 * found_.depth) / one <= kRegistersOfPart)
      lanes.push_back(one);
  }
  return lanes;
}

// The block's number among those that combine.
std::string SplitAttentionWriter::Row() const {
  return found_.launch->grid.size() == 1 ? "blockIdx.x" : "blockIdx.y * gridDim.x + blockIdx.x";
}

std::string SplitAttentionWriter::Body(std::string_view text) const {
  const bool zero = found_.unweighted == Attention::Unweighted::kZero;
  std::string body(text.substr(1));
  const std::pair<std::string_view, std::string> words[] = {
      {"RESULT_", zero ? "weights > 0.0f ? sum / weights : 0.0f" : "sum / weights"},
      {"TO_FLOAT_", ConversionToFloat(found_.element)},
      {"FROM_FLOAT_", ConversionFromFloat(found_.output)},
      {"ROW_", Row()}};
  for (const auto& [word, meaning] : words) body = WithOtherName(body, word, meaning);
  body = writer_.BodyOf(body);
  const std::string part = fmt::format("blockIdx.{}", kGridAxes[found_.launch->grid.size()]);
  const std::pair<std::string_view, std::string> names[] = {{"PART_", part},       {"PARTS_", parts_},
                                                            {"LANES_", lanes_},    {"STEP_", step_keys_},
                                                            {"PART_SUMS_", sums_}, {"PART_STATES_", states_}};
  for (const auto& [word, meaning] : names) body = WithOtherName(body, word, meaning);
  return body;
}

// The kernel's head by another name and with bounds of its own block, and with the workspaces behind its parameters.
std::string SplitAttentionWriter::PartsKernel() const {
  const int last = LastParameter(tree_, found_.kernel);
  std::string head(tree_.Text({tree_.node(found_.kernel).range.begin, tree_.node(last).range.end}));
  head = WithOtherName(head, tree_.node(found_.kernel).name, kernel_);
  if (found_.launch_bounds >= 0) {
    const std::string bounds(tree_.Text(found_.launch_bounds));
    head.replace(head.find(bounds), bounds.size(), fmt::format("__launch_bounds__({} * 32)", warps_));
  }
  return fmt::format("{}, float* {}, float* {}) {}\n\n", head, sums_, states_, Body(kAttentionParts));
}

std::vector<std::string> SplitAttentionWriter::Grid() const {
  std::vector<std::string> grid;
  for (const Expression& dimension : found_.launch->grid) grid.push_back(dimension.text());
  if (!found_.launched_rows.empty()) grid[found_.axis] = found_.launched_rows;
  return grid;
}

Proposal SplitAttentionWriter::Written(const SplitAttentionStart& start) const {
  const LaunchDirective& launch = *found_.launch;
  Proposal proposal;
  proposal.changes = {
      {found_.kernel, Placement::kBefore, PartsKernel()},
      {LastParameter(tree_, found_.kernel), Placement::kAfter, fmt::format(", const float* {}, const float* {}", sums_, states_)},
      {tree_.node(found_.kernel).children.back(), Placement::kReplace, Body(kAttentionOfParts)}};
  if (found_.launch_bounds >= 0)
    proposal.changes.push_back({found_.launch_bounds, Placement::kReplace, fmt::format("__launch_bounds__({})", found_.depth)});
  const std::vector<std::string> grid = Grid();
  std::vector<std::string> factors;
  for (const std::string& dimension : grid) factors.push_back(grid.size() == 1 ? dimension : Parenthesised(dimension));
  const std::string rows = fmt::format("{}", fmt::join(factors, " * "));
  const std::string arguments = fmt::format("{}, {}, {}", fmt::join(launch.arguments, ", "), sums_, states_);
  proposal.launch = {
      {launch.kernel, "before", fmt::format("workspace {} f32 [{}, {}, {}]", sums_, rows, parts_, found_.depth)},
      {launch.kernel, "before", fmt::format("workspace {} f32 [{}, {}, 2]", states_, rows, parts_)},
      {launch.kernel, "before",
       fmt::format("launch {}({}) grid({}, {}) block({} * 32)", kernel_, arguments, fmt::join(grid, ", "), parts_, warps_)},
      {launch.kernel, "arguments", arguments},
      {launch.kernel, "grid", fmt::format("{}", fmt::join(grid, ", "))},
      {launch.kernel, "block", std::to_string(found_.depth)}};
  if (launch.shared.text() != "0") proposal.launch.push_back({launch.kernel, "shared", ""});
  proposal.parameters = found_.parameters;
  const std::vector<std::int64_t> lanes = Lanes();
  const auto nearest = std::find_if(lanes.rbegin(), lanes.rend(), [&](std::int64_t one) { return one <= start.lanes; });
  const std::int64_t first_lanes = nearest == lanes.rend() ? lanes.front() : *nearest;
  const std::int64_t words = 2 * found_.depth * 4 / VectorElements(), columns = 2 * found_.depth;
  std::int64_t step_keys = start.step_keys;
  while (step_keys > 1 && (step_keys * words + columns) / first_lanes > kRegistersOfPart) step_keys /= 2;
  proposal.brings = {{parts_, kPartsOfKeys, start.parts},
                     {warps_, kWarpsOfPart, start.warps},
                     {lanes_, lanes, first_lanes},
                     {step_keys_, kKeysOfStep, step_keys}};
  proposal.constraints = {fmt::format("({} * {} + {}) / {} <= {}", step_keys_, words, columns, lanes_, kRegistersOfPart),
                          fmt::format("{} * {} * 4 <= 32768", warps_, found_.depth)};
  return proposal;
}

}  // namespace evo
