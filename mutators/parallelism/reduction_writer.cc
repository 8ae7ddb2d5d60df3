#include "mutators/parallelism/reduction_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "mutators/analysis/affine_index.h"
#include "mutators/analysis/combination.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/indentation.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// What a thread loads by one instruction at most.
constexpr int kVectorBytes = 16;

std::string WithoutSemicolon(std::string_view text) {
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

ReductionWriter::ReductionWriter(const MutationContext& context, const Reduction& reduction, ReductionParameters parameters,
                                 bool spread)
    : tree_(context.tree), found_(reduction), names_(std::move(parameters)), spread_(spread) {
  FindWords();
  FindLoads();
  FindRange();
}

void ReductionWriter::FindWords() {
  words_.type = WithoutConst(tree_.node(found_.number).type);
  words_.number = found_.by_name ? tree_.node(found_.number).name : Fresh("i");
  words_.first = Fresh("first");
  const int named = NamedDeclaration(tree_, found_.result);
  // A variable of an element may have the same name, in a block of its own.
  const auto declares = [&](int statement) {
    const auto& declared = tree_.node(statement).children;
    return std::any_of(declared.begin(), declared.end(), [&](int d) { return tree_.node(d).name == tree_.node(named).name; });
  };
  const bool own =
      named >= 0 && std::none_of(found_.of_element.begin(), found_.of_element.end(), declares) &&
      tree_.node(named).type.find('[') == std::string::npos && tree_.node(named).type == found_.type &&
      std::find(found_.of_element.begin(), found_.of_element.end(), tree_.node(named).parent) == found_.of_element.end();
  words_.value = own                       ? tree_.node(named).name
                 : found_.combine == "+"   ? Fresh("sum")
                 : found_.combine == "max" ? Fresh("largest")
                 : found_.combine == "min" ? Fresh("smallest")
                                           : Fresh("folded");
}

// Which elements the rounds of a block take.
void ReductionWriter::FindRange() {
  const bool wide = SizeOf(words_.type) == 8;
  words_.step = "@kRound";
  words_.end = found_.bound;
  if (spread_) {
    words_.begin = wide ? fmt::format("static_cast<{}>(blockIdx.x) * @kRound", words_.type) : "blockIdx.x * @kRound";
    words_.step = wide ? fmt::format("static_cast<{}>(gridDim.x) * @kRound", words_.type) : "gridDim.x * @kRound";
  } else if (found_.blocks == Reduction::Blocks::kOwnPart) {
    words_.begin = Fresh("begin");
    words_.end = Fresh("end");
  } else {
    words_.begin = "0";
  }
}

// A name that nothing which stays in the kernel has.
std::string ReductionWriter::Fresh(const std::string& wanted) const {
  std::set<std::string, std::less<>> taken;
  const auto add = [&](int node) {
    const std::string text = TextWith(tree_, node, NumberAs(tree_, found_, node, "0"));
    for (const SourceRange& range : Tokenize(text)) taken.insert(text.substr(range.begin, range.size()));
  };
  for (const int child : tree_.node(found_.kernel).children) {
    if (tree_.node(child).kind_name == "ParmDecl") taken.insert(tree_.node(child).name);
  }
  for (const int statement : found_.uniform) add(statement);
  for (const int statement : found_.of_element) add(statement);
  add(found_.element);
  add(found_.output);
  taken.insert({words_.number, words_.first, words_.value});
  std::string name = wanted;
  for (int number = 2; taken.contains(name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

// Loads that every element makes at an address that goes up by one with its number.
void ReductionWriter::FindLoads() {
  std::vector<int> parts = found_.of_element;
  parts.push_back(found_.element);
  for (const int part : parts) {
    for (const int node : Subtree(tree_, part)) {
      const SyntaxNode& load = tree_.node(node);
      if (load.kind_name != "ArraySubscriptExpr" || load.children.size() != 2 || !load.converted) continue;
      const std::string type = WithoutConst(load.type);
      const int size = SizeOf(type);
      if (size < 1 || size > 8 || !IsUnconditional(tree_, node, part)) continue;
      if (found_.by_name) {
        const auto form = AffineFormOf(tree_, load.children[1], {found_.number});
        const auto by_number = form ? form->CoefficientOf(found_.number) : std::nullopt;
        if (!by_number || !by_number->IsConstant(1) || NamedDeclaration(tree_, load.children[0]) < 0) continue;
      } else if (!SameTokens(tree_.Text(load.children[1]), tree_.Text(found_.number)) ||
                 NamedDeclaration(tree_, load.children[0]) < 0) {
        continue;
      }
      const auto same = [&](const Load& other) { return SameTokens(tree_.Text(other.node), tree_.Text(node)); };
      auto known = std::find_if(loads_.begin(), loads_.end(), same);
      if (known == loads_.end()) {
        std::string name = Fresh(fmt::format("{}_part", tree_.Text(load.children[0])));
        const auto taken = [&](const Load& other) { return other.part == name; };
        while (std::any_of(loads_.begin(), loads_.end(), taken)) name += "_2";
        loads_.push_back({node, type, name});
        known = loads_.end() - 1;
      }
      places_.emplace_back(node, static_cast<std::size_t>(known - loads_.begin()));
    }
  }
}

std::vector<std::int64_t> ReductionWriter::Vectors() const {
  std::vector<std::int64_t> lengths{1};
  int size = kVectorBytes;
  for (const Load& load : loads_) size = std::min(size, SizeOf(load.type));
  for (std::int64_t length = 2; HasVectors() && length * size <= kVectorBytes; length *= 2) lengths.push_back(length);
  return lengths;
}

std::string ReductionWriter::VectorType(const std::string& type) const {
  const bool only = std::all_of(loads_.begin(), loads_.end(), [&](const Load& load) { return load.type == loads_.front().type; });
  if (only) return Fresh("Vector");
  std::string name = "VectorOf_" + type;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

std::string ReductionWriter::Combine(const std::string& value) const {
  if (IsFold(found_.combine)) return fmt::format("{} {}= {};", words_.value, found_.combine, value);
  const std::string callee = found_.type == "float"    ? fmt::format("f{}f", found_.combine)
                             : found_.type == "double" ? fmt::format("f{}", found_.combine)
                                                       : found_.combine;
  return fmt::format("{0} = {1}({0}, {2});", words_.value, callee, value);
}

// The statements that add one element, whose number the lines before declare if it is still named.
std::string ReductionWriter::ElementLines(const std::string& indent, bool from_vectors) const {
  const auto text_of = [&](int node) {
    Replacements replacements;
    for (const auto& [place, load] : places_) {
      if (from_vectors)
        replacements.emplace_back(place, fmt::format("{}[@k / {}].at[@k % {}]", loads_[load].part, names_.vector, names_.vector));
    }
    if (!found_.by_name) {
      for (auto& replacement : NumberAs(tree_, found_, node, words_.number)) replacements.push_back(std::move(replacement));
    }
    return TextWith(tree_, node, replacements);
  };
  std::string lines;
  std::vector<std::string> texts;
  for (const int statement : found_.of_element) texts.push_back(WithoutSemicolon(text_of(statement)) + ";");
  std::string value = text_of(found_.element);
  const std::string result_type = WithoutConst(tree_.node(found_.element).type);
  // The arguments of max() have one type.
  if (found_.combine != "+" && result_type != found_.type) value = fmt::format("static_cast<{}>({})", found_.type, value);
  texts.push_back(Combine(value));
  bool named = false;
  for (const std::string& text : texts) {
    for (const SourceRange& range : Tokenize(text)) named = named || text.substr(range.begin, range.size()) == words_.number;
  }
  if (named && from_vectors)
    lines += fmt::format("{0}const {1} {2} = {3} + (@k / {4} * {5} + threadIdx.x) * {4} + @k % {4};\n", indent, words_.type,
                         words_.number, words_.first, names_.vector, names_.threads);
  for (const std::string& text : texts) lines += fmt::format("{}{}\n", indent, text);
  return lines;
}

std::string ReductionWriter::WholeRound() const {
  std::string text;
  if (!HasVectors()) {
    text += fmt::format("#pragma unroll\n      for (int @k = 0; @k < {}; ++@k) {{\n", names_.items);
    text += fmt::format("        const {} {} = {} + @k * {} + threadIdx.x;\n", words_.type, words_.number, words_.first,
                        names_.threads);
    return text + ElementLines("        ", false) + "      }\n";
  }
  for (const Load& load : loads_) text += fmt::format("      {} {}[{}];\n", VectorType(load.type), load.part, names_.items);
  text += fmt::format("#pragma unroll\n      for (int @k = 0; @k < {}; ++@k) {{\n", names_.items);
  for (const Load& load : loads_)
    text += fmt::format("        {0}[@k] = {0}s[@k * {1} + threadIdx.x];\n", load.part, names_.threads);
  text += fmt::format("      }}\n#pragma unroll\n      for (int @k = 0; @k < {} * {}; ++@k) {{\n", names_.items, names_.vector);
  return text + ElementLines("        ", true) + "      }\n";
}

std::string ReductionWriter::Rounds() const {
  std::string text = fmt::format("  for ({} {} = {}; {} < {}; {} += {}) {{\n", words_.type, words_.first, words_.begin,
                                 words_.first, words_.end, words_.first, words_.step);
  std::string aligned;
  for (const Load& load : loads_) {
    const std::string vector = VectorType(load.type);
    std::string address = found_.by_name ? TextWith(tree_, load.node, UsesAs(tree_, found_.number, load.node, words_.first))
                                         : TextWith(tree_, load.node, NumberAs(tree_, found_, load.node, words_.first));
    text += fmt::format("    const {0}* {1}s = reinterpret_cast<const {0}*>(&{2});\n", vector, load.part, address);
    aligned += fmt::format(" &&\n        reinterpret_cast<size_t>({}s) % sizeof({}) == 0", load.part, vector);
  }
  text += fmt::format("    if ({} - {} >= @kRound{}) {{\n", words_.end, words_.first, aligned);
  text += WholeRound();
  text +=
      fmt::format("    }} else {{\n      for ({0} {1} = {2} + threadIdx.x; {1} < {3} && {1} - {2} < @kRound; {1} += {4}) {{\n",
                  words_.type, words_.number, words_.first, words_.end, names_.threads);
  return text + ElementLines("        ", false) + "      }\n    }\n  }\n";
}

std::string ReductionWriter::LastStep() const {
  const std::string warps = Fresh(found_.combine == "+" ? "warp_sums" : "warp_results");
  const std::string shuffles = fmt::format("for (int @offset = 16; @offset > 0; @offset /= 2) {}",
                                           Combine(fmt::format("__shfl_down_sync(0xffffffffu, {}, @offset)", words_.value)));
  std::string text = fmt::format("  // The lanes of a warp by shuffles, then the warps by the first of them.\n");
  text += fmt::format("  __shared__ {} {}[{} / 32];\n", found_.type, warps, names_.threads);
  text += fmt::format("  {}\n  if (threadIdx.x % 32 == 0) {}[threadIdx.x / 32] = {};\n  __syncthreads();\n", shuffles, warps,
                      words_.value);
  text += fmt::format("  if (threadIdx.x < 32) {{\n    {} = threadIdx.x < {} / 32 ? {}[threadIdx.x] : {};\n    {}\n",
                      words_.value, names_.threads, warps, found_.initial, shuffles);
  const std::string output = WithoutSemicolon(TextWith(tree_, found_.output, {{found_.result, words_.value}}));
  return text + fmt::format("    if (threadIdx.x == 0) {};\n  }}\n", output);
}

std::string ReductionWriter::Body() const {
  std::string text = "{\n";
  std::set<std::string> types;
  for (const Load& load : loads_) {
    if (types.insert(load.type).second)
      text += fmt::format("  struct alignas(sizeof({0}) * {1}) {2} {{\n    {0} at[{1}];\n  }};\n", load.type, names_.vector,
                          VectorType(load.type));
  }
  text += fmt::format("  // Elements that a block takes in a round, {} vectors a thread.\n", names_.items);
  text += fmt::format("  constexpr int @kRound = {} * {}{};\n", names_.threads, names_.items,
                      HasVectors() ? " * " + names_.vector : "");
  for (const int statement : found_.uniform) text += fmt::format("  {}\n", tree_.Text(statement));
  if (words_.begin != "0" && !spread_) {
    text += fmt::format("  const {} {} = blockIdx.x * {};\n", words_.type, words_.begin, Parenthesised(found_.part));
    text += fmt::format("  const {0} {1} = {2} + {3} < {4} ? {2} + {3} : {4};\n", words_.type, words_.end, words_.begin,
                        found_.part, found_.bound);
  }
  text += fmt::format("  {} {} = {};\n", found_.type, words_.value, found_.initial);
  text += Rounds() + LastStep() + "}";
  // The lines of an edit get the file's unit of indentation, except comments.
  for (std::size_t at = text.find("\n  //"); at != std::string::npos; at = text.find("\n  //", at + 1))
    text.replace(at + 1, 2, IndentUnit(tree_));
  // Names that nothing which stays in the kernel has stand for these.
  for (const char* name : {"kRound", "k", "offset"}) {
    const std::string mark = std::string("@") + name, fresh = Fresh(name);
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      const char after = text[at + mark.size()];
      if (std::isalnum(static_cast<unsigned char>(after)) != 0)
        ++at;
      else
        text.replace(at, mark.size(), fresh);
    }
  }
  return text;
}

}  // namespace evo
