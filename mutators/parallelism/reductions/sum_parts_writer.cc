#include "mutators/parallelism/reductions/sum_parts_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Types of sums: as the source spells them, as the workspace has them, and their zero.
struct SumKind {
  std::string_view type, dtype, zero;
};
constexpr std::array kSumKinds{SumKind{"float", "f32", "0.0f"}, SumKind{"double", "f64", "0.0"}, SumKind{"int", "i32", "0"}};

const SumKind* SumKindOf(std::string_view type) {
  const auto* const found =
      std::find_if(kSumKinds.begin(), kSumKinds.end(), [&](const SumKind& kind) { return kind.type == type; });
  return found == kSumKinds.end() ? nullptr : found;
}

// Parts begin at multiples of it: of tiles, and of what one access brings.
constexpr int kGrain = 64;

// A number of blocks as a factor.
std::string Factor(const std::string& blocks) {
  const bool division = blocks.starts_with("ceil_div(") && blocks.find(')') == blocks.size() - 1;
  return division ? blocks : Parenthesised(blocks);
}

// The block of a kernel of parts whose parent numbers elements by one index.
constexpr int kFlatBlock[] = {32, 8};

}  // namespace

SumPartsWriter::SumPartsWriter(const MutationContext& context, const Contraction& contraction)
    : ContractionText(context, contraction),
      context_(context),
      tree_(context.tree),
      found_(contraction),
      kernel_(UnusedName(tree_.text(), Name(found_.grid.kernel) + "_parts")),
      workspace_(UnusedName(tree_.text(), "partial_sums")) {
  refusal_ = Refusal();
}

std::string SumPartsWriter::SumType() const { return WithoutConst(tree_.node(found_.accumulator).type); }

std::string SumPartsWriter::Refusal() {
  const LaunchDirective& launch = *found_.grid.launch;
  const auto size = [&](int bound, std::string& text) {
    const auto launched = LaunchedSize(context_, found_.grid, bound);
    if (launched) text = *launched;
    return launched.has_value();
  };
  const ElementGrid::Index &m = found_.m, &n = found_.n;
  if (!size(m.bound, rows_) || !size(n.bound, columns_)) return kUnknownGrid;
  if (!size(found_.k.bound, depth_))
    return "the bound of its sum is neither a number nor a parameter that the launch line passes";
  if (found_.start >= 0) return fmt::format("its sum does not start at 0, but with `{}`", tree_.Text(found_.start));
  if (SumKindOf(SumType()) == nullptr) return fmt::format("its sum is of type {}", SumType());
  const bool third = launch.grid.size() > 2 && launch.grid[2].text() != "1";
  if (third || m.axis == 2 || n.axis == 2 || !BuiltinUses(tree_, found_.grid.kernel, "blockIdx", 2).empty())
    return "its blocks go along three axes already";
  const auto repeats = [](const Step& step) { return step.repeat.has_value(); };
  if (launch.when || std::any_of(context_.rendered.steps.begin(), context_.rendered.steps.end(), repeats))
    return "it is launched under a condition or repeatedly";
  return "";
}

// The elements of a part, whole grains.
std::string SumPartsWriter::Length(const std::string& blocks, const std::vector<std::string>& grid) const {
  return fmt::format("{0} * max(1, ceil_div({1}, {0} * max(1, {2} / max(1, {3} * {4}))))", kGrain, depth_, blocks,
                     Factor(grid[0]), Factor(grid[1]));
}

// The declarations that these nodes need, without those that the two indices have.
std::vector<int> SumPartsWriter::Used(const std::vector<int>& nodes, bool of_parts) const {
  std::vector<int> declarations = found_.before;
  declarations.insert(declarations.end(), found_.in_loop.begin(), found_.in_loop.end());
  std::vector<int> needed = NeededDeclarations(tree_, nodes, declarations);
  const std::vector<int> indices = OfIndices(of_parts);
  std::erase_if(needed, [&](int one) { return std::find(indices.begin(), indices.end(), one) != indices.end(); });
  return needed;
}

// The statements that declare the indices, with what they need, in order.
std::vector<int> SumPartsWriter::OfIndices(bool of_parts) const {
  if (found_.grid.flat >= 0 && of_parts) return {};
  std::vector<int> indices{found_.m.declaration, found_.n.declaration};
  if (found_.grid.flat >= 0) indices.push_back(found_.grid.flat);
  std::vector<int> statements = NeededDeclarations(tree_, indices, found_.before);
  for (const int index : indices) statements.push_back(tree_.node(index).parent);
  std::sort(statements.begin(), statements.end());
  return statements;
}

