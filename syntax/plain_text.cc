#include "syntax/plain_text.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "syntax/macro_expansion.h"
#include "syntax/template_expansion.h"
#include "syntax/token.h"

namespace evo {
namespace {

// A call of two arguments, by its tokens.
struct PairCall {
  std::size_t begin = 0, end = 0;  // in the text
  std::string first, second;
  bool has_elements = false;
};

// The call of a function that begins there in the text, if it is one in code.
std::optional<PairCall> PairCallAt(const std::string& text, std::string_view name, std::size_t begin) {
  const auto tokens = Tokenize(text);
  const auto token = [&](std::size_t i) {
    return i < tokens.size() ? std::string_view(text).substr(tokens[i].begin, tokens[i].size()) : std::string_view();
  };
  std::size_t at = 0;
  while (at < tokens.size() && tokens[at].begin < begin) ++at;
  if (token(at) != name || token(at + 1) != "(") return std::nullopt;
  PairCall call;
  std::size_t comma = 0, end = at + 1;
  for (int depth = 0; end < tokens.size(); ++end) {
    depth += (token(end) == "(") - (token(end) == ")");
    call.has_elements |= token(end) == "[";
    if (depth == 1 && token(end) == "," && comma == 0) comma = end;
    if (depth == 0) break;
  }
  if (comma == 0 || end >= tokens.size()) return std::nullopt;
  call.begin = tokens[at].begin;
  call.end = tokens[end].end;
  call.first = text.substr(tokens[at + 1].end, tokens[comma].begin - tokens[at + 1].end);
  call.second = text.substr(tokens[comma].end, tokens[end].begin - tokens[comma].end);
  return call;
}

// Products of the low 24 bits as plain ones, `__mul24(a, b)` as `((a) * (b))`: old sources compute indices so, which were faster
// on GPUs of that time, and where numbers are larger the elements that they index are others. Elements may be larger, and stay.
// Stores that say how they are cached as plain ones, `__stcs(p, x)` as `(*(p) = (x))`.
std::string WithoutPairCalls(std::string text) {
  for (const std::string_view name : {"__mul24", "__umul24", "__stcs", "__stcg", "__stwb", "__stwt"}) {
    for (std::size_t begin = text.find(name); begin != std::string::npos; begin = text.find(name, begin + 1)) {
      const auto call = PairCallAt(text, name, begin);
      const bool stores = name.starts_with("__st");
      if (!call || (!stores && call->has_elements)) continue;
      const std::string type = name == "__umul24" ? "unsigned int" : "int";
      text.replace(call->begin, call->end - call->begin,
                   stores ? "(*(" + call->first + ") = (" + call->second + "))"
                          : "((" + type + ")(" + call->first + ") * (" + type + ")(" + call->second + "))");
    }
  }
  return text;
}

// `sizeof(float)` as a number. Types of the source are left.
std::string WithoutSizesOfTypes(std::string text) {
  constexpr std::pair<std::string_view, int> kSizes[] = {
      {"char", 1},   {"signed char", 1}, {"unsigned char", 1},      {"uint8_t", 1},        {"int8_t", 1},
      {"bool", 1},   {"short", 2},       {"unsigned short", 2},     {"half", 2},           {"__half", 2},
      {"half2", 4},  {"__half2", 4},     {"__nv_bfloat16", 2},      {"__nv_bfloat162", 4}, {"int", 4},
      {"float", 4},  {"unsigned", 4},    {"unsigned int", 4},       {"uint32_t", 4},       {"int32_t", 4},
      {"double", 8}, {"float2", 8},      {"unsigned long long", 8}, {"long long", 8},      {"float4", 16},
      {"int4", 16},  {"uint4", 16}};
  for (std::size_t at = text.find("sizeof("); at != std::string::npos; at = text.find("sizeof(", at + 1)) {
    const std::size_t end = text.find(')', at);
    if (end == std::string::npos) break;
    const std::string_view type = std::string_view(text).substr(at + 7, end - at - 7);
    const auto known = std::find_if(std::begin(kSizes), std::end(kSizes), [&](const auto& one) { return one.first == type; });
    if (known != std::end(kSizes)) text.replace(at, end + 1 - at, std::to_string(known->second) + "ul");
  }
  return text;
}

}  // namespace

std::optional<std::string> PlainText(const std::string& text) {
  const MacroExpansion macros(text);
  std::string plain = macros.Expanded(text);
  if (plain.find("template") != std::string::npos) plain = WithoutTemplates(std::move(plain));
  plain = WithoutSizesOfTypes(WithoutPairCalls(std::move(plain)));
  if (plain == text) return std::nullopt;
  // Who looks for a new name finds those that the source has and that are gone.
  std::set<std::string_view> names;
  for (const SourceRange& range : Tokenize(text)) names.insert(std::string_view(text).substr(range.begin, range.size()));
  names.insert(macros.names().begin(), macros.names().end());
  for (const SourceRange& range : Tokenize(plain)) names.erase(std::string_view(plain).substr(range.begin, range.size()));
  std::string gone;
  for (const std::string_view name : names) {
    const char c = name.front();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') gone.append(" ").append(name);
  }
  if (!gone.empty()) plain += "// Names that are written out:" + gone + "\n";
  return plain;
}

}  // namespace evo
