#include "mutators/parallelism/attention/mapped_group_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/directive_lexer.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/attention/mapped_group_text.h"
#include "mutators/parallelism/products/group_products.h"

namespace evo {
namespace {

constexpr int kMappedThreads = 384;
// Of a warp: 16 rows of 32 sums, 40 floats apart; and two barriers for each stage.
constexpr int kStagedBytes = 8 * 640 * 4;
constexpr int kBarrierBytes = 16;

std::string InParentheses(const std::string& text) { return IsIdentifier(text) ? text : fmt::format("({})", text); }

// To whole vectors of 16 bytes.
std::string RoundedUp(const std::string& size, int vector) { return fmt::format("ceil_div({0}, {1}) * {1}", size, vector); }

// What is not zero where a tensor map of either matrix has rows of another length than it needs.
std::string IsRagged(const MappedOperands& mapped, int vector) {
  const std::string a = fmt::format("{} % {}", InParentheses(mapped.a.inner), vector);
  const std::string b = fmt::format("{} % {}", InParentheses(mapped.b.inner), vector);
  return a == b ? a : a + " + " + b;
}

}  // namespace

MappedGroupWriter::MappedGroupWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                                     MappedOperands mapped, MappedGroupParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      operands_(std::move(operands)),
      mapped_(std::move(mapped)),
      names_(std::move(parameters)),
      vector_(VectorElements(operands_.type)),
      depth_(8 * vector_),
      m_{found_.a, found_.m, mapped_.a, names_.tile_m, "m", "(@{own_m} + @{part_m}) * @{DEPTH} + "},
      n_{found_.b, found_.n, mapped_.b, names_.tile_n, "n", ""} {}

std::string MappedGroupWriter::SharedBytes() const {
  return fmt::format("{} * (({} + {}) * 128 + {}) + {}", names_.stages, names_.tile_m, names_.tile_n, kBarrierBytes,
                     kStagedBytes);
}

std::string MappedGroupWriter::Filled(std::string text) const {
  const std::map<std::string, std::string> given{{"TILE_M", names_.tile_m},
                                                 {"TILE_N", names_.tile_n},
                                                 {"STAGES", names_.stages},
                                                 {"GROUP", names_.group},
                                                 {"VECTOR", fmt::format("{}", vector_)},
                                                 {"PART", fmt::format("{}", 2 * vector_)},
                                                 {"DEPTH", fmt::format("{}", depth_)},
                                                 {"element_m", ElementName(operands_.type)},
                                                 {"element_n", ElementName(operands_.type_b)},
                                                 {"sum", SumName(operands_.type)},
                                                 {"bits", vector_ == 16  ? "unsigned char"
                                                          : vector_ == 8 ? "unsigned short"
                                                                         : "unsigned int"},
                                                 {"tiles", UnusedName(tree_.text(), "tiles")}};
  for (std::size_t at = 0; (at = text.find("@{", at)) != std::string::npos;) {
    const std::size_t end = text.find('}', at);
    const std::string name = text.substr(at + 2, end - at - 2);
    const auto known = given.find(name);
    const bool is_function = std::isupper(static_cast<unsigned char>(name.front())) != 0;
    text.replace(at, end + 1 - at,
                 known != given.end() ? known->second
                 : is_function        ? UnusedName(tree_.text(), name)
                                      : Fresh(name));
  }
  return text;
}

std::string MappedGroupWriter::Blocks() const {
  std::string text = Filled(std::string(kMappedType));
  const auto add = [&](const DeviceBlock& block) {
    text += BlockText(block, operands_.type, UnusedName(tree_.text(), std::string(block.name)));
  };
  for (const DeviceBlock* block : {&kMakeBarrier, &kShowBarriers, &kArriveAt, &kExpectBytes, &kWaitFor}) add(*block);
  text += Filled(std::string(kMappedBlocks));
  for (const DeviceBlock* block : {&kDescribe, &kBeginProducts, &kCommitProducts, &kFinishProducts}) add(*block);
  for (const int columns : {128, 256})
    text += GroupProductText(operands_.type, operands_.type_b, UnusedName(tree_.text(), "MultiplyGroup"), columns,
                             OrderOf(IsByK(m_)), OrderOf(IsByK(n_)));
  return text;
}

std::string MappedGroupWriter::Maps() const {
  return Filled(", const __grid_constant__ @{TensorMap} @{map_m}, const __grid_constant__ @{TensorMap} @{map_n}");
}

// Panels of 128 bytes of a row: one along k, or several of 64 elements of 16 bits along the output's index.
std::string MappedGroupWriter::Copies(const Side& side) const {
  const std::string first = fmt::format("@{{place}}.{} * {}", side.letter == "m" ? "y" : "x", side.size);
  const std::string tile = fmt::format("@{{tile_{}}}[@{{slot}}]", side.letter), map = fmt::format("&@{{map_{}}}", side.letter);
  if (IsByK(side))
    return fmt::format("          @{{CopyBox}}({}, {}, @{{step}} * @{{DEPTH}}, {}, &@{{full}}[@{{slot}}]);\n", tile, map, first);
  return fmt::format(
      "#pragma unroll\n          for (int @{{panel}} = 0; @{{panel}} < {0}; @{{panel}} += 64) {{\n"
      "            @{{CopyBox}}({1} + @{{panel}} * 64, {2}, {3} + @{{panel}}, @{{step}} * 64, &@{{full}}[@{{slot}}]);\n          "
      "}}\n",
      side.size, tile, map, first);
}

std::string MappedGroupWriter::Described(const Side& side) const {
  return fmt::format("@{{Describe}}(&@{{tile_{}}}[@{{slot}}][{}@{{part_k}}{}], {})", side.letter, side.own,
                     IsByK(side) ? "" : " * 64", IsByK(side) ? 16 : 8192);
}

std::string MappedGroupWriter::FirstOf(const Side& side, const std::string& member) const {
  return fmt::format("      const {} @{{first_{}}} = @{{place}}.{} * {};\n",
                     WithoutConst(tree_.node(side.index.declaration).type), side.letter, member, side.size);
}

std::string MappedGroupWriter::Body() const {
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  const std::string accumulator = name(found_.accumulator);
  const auto bound = [&](int node) { return Parenthesised(tree_, node); };
  std::string text(kMappedBody);
  const std::pair<const char*, std::string> parts[] = {{"@{copies_m}", Copies(m_)},
                                                       {"@{copies_n}", Copies(n_)},
                                                       {"@{described_m}", Described(m_)},
                                                       {"@{described_n}", Described(n_)},
                                                       {"@{first_m_line}", FirstOf(m_, "y")},
                                                       {"@{first_n_line}", FirstOf(n_, "x")},
                                                       {"@{common}", Common("  ")},
                                                       {"@{bound_k}", bound(found_.k.bound)},
                                                       {"@{bound_m}", bound(found_.m.bound)},
                                                       {"@{bound_n}", bound(found_.n.bound)},
                                                       {"@{typed_m}", Typed(found_.m.declaration)},
                                                       {"@{typed_n}", Typed(found_.n.declaration)},
                                                       {"@{name_m}", name(found_.m.declaration)},
                                                       {"@{name_n}", name(found_.n.declaration)},
                                                       {"@{guard_m}", std::string(tree_.Text(found_.m.bound))},
                                                       {"@{guard_n}", std::string(tree_.Text(found_.n.bound))},
                                                       {"@{accumulator}", accumulator},
                                                       {"@{epilogue}", Epilogue(accumulator, "            ")}};
  for (const auto& [mark, part] : parts) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += part.size())
      text.replace(at, std::string_view(mark).size(), part);
  }
  return Finished(Filled(std::move(text)));
}