// The two indices of a thread.
std::string SumPartsWriter::Indices(bool of_parts) const {
  std::string text;
  if (found_.grid.flat >= 0 && of_parts) {
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
      const ElementGrid::Index& index = found_.m.axis == axis ? found_.m : found_.n;
      text +=
          fmt::format("  {0} = blockIdx.{1} * {2} + threadIdx.{1};\n", Typed(index.declaration), "xy"[axis], kFlatBlock[axis]);
    }
    return text;
  }
  return Statements(OfIndices(of_parts), "  ", {});
}

std::string SumPartsWriter::Guard() const {
  return fmt::format("  if ({} >= {} || {} >= {}) return;\n", Name(found_.m.declaration), tree_.Text(found_.m.bound),
                     Name(found_.n.declaration), tree_.Text(found_.n.bound));
}

// The element's place in the workspace.
std::string SumPartsWriter::PartOf(const std::string& part) const {
  return fmt::format("{}[(static_cast<size_t>({}) * {} + {}) * {} + {}]", workspace_, part, Parenthesised(tree_, found_.m.bound),
                     Name(found_.m.declaration), Parenthesised(tree_, found_.n.bound), Name(found_.n.declaration));
}

// The kernel of the parts. It has those parameters that it names.
std::string SumPartsWriter::Parts() const {
  const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
  const std::string begin = unused("begin"), count = unused("count"), length = unused("length");
  const SyntaxNode& k = tree_.node(found_.k.counter);
  const std::string type = WithoutConst(k.type), depth = Parenthesised(tree_, found_.k.bound);
  const bool wide = SizeOf(type) == 8;
  std::string body = "{\n" + Indices(true) + Guard();
  std::string loop;
  for (const int statement : Used({found_.update, found_.k.bound}, true)) {
    const bool inside = std::find(found_.in_loop.begin(), found_.in_loop.end(), statement) != found_.in_loop.end();
    if (inside)
      loop += Statements({statement}, "    ", CounterForward(tree_, found_.k, statement, begin));
    else
      body += Statements({statement}, "  ", {});
  }
  body += fmt::format("  // Blocks along z share the sum.\n  const {0} {1} = {2}blockIdx.z * {3};\n", type, begin,
                      wide ? "(long long)" : "", length);
  body += fmt::format("  const {0} {1} = {2} - {3} < {4} ? {2} - {3} : {4};\n", type, count, depth, begin, length);
  body += fmt::format("  {} {} = {};\n", SumType(), Name(found_.accumulator), SumKindOf(SumType())->zero);
  body += fmt::format("  for ({0} {1} = 0; {1} < {2}; ++{1}) {{\n", type, k.name, count) + loop;
  body += Statements({found_.update}, "    ", CounterForward(tree_, found_.k, found_.update, begin)) + "  }\n";
  body += fmt::format("  {} = {};\n}}\n", PartOf("blockIdx.z"), Name(found_.accumulator));
  std::vector<std::string> parameters;
  for (const int parameter : Kept()) parameters.emplace_back(tree_.Text(parameter));
  parameters.push_back(fmt::format("{}* {}", SumType(), workspace_));
  parameters.push_back(fmt::format("{} {}", wide ? "long long" : "int", length));
  return fmt::format("// Parts of the sums of {}, which adds them up.\n__global__ void {}({}) {}\n", Name(found_.grid.kernel),
                     kernel_, fmt::join(parameters, ", "), body);
}

// The parameters that the kernel of the parts keeps.
std::vector<int> SumPartsWriter::Kept() const {
  std::vector<int> nodes = Used({found_.update, found_.k.bound}, true);
  nodes.insert(nodes.end(), {found_.update, found_.k.bound, found_.m.bound, found_.n.bound});
  for (const int statement : OfIndices(true)) nodes.push_back(statement);
  std::set<int> named;
  for (const int node : nodes) named.merge(NamedIn(tree_, node));
  std::vector<int> kept;
  for (const int child : tree_.node(found_.grid.kernel).children) {
    if (tree_.node(child).kind_name == "ParmDecl" && named.contains(child)) kept.push_back(child);
  }
  return kept;
}

