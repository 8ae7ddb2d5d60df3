#include "mutators/parallelism/convolutions/convolution_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/erase.hpp>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/convolutions/convolution_axes.h"
#include "mutators/parallelism/convolutions/convolution_names.h"
#include "mutators/parallelism/convolutions/convolution_text.h"
#include "mutators/parallelism/convolutions/depthwise_tile.h"
#include "mutators/parallelism/products/split_product.h"

namespace evo {
namespace {

// What the accumulator's loop has summed up.
constexpr std::string_view kOwnSum = "own[row * kRow + p * 32 + lane]";
constexpr std::string_view kOwnFloatSum = "sums[i][j]";
constexpr std::string_view kOwnDepthwiseSum = "sums[r]";
constexpr std::string_view kOwnTotal = "total";

std::string FiltersInRow(const SyntaxTree& tree, const Convolution& found) {
  const SyntaxNode& filters = tree.node(found.f);
  if (filters.kind_name == "ParmDecl" || std::count(filters.type.begin(), filters.type.end(), '[') < 2) return filters.name;
  return fmt::format("reinterpret_cast<const {}*>({})", found.element, filters.name);
}

}  // namespace

ConvolutionWriter::ConvolutionWriter(const SyntaxTree& tree, const Convolution& found, ConvolutionForm form,
                                     ConvolutionParameters names)
    : tree_(tree), found_(found), form_(form), names_(std::move(names)) {
  if (form == ConvolutionForm::kFloats || form == ConvolutionForm::kDepthwise) return;
  if (!HasScatteredFilters()) blocks_.push_back(&kCopyVector);
  blocks_.push_back(&kLoadMatrices);
  if (form == ConvolutionForm::kHalves)
    blocks_.insert(blocks_.end(), {&kLoadTransposed, &kMultiplyAdd});
  else
    blocks_.insert(blocks_.end(), {&kSplit, &kMultiplyAddTf32});
}

std::string ConvolutionWriter::Blocks() const {
  std::string text;
  for (const DeviceBlock* block : blocks_)
    text += BlockText(*block, found_.element, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

bool ConvolutionWriter::IsInRow() const {
  return !found_.transposed && found_.rows.constant == 1 && found_.height.constant == 1 && found_.out_height.constant == 1 &&
         found_.pad_y.constant == 0;
}

std::optional<std::int64_t> ConvolutionWriter::Taps() const {
  const auto &planes = found_.planes.constant, &rows = found_.rows.constant, &columns = found_.columns.constant;
  return planes && rows && columns ? std::optional(*planes * *rows * *columns) : std::nullopt;
}

bool ConvolutionWriter::HasMasks() const { return Taps() && *Taps() <= 32; }

std::string ConvolutionWriter::Grid() const {
  if (form_ == ConvolutionForm::kDepthwise)
    return fmt::format("{} * {}{} * ceil_div({}, {}) * ceil_div({}, {})", found_.images.launch, found_.filters.launch,
                       found_.planes.constant == 1 ? "" : " * " + found_.out_depth.launch, found_.out_height.launch,
                       names_.tile_m, found_.out_width.launch, names_.tile_n);
  std::string rows = found_.out_depth.constant == 1 ? "" : found_.out_depth.launch + " * ";
  if (found_.out_height.constant != 1) rows += found_.out_height.launch + " * ";
  const std::string& groups = found_.groups.launch;
  const std::string blocks_m = HasGroups()
                                   ? fmt::format("{0} * ceil_div({1} / {0}, {2})", groups, found_.filters.launch, names_.tile_m)
                                   : fmt::format("ceil_div({}, {})", found_.filters.launch, names_.tile_m);
  return fmt::format("{} * ceil_div({} * {}{}, {})", blocks_m, found_.images.launch, rows, found_.out_width.launch,
                     names_.tile_n);
}

std::string ConvolutionWriter::Threads() const {
  if (form_ == ConvolutionForm::kDepthwise) return fmt::format("{} / {} * {}", names_.tile_m, names_.warps_m, names_.tile_n);
  if (form_ == ConvolutionForm::kFloats)
    return fmt::format("{} / {} * ({} / {})", names_.tile_m, names_.warps_m, names_.tile_n, names_.warps_n);
  return fmt::format("{} * {} * 32", names_.warps_m, names_.warps_n);
}

std::string ConvolutionWriter::MostTileBytes() const { return PlaneTileBytes(names_, found_, false); }
std::string ConvolutionWriter::TileBytes() const {
  if (form_ == ConvolutionForm::kDepthwise) return PlaneTileBytes(names_, found_, true);
  if (form_ == ConvolutionForm::kFloats)
    return fmt::format("{} * ({} + 1 + {}) * 4", names_.tile_k, names_.tile_m, names_.tile_n);
  if (form_ == ConvolutionForm::kSplitFloats)
    return fmt::format("{0} * ({1} * ({2} + 4) + {2} * ({3} + 8)) * 4", names_.stages, names_.tile_m, names_.tile_k,
                       names_.tile_n);
  return fmt::format("({0} * ({1} + 8) + {1} * ({2} + 8)) * 4", names_.tile_m, names_.tile_k, names_.tile_n);
}

std::string ConvolutionWriter::SumBytes() const {
  return fmt::format("{} * ({} + {} * 8) * 64", names_.warps_m, names_.tile_n, names_.warps_n);
}

// What stays of the source: its own names must differ from those there.
std::string ConvolutionWriter::Kept() const {
  const SyntaxNode& kernel = tree_.node(found_.kernel);
  std::string kept(tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}));
  for (const Convolution::Kept& one : found_.kept) kept += fmt::format(" {} ", tree_.Text(one.declaration));
  for (const int statement : found_.epilogue) kept += fmt::format(" {} ", tree_.Text(statement));
  if (found_.accumulator >= 0) kept += fmt::format(" {} ", tree_.Text(found_.accumulator));
  const std::string& text = tree_.text();
  kept += tree_.node(found_.f).name + "\n";
  for (std::size_t at = text.find("#define "); at != std::string::npos; at = text.find("#define ", at + 1))
    kept += text.substr(at, text.find('\n', at) + 1 - at);
  return kept;
}

// The text with names that are free in the place of its own. Comments keep their words.
std::string ConvolutionWriter::Own(std::string text) const {
  text = WithFreeNames(std::move(text), Kept());
  for (const DeviceBlock* block : blocks_)
    text = WithOtherName(text, block->name, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

// The text with the order in which elements lie in the place of the words for it.
std::string ConvolutionWriter::Laid(std::string text) const {
  if (!HasGroups()) boost::erase_all(text, " + GROUP_BEGIN_");
  text = WithOtherName(text, "GROUP_BEGIN_", "(long long)group * CHANNELS_ * PLANE_");
  boost::erase_all(text, found_.x_last ? " * PLANE_" : " * PIXEL_");
  const bool is_volume = found_.planes.constant != 1;
  if (!is_volume) boost::erase_all(text, "OF_PLANE_ + ");
  const std::pair<std::string_view, std::string_view> words[] = {
      {"ALL_TAPS_", is_volume ? "PLANES_ * ROWS_ * COLUMNS_" : "ROWS_ * COLUMNS_"},
      {"TILE_PIXELS_", is_volume ? "PLANES_ * tile_rows * tile_columns" : "tile_rows * tile_columns"},
      {"PLANE_OF_BLOCK_", is_volume ? "blockIdx.x / blocks_n / blocks_m / OUT_DEPTH_" : "blockIdx.x / blocks_n / blocks_m"},
      {"ROW_OF_TILE_", is_volume ? "t / tile_columns % tile_rows" : "t / tile_columns"},
      {"OF_PLANE_", "h * tile_rows"},
      {"PIXEL_OF_ROW_", is_volume ? "(own_z * OUT_HEIGHT_ + row)" : "row"},
      {found_.x_last ? "PIXEL_" : "PLANE_", found_.x_last ? "ALL_CHANNELS_" : "plane"},
      {"CHANNEL_OF_K_", found_.channels_inner ? "k % CHANNELS_" : "k / taps"},
      {"TAP_OF_K_", found_.channels_inner ? "k / CHANNELS_" : "k % taps"},
      {"ROW_OF_T_", found_.filters_inner ? "t % TILE_M_" : "t / TILE_K_"},
      {"LINE_OF_T_", found_.filters_inner ? "t / TILE_M_" : "t % TILE_K_"},
      {"TAP_OF_FILTER_", is_volume              ? "(h * ROWS_ + i) * COLUMNS_ + j"
                         : found_.columns_outer ? "j * ROWS_ + i"
                                                : "i * COLUMNS_ + j"},
      {"SLOT_OF_TAP_", found_.reversed ? "taps - 1 - t" : "t"},
      {"TAP_INDEX_", found_.filters_inner ? "t * filters + filter" : "filter * taps + t"},
      {"SOURCE_INDEX_", found_.channels_outer ? "((long long)(source / taps) * filters + filter) * taps + source % taps"
                                              : "(long long)source * filters + filter"},
      {"FILTER_INDEX_", found_.channels_outer  ? "((long long)(k / taps) * filters + filter) * taps + k % taps"
                        : found_.filters_inner ? "(long long)k * filters + filter"
                                               : "(long long)filter * products + k"}};
  for (const auto& [word, meaning] : words) text = WithOtherName(text, word, std::string(meaning));
  return text;
}

// The text with what the kernel says in the place of the words that end with _.
std::string ConvolutionWriter::Filled(std::string text) const {
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  const std::pair<std::string_view, std::string> words[] = {{"STAGES_", names_.stages},
                                                            {"WARPS_M_", names_.warps_m},
                                                            {"WARPS_N_", names_.warps_n},
                                                            {"TILE_M_", names_.tile_m},
                                                            {"TILE_N_", names_.tile_n},
                                                            {"TILE_K_", names_.tile_k},
                                                            {"ELEMENT_", found_.element == "__half" ? "half" : found_.element},
                                                            {"X_", name(found_.x)},
                                                            {"F_", FiltersInRow(tree_, found_)},
                                                            {"IMAGES_", names_.images},
                                                            {"CHANNELS_", found_.channels.kernel},
                                                            {"ALL_CHANNELS_", found_.all_channels.kernel},
                                                            {"GROUPS_", found_.groups.kernel},
                                                            {"FILTERS_", names_.filters},
                                                            {"HEIGHT_", found_.height.kernel},
                                                            {"WIDTH_", found_.width.kernel},
                                                            {"OUT_HEIGHT_", found_.out_height.kernel},
                                                            {"OUT_WIDTH_", found_.out_width.kernel},
                                                            {"ROWS_", found_.rows.kernel},
                                                            {"COLUMNS_", found_.columns.kernel},
                                                            {"STRIDE_Y_", found_.stride_y.kernel},
                                                            {"STRIDE_X_", found_.stride_x.kernel},
                                                            {"PAD_Y_", found_.pad_y.kernel},
                                                            {"PAD_X_", found_.pad_x.kernel},
                                                            {"DEPTH_", found_.depth.kernel},
                                                            {"OUT_DEPTH_", found_.out_depth.kernel},
                                                            {"PLANES_", found_.planes.kernel},
                                                            {"STRIDE_Z_", found_.stride_z.kernel},
                                                            {"PAD_Z_", found_.pad_z.kernel},
                                                            {"INWARD_", found_.dilation_z.kernel},
                                                            {"DOWN_", found_.dilation_y.kernel},
                                                            {"ALONG_", found_.dilation_x.kernel},
                                                            {"THREAD_M_", names_.warps_m},
                                                            {"THREAD_N_", names_.warps_n}};
  const auto without = [&](const std::string& part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  };
  if (found_.out_height.constant == 1) without("OUT_HEIGHT_ * ");
  if (found_.height.constant == 1 && found_.out_height.constant == 1) without("HEIGHT_ * ");
  if (found_.stride_y.constant == 1) without(" * STRIDE_Y_");
  if (found_.stride_x.constant == 1) without(" * STRIDE_X_");
  if (found_.pad_y.constant == 0) without(" - PAD_Y_");
  if (found_.pad_x.constant == 0) without(" - PAD_X_");
  if (found_.dilation_y.constant == 1) without(" * DOWN_");
  if (found_.dilation_x.constant == 1) without(" * ALONG_");
  for (const auto& [word, meaning] : words) text = WithOtherName(text, word, meaning);
  return text;
}

// An index of the element whose `filter` and `pixel` are declared.
std::string ConvolutionWriter::TextOf(Convolution::Role role) const {
  constexpr std::array kTexts{"image",
                              "filter",
                              "pixel / OUT_WIDTH_",
                              "pixel % OUT_WIDTH_",
                              "pixel",
                              "image * filters + filter",
                              "(long long)filter * pixels + pixel",
                              "(image * filters + filter) * pixels + pixel",
                              "pixel / (OUT_HEIGHT_ * OUT_WIDTH_)"};
  if (role == Convolution::Role::kElement && found_.y_last) return Filled(Own("(image * pixels + pixel) * filters + filter"));
  if (role == Convolution::Role::kRow && found_.planes.constant != 1) return Filled(Own("pixel / OUT_WIDTH_ % OUT_HEIGHT_"));
  return Filled(Own(kTexts.at(static_cast<std::size_t>(role))));
}

// The sum of an element.
std::string ConvolutionWriter::Total() const {
  const std::string_view sums[] = {kOwnSum, kOwnFloatSum, kOwnTotal, kOwnDepthwiseSum};
  return Own(std::string(sums[static_cast<std::size_t>(form_)]));
}

// It as an element of the output.
std::string ConvolutionWriter::StoredSum() const {
  const std::string sum = Total();
  const std::string type = WithoutConst(tree_.node(found_.y).type);
  if (type.starts_with("__half")) return fmt::format("__float2half({})", sum);
  return type.starts_with("__nv_bfloat16") ? fmt::format("__float2bfloat16({})", sum) : sum;
}

// What the kernel does with a sum, for one element.
std::string ConvolutionWriter::Epilogue() const {
  const std::string indent = "        ";
  if (found_.accumulator < 0)
    return fmt::format("{}{}[{}] = {};\n", indent, tree_.node(found_.y).name, TextOf(Convolution::Role::kElement), StoredSum());
  Replacements replacements;
  for (const auto& [node, role] : found_.indices) {
    replacements.emplace_back(node, fmt::format("({})", TextOf(role)));
  }
  for (const int stored : found_.stored)
    replacements.emplace_back(stored, fmt::format("{}[{}]", tree_.node(found_.y).name, TextOf(Convolution::Role::kElement)));
  std::string text;
  const auto declared = [&](int variable, const std::string& value) {
    const SyntaxNode& node = tree_.node(variable);
    const std::string begin(tree_.Text({node.range.begin, tree_.node(node.children.back()).range.begin}));
    text += fmt::format("{}{}{};\n", indent, begin, value);
  };
  for (const Convolution::Kept& kept : found_.kept) {
    const SyntaxNode& node = tree_.node(kept.declaration);
    if (kept.role)
      text += fmt::format("{}const {} {} = {};\n", indent, WithoutConst(node.type), node.name, TextOf(*kept.role));
    else
      declared(kept.declaration, TextWith(tree_, node.children.back(), replacements));
  }
  const SyntaxNode& sum = tree_.node(found_.accumulator);
  const std::string start =
      found_.starts_at_zero ? "" : Parenthesised(TextWith(tree_, sum.children.back(), replacements)) + " + ";
  text += fmt::format("{}{} {} = {}{};\n", indent, found_.element == "int" ? "int" : "float", sum.name, start, Total());
  for (const int statement : found_.epilogue) {
    const std::string lines = Lines(tree_, statement, indent, replacements);
    const std::size_t end = lines.find_last_not_of('\n') + 1;
    if (end > indent.size()) text += WithComments(tree_, statement, lines.substr(indent.size(), end - indent.size()), indent);
  }
  return text;
}

// The texts of the body in front of the product of two tiles.
std::vector<std::string_view> ConvolutionWriter::Parts() const {
  const auto chosen = [&](std::string_view by_mask, std::string_view by_compare, std::string_view in_row) {
    return HasMasks() ? by_mask : IsInRow() ? in_row : by_compare;
  };
  switch (form_) {
    case ConvolutionForm::kFloats:
      return {kFloatConvolution};
    case ConvolutionForm::kDepthwise:
      return {kDepthwiseConvolution};
    case ConvolutionForm::kHalves:
      return {kConvolutionBegin,
              kConvolutionPlace,
              HasMasks() ? kPlacesByMask : kPlacesByCompare,
              HasMasks() ? kLinesByMask : kLinesByCompare,
              kConvolutionLoop,
              HasScatteredFilters() ? kLoadInnerFilters : kLoadFilters,
              HasMasks() ? kLoadByMask : kLoadByCompare,
              kConvolutionProducts,
              kConvolutionStores};
    case ConvolutionForm::kSplitFloats:
      break;
  }
  return {kSplitBegin,
          kConvolutionPlace,
          chosen(kSplitPlacesByMask, kSplitPlacesByCompare, kSplitPlacesInRow),
          chosen(kLinesByMask, kSplitLinesByCompare, kSplitLinesInRow),
          kSplitLoop,
          HasScatteredFilters() ? kSplitLoadInnerFilters : kSplitLoadFilters,
          kSplitLoad,
          kSplitStep,
          kConvolutionStores};
}

// The product of two tiles of floats.
std::string ConvolutionWriter::Product() const {
  const auto filter = [](const std::string& m, const std::string& k) { return fmt::format("tile_f[slot][{}][{}]", m, k); };
  const auto pixel = [](const std::string& n, const std::string& k) { return fmt::format("tile_x[slot][{}][{}]", k, n); };
  return SplitProductText({"TILE_K_",
                           "sums",
                           {true, "i", filter},
                           {false, "j", pixel},
                           [](const std::string& wanted) { return wanted; },
                           [](const DeviceBlock& block) { return std::string(block.name); }});
}

std::string ConvolutionWriter::Body() const {
  std::string text;
  for (const std::string_view part : Parts()) text += part.substr(1);
  text = WithSumsOf(std::move(text), found_.element);
  // Each pixel of a lane has a copy of the sum in plain float.
  text = WithOtherName(text, "UNROLLED_P_", form_ == ConvolutionForm::kSplitFloats ? "#pragma unroll 1" : "#pragma unroll");
  text = WithOtherName(text, "SIZE_", form_ == ConvolutionForm::kSplitFloats ? "4u" : "2u");
  if (form_ == ConvolutionForm::kSplitFloats) {
    const bool compares = !HasMasks() && !IsInRow();
    const std::string within(HasMasks() ? kSplitWithinByMask : IsInRow() ? kSplitWithinInRow : kSplitWithinByCompare);
    text = WithOtherName(text, "LINE_", compares ? "uint4" : "uint2");
    text = WithOtherName(text, "WITHIN_DECLARED_", compares ? fmt::format("\n          const bool within = {};", within) : "");
    text = WithOtherName(text, "WITHIN_", compares ? "within" : within);
    text = WithOtherName(text, "PRODUCTS_", Product());
    text = WithOtherName(text, "EPILOGUE_", std::string(kSplitTotal.substr(1)) + "EPILOGUE_");
  }
  const std::string taps =
      HasMasks() ? fmt::format("constexpr int taps = {};\n  const int products = CHANNELS_ * taps;", *Taps())
                 : fmt::format("const int taps = {}{}COLUMNS_, products = CHANNELS_ * taps;",
                               found_.planes.constant == 1 ? "" : "PLANES_ * ", found_.rows.constant == 1 ? "" : "ROWS_ * ");
  text = WithOtherName(text, "TAPS_DECLARED_", taps);
  text = WithOtherName(text, "FIRST_FILTER_DECLARED_", std::string((HasGroups() ? kFirstFilterOfGroup : kFirstFilter).substr(1)));
  text = WithOtherName(text, "END_M_", HasGroups() ? "end_m" : "filters");
  text = Filled(Own(Laid(WithAxes(text, found_))));
  return fmt::format("{{\n{}}}", WithOtherName(text, "EPILOGUE_", Epilogue()));
}

}  // namespace evo
