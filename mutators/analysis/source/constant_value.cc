#include "mutators/analysis/source/constant_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernel_templates/size_macro.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Bounds the expansion of macros that are defined by other macros.
constexpr int kConstantDepth = 8;

bool IsName(std::string_view token) {
  return std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_';
}

// The text that a line `#define NAME text` gives to a name; empty if there is no such line.
std::string_view MacroText(std::string_view text, std::string_view name) {
  constexpr std::string_view kDefine = "#define ";
  for (std::size_t at = text.find(kDefine); at != std::string_view::npos; at = text.find(kDefine, at + 1)) {
    std::string_view line = text.substr(at + kDefine.size(), text.find('\n', at) - at - kDefine.size());
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    line.remove_prefix(name.size());
    return line.substr(0, line.find("//"));
  }
  return {};
}

// Adds the value of a constant of an enumeration: one that is spelled, or a small one of those before which none is.
void AddEnumerator(const SyntaxTree& tree, std::string_view name, int enumeration, std::vector<std::string_view>& values) {
  constexpr std::string_view kDigits = "0123456789";
  const std::string_view text = tree.Text(enumeration);
  if (text.starts_with("enum class") || text.starts_with("enum struct")) return;  // whose constants are named with it
  std::size_t unspelled = 0;
  for (const int child : tree.node(enumeration).children) {
    const SyntaxNode& constant = tree.node(child);
    if (constant.kind_name != "EnumConstantDecl") continue;
    const bool spelled = !constant.children.empty();
    if (constant.name == name && spelled) values.push_back(tree.Text(constant.children.back()));
    if (constant.name == name && !spelled && unspelled < kDigits.size()) values.push_back(kDigits.substr(unspelled, 1));
    unspelled = spelled ? kDigits.size() : unspelled + 1;
  }
}

// Adds the values of the constants of a name at file scope and in namespaces there.
void AddConstants(const SyntaxTree& tree, std::string_view name, int scope, std::vector<std::string_view>& values) {
  for (const int child : tree.node(scope).children) {
    const SyntaxNode& variable = tree.node(child);
    if (variable.kind_name == "Namespace") AddConstants(tree, name, child, values);
    if (variable.kind_name == "EnumDecl") AddEnumerator(tree, name, child, values);
    const bool constant = variable.kind_name == "VarDecl" && variable.name == name && variable.type.starts_with("const ");
    if (constant && !variable.children.empty()) values.push_back(tree.Text(variable.children.back()));
  }
}

// Empty if there is none, or two namespaces have one.
std::string_view ConstantText(const SyntaxTree& tree, std::string_view name) {
  std::vector<std::string_view> values;
  AddConstants(tree, name, 0, values);
  return values.size() == 1 ? values.front() : std::string_view();
}

// What `sizeof` gives for a type of one word; 0 for others.
int BytesOfType(std::string_view type) {
  constexpr std::pair<std::string_view, int> kTypes[] = {{"float", 4},  {"int", 4},  {"unsigned", 4}, {"double", 8}, {"half", 2},
                                                         {"__half", 2}, {"char", 1}, {"float4", 16},  {"float2", 8}};
  const auto known = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& one) { return one.first == type; });
  return known == std::end(kTypes) ? 0 : known->second;
}

// The expression with numbers in the place of names; nullopt if some name stands for no number.
std::optional<std::string> Expanded(const SyntaxTree& tree, std::string_view text, int depth) {
  if (depth == 0) return std::nullopt;
  std::string expanded;
  const std::vector<SourceRange> tokens = Tokenize(text);
  const auto at = [&](std::size_t i) {
    return i < tokens.size() ? text.substr(tokens[i].begin, tokens[i].size()) : std::string_view();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = at(i);
    if (const int bytes = BytesOfType(at(i + 2)); token == "sizeof" && at(i + 1) == "(" && at(i + 3) == ")" && bytes > 0) {
      expanded += fmt::format("{} ", bytes);
      i += 3;
      continue;
    }
    if (!IsName(token)) {
      expanded += fmt::format("{} ", token);
      continue;
    }
    if (IsSizeMacro(tree.text(), token)) return std::nullopt;
    std::string_view meaning = MacroText(tree.text(), token);
    if (meaning.empty()) meaning = ConstantText(tree, token);
    const auto inner = meaning.empty() ? std::nullopt : Expanded(tree, meaning, depth - 1);
    if (!inner) return std::nullopt;
    expanded += fmt::format("({}) ", *inner);
  }
  return expanded;
}

bool DependsOnSize(const SyntaxTree& tree, std::string_view text, int depth) {
  for (const SourceRange& range : Tokenize(text)) {
    const std::string_view token = text.substr(range.begin, range.size());
    if (!IsName(token)) continue;
    if (depth == 0 || IsSizeMacro(tree.text(), token)) return true;
    std::string_view meaning = MacroText(tree.text(), token);
    if (meaning.empty()) meaning = ConstantText(tree, token);
    if (DependsOnSize(tree, meaning, depth - 1)) return true;
  }
  return false;
}

// Adds the parameters that an expression names. False if some name stands for neither a parameter nor a number.
bool AddParameters(const MutationContext& context, std::string_view text, int depth, Parameters& behind) {
  if (depth == 0) return false;
  for (const SourceRange& range : Tokenize(text)) {
    const std::string_view token = text.substr(range.begin, range.size());
    if (!IsName(token)) continue;
    const auto parameter = context.genome.parameters.find(std::string(token));
    if (parameter != context.genome.parameters.end()) {
      behind.insert(*parameter);
      continue;
    }
    std::string_view meaning = MacroText(context.tree.text(), token);
    if (meaning.empty()) meaning = ConstantText(context.tree, token);
    if (meaning.empty() || !AddParameters(context, meaning, depth - 1, behind)) return false;
  }
  return true;
}

}  // namespace