// What the launch line passes to the kernel of the parts, without the length of a part.
std::vector<std::string> SumPartsWriter::Arguments() const {
  const std::vector<int> kept = Kept();
  std::vector<std::string> arguments;
  std::size_t at = 0;
  for (const int child : tree_.node(found_.grid.kernel).children) {
    if (tree_.node(child).kind_name != "ParmDecl") continue;
    if (std::find(kept.begin(), kept.end(), child) != kept.end()) arguments.push_back(found_.grid.launch->arguments[at]);
    ++at;
  }
  arguments.push_back(workspace_);
  return arguments;
}

// What becomes of the present kernel's body.
std::string SumPartsWriter::Whole() const {
  const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
  const std::string part = unused("part"), sum = Name(found_.accumulator);
  std::string body = "{\n" + Indices(false) + Guard();
  body += fmt::format("  {} {} = {};\n", SumType(), sum, SumKindOf(SumType())->zero);
  body += fmt::format("#pragma unroll 8\n  for (int {0} = 0; {0} < {1}; ++{0}) {2} += {3};\n", part, unused("parts"), sum,
                      PartOf(part));
  body += Statements(Used(found_.epilogue, false), "  ", {});
  return Finished(body + Statements(found_.epilogue, "  ", {}) + "}");
}

Proposal SumPartsWriter::Divided(const std::string& length) const {
  const LaunchDirective& launch = *found_.grid.launch;
  const int kernel = found_.grid.kernel;
  // One of no products, if there are none: the kernel that adds up stores the sum of nothing.
  const std::string parts = fmt::format("max(1, ceil_div({}, {}))", depth_, length);
  const bool flat = found_.grid.flat >= 0;
  std::vector<std::string> grid, block;
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    const bool of_m = found_.m.axis == axis;
    grid.push_back(flat ? fmt::format("ceil_div({}, {})", of_m ? rows_ : columns_, kFlatBlock[axis]) : launch.grid[axis].text());
  }
  for (const Expression& dimension : launch.block) block.push_back(dimension.text());
  if (flat) block = {std::to_string(kFlatBlock[0]), std::to_string(kFlatBlock[1])};
  Proposal proposal;
  proposal.indented = true;
  proposal.changes = {{kernel, Placement::kBefore, Finished(Parts()) + "\n"},
                      {LastParameter(tree_, kernel), Placement::kAfter,
                       fmt::format(", const {}* {}, int {}", SumType(), workspace_, UnusedName(tree_.text(), "parts"))},
                      {tree_.node(kernel).children.back(), Placement::kReplace, Whole()}};
  if (const std::string unit = IndentUnit(tree_); unit != "  ") {
    for (Proposal::Change& change : proposal.changes) change.text = Reindented(change.text, IndentOf(tree_, kernel), unit);
  }
  const bool wide = SizeOf(WithoutConst(tree_.node(found_.k.counter).type)) == 8;
  proposal.launch = {
      {launch.kernel, "before",
       fmt::format("workspace {} {} [{}, {}, {}]", workspace_, SumKindOf(SumType())->dtype, parts, rows_, columns_)},
      {launch.kernel, "before",
       fmt::format("launch {}({}, {}) grid({}, {}) block({})", kernel_, fmt::join(Arguments(), ", "),
                   wide ? fmt::format("i64({})", length) : length, fmt::join(grid, ", "), parts, fmt::join(block, ", "))},
      {launch.kernel, "arguments", fmt::format("{}, {}, {}", fmt::join(launch.arguments, ", "), workspace_, parts)}};
  // One thread an element, which the source's own launch line need not have: its loops of threads are gone.
  std::vector<std::string> own_grid, own_block;
  for (const Expression& dimension : launch.grid) own_grid.push_back(dimension.text());
  for (const Expression& dimension : launch.block) own_block.push_back(dimension.text());
  proposal.launch.push_back({launch.kernel, "grid", fmt::format("{}", fmt::join(own_grid, ", "))});
  proposal.launch.push_back({launch.kernel, "block", fmt::format("{}", fmt::join(own_block, ", "))});
  if (launch.shared.text() != "0") proposal.launch.push_back({launch.kernel, "shared", ""});
  return proposal;
}

}  // namespace evo