std::string MappedGroupWriter::MapOf(const Side& side, const std::string& suffix) const {
  return UnusedName(tree_.text(), side.operand.buffer + suffix);
}

std::vector<LaunchChange> MappedGroupWriter::Launches() const {
  const LaunchDirective& launch = *found_.grid.launch;
  const std::string ragged = IsRagged(mapped_, vector_), bits = fmt::format("u{}", 128 / vector_);
  const std::string grid = fmt::format("min(ceil_div({}, {}) * ceil_div({}, {}), {})", mapped_.m, names_.tile_m, mapped_.n,
                                       names_.tile_n, names_.resident);
  const auto arguments = [&](const std::string& suffix) {
    return fmt::format("{}, {}, {}", fmt::join(launch.arguments, ", "), MapOf(m_, suffix), MapOf(n_, suffix));
  };
  std::vector<LaunchChange> changes{{launch.kernel, "grid", grid},
                                    {launch.kernel, "block", fmt::format("{}", kMappedThreads)},
                                    {launch.kernel, "shared", SharedBytes()},
                                    {launch.kernel, "when", fmt::format("{} == 0", ragged)},
                                    {launch.kernel, "arguments", arguments("_map")}};
  const auto before = [&](const std::string& line) { changes.push_back({launch.kernel, "before", line}); };
  for (const Side* side : {&m_, &n_}) {
    const MappedOperand& of = side->operand;
    const std::string padded = RoundedUp(of.inner, vector_);
    const std::string box = fmt::format("box({}, {}) swizzle(128)", depth_, IsByK(*side) ? side->size : "64");
    before(fmt::format("workspace {} {} [{} ? {} : 1, {}]", MapOf(*side, "_padded"), bits, ragged, of.outer, padded));
    // The buffer need not be one of words.
    const std::string type = IsTensorWord(operands_.type) ? fmt::format("type({}) ", bits) : "";
    before(fmt::format("tensormap {} = {} {}dims({}, {}) {}", MapOf(*side, "_map"), of.buffer, type, of.inner, of.outer, box));
    before(fmt::format("tensormap {} = {} dims({}, {}) {}", MapOf(*side, "_padded_map"), MapOf(*side, "_padded"), padded,
                       of.outer, box));
  }
  for (const Side* side : {&m_, &n_}) {
    const MappedOperand& of = side->operand;
    before(fmt::format("launch {}({}, {}, {}, {}, {}) grid(ceil_div({}, 256), min({}, 65535)) block(256) when({})",
                       Filled("@{PadRows}"), of.buffer, MapOf(*side, "_padded"), of.outer, of.inner, RoundedUp(of.inner, vector_),
                       of.inner, of.outer, ragged));
  }
  before(fmt::format("launch {}({}) grid({}) block({}) shared({}) when({})", launch.kernel, arguments("_padded_map"), grid,
                     kMappedThreads, SharedBytes(), ragged));
  return changes;
}

}  // namespace evo