Parameters ParametersBehind(const MutationContext& context, std::string_view expression) {
  Parameters behind;
  return AddParameters(context, expression, kConstantDepth, behind) ? behind : context.genome.parameters;
}

std::optional<std::int64_t> ConstantValue(const SyntaxTree& tree, std::string_view expression) {
  const auto expanded = Expanded(tree, expression, kConstantDepth);
  if (!expanded || expanded->empty()) return std::nullopt;
  try {
    return Expression::Parse(*expanded).EvaluateInteger({});
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string_view LiteralBehind(const SyntaxTree& tree, std::string_view name) {
  for (int depth = kConstantDepth; depth > 0 && !name.empty(); --depth) {
    while (!name.empty() && (name.front() == ' ' || name.front() == '(')) name.remove_prefix(1);
    while (!name.empty() && (name.back() == ' ' || name.back() == ')')) name.remove_suffix(1);
    if (name.empty() || !IsName(name)) return name;
    const std::string_view meaning = MacroText(tree.text(), name);
    name = meaning.empty() ? ConstantText(tree, name) : meaning;
  }
  return {};
}

std::optional<double> RealConstant(const SyntaxTree& tree, std::string_view text) {
  double sign = 1;
  for (int depth = kConstantDepth; depth > 0; --depth) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '(' || text.front() == '-')) {
      if (text.front() == '-') sign = -sign;
      text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == ')')) text.remove_suffix(1);
    for (const std::string_view infinite : {"INFINITY", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"}) {
      if (text == infinite) return sign * std::numeric_limits<double>::infinity();
    }
    if (text == "FLT_MAX" || text == "DBL_MAX" || text == "__FLT_MAX__")
      return sign * static_cast<double>(std::numeric_limits<float>::max());
    if (text.empty()) return std::nullopt;
    if (IsName(text)) {
      std::string_view meaning = MacroText(tree.text(), text);
      if (meaning.empty()) meaning = ConstantText(tree, text);
      text = meaning;
      continue;
    }
    const std::string digits(text);
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    const std::string_view rest = std::string_view(digits).substr(static_cast<std::size_t>(end - digits.c_str()));
    return end != digits.c_str() && (rest.empty() || rest == "f" || rest == "F") ? std::optional(sign * value) : std::nullopt;
  }
  return std::nullopt;
}

std::string_view MeaningOf(const SyntaxTree& tree, std::string_view name) {
  const std::string_view macro = MacroText(tree.text(), name);
  if (macro.empty()) return ConstantText(tree, name);
  // Which of several definitions counts is up to the preprocessor.
  const std::string_view after =
      std::string_view(tree.text()).substr(static_cast<std::size_t>(macro.data() - tree.text().data()));
  return MacroText(after, name).empty() ? macro : std::string_view();
}

bool DependsOnSize(const SyntaxTree& tree, std::string_view expression) {
  return DependsOnSize(tree, expression, kConstantDepth);
}

std::string BlockExtent(const MutationContext& context, const LaunchDirective& launch, std::size_t axis) {
  if (axis >= launch.block.size()) return "1";
  const std::string& text = launch.block[axis].text();
  return ConstantValue(context.tree, text) ? text : "";
}

BlockThreads ThreadsOf(const MutationContext& context, const LaunchDirective& launch) {
  BlockThreads threads;
  for (std::size_t axis = 0; axis < launch.block.size(); ++axis) {
    const std::string extent = BlockExtent(context, launch, axis);
    const bool number = extent.empty() || std::all_of(extent.begin(), extent.end(), [](char c) { return c >= '0' && c <= '9'; });
    // Another edit may change a plain number in the launch line, so the code asks blockDim instead.
    const std::string size = number ? fmt::format("blockDim.{}", "xyz"[axis]) : Parenthesised(extent);
    const std::string thread = fmt::format("threadIdx.{}", "xyz"[axis]);
    threads.number = axis == 0 ? thread : fmt::format("{} + {} * {}", threads.number, threads.count, thread);
    threads.count = axis == 0 ? size : fmt::format("{} * {}", threads.count, size);
  }
  return threads;
}

int SizeOf(std::string_view type) {
  struct Known {
    std::string_view name;
    int bytes;
  };
  constexpr std::array<Known, 30> kKnown{{{"float", 4},
                                          {"double", 8},
                                          {"int", 4},
                                          {"unsigned int", 4},
                                          {"short", 2},
                                          {"unsigned short", 2},
                                          {"char", 1},
                                          {"signed char", 1},
                                          {"unsigned char", 1},
                                          {"long long", 8},
                                          {"float2", 8},
                                          {"float4", 16},
                                          {"double2", 16},
                                          {"int2", 8},
                                          {"int4", 16},
                                          {"uint2", 8},
                                          {"uint4", 16},
                                          {"__half", 2},
                                          {"__half2", 4},
                                          {"__nv_bfloat16", 2},
                                          {"__nv_bfloat162", 4},
                                          {"unsigned long long", 8},
                                          {"long", 8},
                                          {"unsigned long", 8},
                                          {"char4", 4},
                                          {"uchar4", 4},
                                          {"uchar2", 2},
                                          {"short2", 4},
                                          {"ushort2", 4},
                                          {"ushort4", 8}}};
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.name == type; });
  return found == kKnown.end() ? 0 : found->bytes;
}

}  // namespace evo
