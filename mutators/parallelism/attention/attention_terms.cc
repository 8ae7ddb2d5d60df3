#include "mutators/parallelism/attention/attention_terms.h"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>
#include <string_view>
#include <utility>

#include "mutators/analysis/source/element_types.h"

namespace evo {
namespace {

constexpr std::string_view kOfPowersOfTwo = " * 1.44269504f";

// An element as a float.
std::string FloatOf(const std::string& type, const std::string& element) {
  if (type == "float") return element;
  const std::string conversion = ConversionToFloat(type);
  return fmt::format("{}({})", conversion.empty() ? "float" : conversion, element);
}

std::string TimesFactor(const std::string& text, const std::string& factor) {
  return factor == "1.0f" ? text : fmt::format("{} * FACTOR_", text);
}

// The index of a plane's element for `row` and `key`; its strides are words that begin so.
std::string PlaneIndex(const Attention::Plane& plane, const std::string& word) {
  const std::string row = plane.row_stride == "0" ? "" : fmt::format("(long long)row * {}_ROW_ + ", word);
  return row + (plane.key_stride == "1" ? "key" : fmt::format("(long long)key * {}_KEY_", word));
}

}  // namespace

std::string AttentionTerms::Seen(const std::string& rows) const {
  const std::string seen = found_.causal ? fmt::format("min(last_key, own_row + 1{})", After()) : "last_key";
  return found_.window.empty() ? seen : fmt::format("{} || first_key < own_row + {} - WINDOW_", seen, rows);
}

std::string AttentionTerms::Hidden(const std::string& row) const {
  std::string hidden = "key >= last_key";
  if (found_.causal) hidden += fmt::format(" || key > {}{}", row, After());
  if (!found_.window.empty()) hidden += fmt::format(" || key <= {} - WINDOW_", row);
  return hidden;
}

// What of a term or a mask is the same for all rows and keys.
std::string AttentionTerms::Declarations() const {
  std::string text;
  const auto& [kind, bias, factor] = found_.term;
  if (kind == ScoreTerm::Kind::kElement) {
    text += fmt::format("  const {}* from_bias = BIAS_;\n", ElementName(bias.type));
  } else if (kind != ScoreTerm::Kind::kNone) {
    const std::string element = bias.parameter < 0 ? "" : FloatOf(bias.type, "BIAS_ONLY_");
    text += fmt::format("  const float slope = {};\n", element.empty() ? "FACTOR_" : TimesFactor(element, factor));
  }
  if (found_.mask.plane.parameter >= 0) text += fmt::format("  const {}* from_mask = MASK_;\n", found_.mask.plane.type);
  return text;
}

// What is added to a score; empty for nothing.
std::string AttentionTerms::Added() const {
  using enum ScoreTerm::Kind;
  const Attention::Term& term = found_.term;
  if (term.kind == kDistance) return "slope * (key - row)";
  if (term.kind == kAbsoluteDistance) return "slope * abs(key - row)";
  if (term.kind == kNone) return "";
  return TimesFactor(FloatOf(term.plane.type, fmt::format("from_bias[{}]", PlaneIndex(term.plane, "BIAS"))), term.factor);
}

// Whether a mask hides a key; empty if there is none.
std::string AttentionTerms::Masked() const {
  const Attention::Mask& mask = found_.mask;
  if (!mask.length.empty()) return fmt::format("key >= {}", mask.length);
  if (mask.plane.parameter < 0) return "";
  return fmt::format("from_mask[{}] {} 0", PlaneIndex(mask.plane, "MASK"), mask.shows_zero ? "!=" : "==");
}

std::string AttentionTerms::ScoreStep(const std::string& indent) const {
  const std::string masked = Masked(), added = Added();
  const bool finite = !found_.mask.hidden.empty();
  std::string text = fmt::format("{0}if (row >= last_row || {1}) {{\n{0}  score = -INFINITY;\n{0}}}", indent, Hidden("row"));
  if (!masked.empty())
    text += fmt::format(" else if ({1}) {{\n{0}  score = {2};\n{0}}}", indent, masked,
                        finite ? found_.mask.hidden + std::string(kOfPowersOfTwo) : "-INFINITY");
  const std::string sum = added.empty() ? "score * factor" : fmt::format("score * factor + {}{}", added, kOfPowersOfTwo);
  return text + fmt::format(" else {{\n{0}  score = {1};\n{0}}}\n", indent, sum);
}

std::string AttentionTerms::FloatScoreStep(const std::string& indent) const {
  const std::string masked = Masked(), added = Added();
  std::string text =
      fmt::format("{}const int key = first_key + j;\n{}if (row >= last_row || {}) continue;\n", indent, indent, Hidden("row"));
  const std::string sum = added.empty() ? "" : fmt::format("score += {};", added);
  if (found_.mask.hidden.empty()) {
    if (!masked.empty()) text += fmt::format("{}if ({}) continue;\n", indent, masked);
    return sum.empty() ? text : text + fmt::format("{}{}\n", indent, sum);
  }
  text += fmt::format("{0}if ({1}) {{\n{0}  score = {2};\n{0}}}", indent, masked, found_.mask.hidden);
  return text + (sum.empty() ? "\n" : fmt::format(" else {{\n{0}  {1}\n{0}}}\n", indent, sum));
}

std::string AttentionTerms::FromWindow(std::string text) const {
  if (found_.window.empty()) return text;
  const std::string steps = "  const int steps = (end + TILE_KEYS_ - 1) / TILE_KEYS_;\n";
  boost::replace_all(text, steps, steps + "  const int begin = max(0, first_row - WINDOW_ + 1) / TILE_KEYS_;\n");
  for (const auto& [line, other] :
       {std::pair("int step = 1 - STAGES_;", "int step = begin + 1 - STAGES_;"),
        std::pair("if (step >= 0)", "if (step >= begin)"), std::pair("if (step < 0)", "if (step < begin)"),
        std::pair("if (step == 0)", "if (step == begin)"),
        std::pair("next = 0; next < STAGES_ - 1;", "next = begin; next < begin + STAGES_ - 1;"),
        std::pair("int step = 0; step < steps;", "int step = begin; step < steps;"),
        std::pair("int first_key = 0;", "int first_key = max(0, first_row - WINDOW_ + 1);")})
    boost::replace_all(text, line, other);
  return text;
}

}  // namespace evo
