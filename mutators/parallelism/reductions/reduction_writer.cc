#include "mutators/parallelism/reductions/reduction_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/reductions/reduction_text.h"

namespace evo {
namespace {

constexpr int kVectorBytes = 16;  // what a thread loads by one instruction at most

std::string WithoutSemicolon(std::string_view text) {
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

ReductionWriter::ReductionWriter(const MutationContext& context, const Reduction& reduction, ReductionParameters parameters,
                                 bool spread)
    : tree_(context.tree),
      found_(reduction),
      names_(std::move(parameters)),
      spread_(spread),
      turns_(!spread && reduction.blocks == Reduction::Blocks::kOwnTurns) {
  FindWords();
  FindLoads();
  FindRange();
}

void ReductionWriter::FindWords() {
  words_.type = WithoutConst(tree_.node(found_.number).type);
  words_.number = found_.by_name ? tree_.node(found_.number).name : Fresh("i");
  words_.first = Fresh("first");
  for (std::size_t result = 0; result < found_.results.size(); ++result) words_.values.push_back(NameOf(result));
}

// The variable that has the result in the end, or a new one.
std::string ReductionWriter::NameOf(std::size_t result) const {
  const auto is_it = [&](const Reduction::Place& place) { return place.result == result; };
  const auto place = std::find_if(found_.places.begin(), found_.places.end(), is_it);
  const int named = NamedDeclaration(tree_, place->node);
  const auto& names = words_.values;
  // A variable of an element may have the same name, in a block of its own.
  const auto declares = [&](int statement) {
    const auto& declared = tree_.node(statement).children;
    return std::any_of(declared.begin(), declared.end(), [&](int d) { return tree_.node(d).name == tree_.node(named).name; });
  };
  const bool own =
      named >= 0 && std::none_of(found_.of_element.begin(), found_.of_element.end(), declares) &&
      std::none_of(found_.of_turn.begin(), found_.of_turn.end(), declares) &&
      std::find(names.begin(), names.end(), tree_.node(named).name) == names.end() &&
      tree_.node(named).type.find('[') == std::string::npos && tree_.node(named).type == found_.results[result].type &&
      std::find(found_.of_element.begin(), found_.of_element.end(), tree_.node(named).parent) == found_.of_element.end();
  if (own) return tree_.node(named).name;
  const std::string& combine = found_.results[result].combine;
  return Fresh(combine == "+" ? "sum" : combine == "max" ? "largest" : combine == "min" ? "smallest" : "folded");
}

// Which elements the rounds of a block take.
void ReductionWriter::FindRange() {
  const bool wide = SizeOf(words_.type) == 8;
  words_.step = "@kRound";
  words_.end = found_.bound;
  if (spread_) {
    words_.begin = wide ? fmt::format("static_cast<{}>(blockIdx.x) * @kRound", words_.type) : "blockIdx.x * @kRound";
    words_.step = wide ? fmt::format("static_cast<{}>(gridDim.x) * @kRound", words_.type) : "gridDim.x * @kRound";
  } else if (found_.blocks == Reduction::Blocks::kOwnPart || turns_) {
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
  for (const int node : found_.ElementNodes()) add(node);
  for (const int statement : found_.last) add(statement);
  for (const OuterLoop& loop : found_.loops) taken.insert(tree_.node(loop.counter).name);
  taken.insert({words_.number, words_.first});
  taken.insert(words_.values.begin(), words_.values.end());
  std::string name = wanted;
  for (int number = 2; taken.contains(name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

// Loads that every element makes at an address that goes up by one with its number.
void ReductionWriter::FindLoads() {
  for (const int part : found_.ElementNodes()) {
    for (const int node : Subtree(tree_, part)) {
      const SyntaxNode& load = tree_.node(node);
      if (load.kind_name != "ArraySubscriptExpr" || load.children.size() != 2 || !load.converted) continue;
      const std::string type = WithoutConst(load.type);
      const int size = SizeOf(type);
      const auto named = NamedIn(tree_, node);
      const auto is_computed = [&](int d) {
        const auto declares = [&](int statement) { return IsWithin(tree_, d, statement); };
        return std::any_of(found_.of_element.begin(), found_.of_element.end(), declares);
      };
      if (std::any_of(named.begin(), named.end(), is_computed)) continue;
      if (size < 1 || size > 8 || !IsUnconditional(tree_, node, part)) continue;
      if (found_.by_name) {
        std::set<int> atoms{found_.number};
        for (const OuterLoop& loop : found_.loops) atoms.insert(loop.counter);
        const auto form = AffineFormOf(tree_, load.children[1], atoms);
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

std::string ReductionWriter::Combine(std::size_t result, const std::string& value) const {
  const auto& [values, combine, type, initial] = found_.results[result];
  const std::string& name = words_.values[result];
  if (IsFold(combine)) return fmt::format("{} {}= {};", name, combine, value);
  const std::string callee = type == "float"    ? fmt::format("f{}f", combine)
                             : type == "double" ? fmt::format("f{}", combine)
                                                : combine;
  return fmt::format("{0} = {1}({0}, {2});", name, callee, value);
}

std::string ReductionWriter::TextOf(int node, bool from_vectors) const {
  Replacements replacements;
  for (const auto& [place, load] : places_) {
    if (from_vectors)
      replacements.emplace_back(place, fmt::format("{}[@k / {}].at[@k % {}]", loads_[load].part, names_.vector, names_.vector));
  }
  if (!found_.by_name) {
    for (auto& replacement : NumberAs(tree_, found_, node, words_.number)) replacements.push_back(std::move(replacement));
  }
  return TextWith(tree_, node, replacements);
}

// The statements that add one element, whose number they declare if it is still named.
std::vector<std::string> ReductionWriter::ElementLines(bool from_vectors) const {
  std::vector<std::string> lines;
  for (const int statement : found_.of_element) lines.push_back(WithoutSemicolon(TextOf(statement, from_vectors)) + ";");
  for (std::size_t i = 0; i < found_.results.size(); ++i) {
    const Reduction::Result& result = found_.results[i];
    for (const auto& [node, factor] : result.values) {
      std::string value = TextOf(node, from_vectors);
      if (factor >= 0) {
        const std::string_view callee = LibraryCallee(tree_, tree_.node(factor).parent);
        lines.push_back(fmt::format("{0} = {1}({2}, {3}, {0});", words_.values[i], callee, value, TextOf(factor, from_vectors)));
        continue;
      }
      // The arguments of max() have one type.
      if (result.combine != "+" && WithoutConst(tree_.node(node).type) != result.type)
        value = fmt::format("static_cast<{}>({})", result.type, value);
      lines.push_back(Combine(i, value));
    }
  }
  bool named = false;
  for (const std::string& line : lines) {
    for (const SourceRange& range : Tokenize(line)) named = named || line.substr(range.begin, range.size()) == words_.number;
  }
  if (named && from_vectors)
    lines.insert(lines.begin(), fmt::format("const {0} {1} = {2} + (@k / {3} * {4} + threadIdx.x) * {3} + @k % {3};", words_.type,
                                            words_.number, words_.first, names_.vector, names_.threads));
  return lines;
}

std::string ReductionWriter::Values(const std::string& indent, bool from_vectors) const {
  std::string text;
  for (const std::string& line : ElementLines(from_vectors)) text += fmt::format("{}{}\n", indent, line);
  return text;
}

std::string ReductionWriter::WholeRound() const {
  std::string text;
  if (!HasVectors()) {
    text += fmt::format("#pragma unroll\n      for (int @k = 0; @k < {}; ++@k) {{\n", names_.items);
    text += fmt::format("        const {} {} = {} + @k * {} + threadIdx.x;\n", words_.type, words_.number, words_.first,
                        names_.threads);
    return text + Values("        ", false) + "      }\n";
  }
  for (const Load& load : loads_) text += fmt::format("      {} {}[{}];\n", VectorType(load.type), load.part, names_.items);
  text += fmt::format("#pragma unroll\n      for (int @k = 0; @k < {}; ++@k) {{\n", names_.items);
  for (const Load& load : loads_)
    text += fmt::format("        {0}[@k] = {0}s[@k * {1} + threadIdx.x];\n", load.part, names_.threads);
  text += fmt::format("      }}\n#pragma unroll\n      for (int @k = 0; @k < {} * {}; ++@k) {{\n", names_.items, names_.vector);
  return text + Values("        ", true) + "      }\n";
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
  return text + Values("        ", false) + "      }\n    }\n  }\n";
}

// The rounds in each turn of the loops that all threads go through.
std::string ReductionWriter::Loops() const {
  std::string text = Rounds();
  if (turns_) {
    const bool wide = SizeOf(words_.type) == 8;
    const auto of = [&](const std::string& number) {
      return fmt::format("{} * {}", wide ? fmt::format("static_cast<{}>({})", words_.type, number) : number,
                         Parenthesised(found_.part));
    };
    text =
        fmt::format("  for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{\n    const {0} {5} = {1} + {6} < {3} ? {1} + {6} : {3};\n",
                    words_.type, words_.begin, of("blockIdx.x"), found_.bound, of("gridDim.x"), words_.end, found_.part) +
        MovedLines(text) + "  }\n";
  }
  for (auto at = found_.of_turn.rbegin(); at != found_.of_turn.rend(); ++at) text = fmt::format("  {}\n", tree_.Text(*at)) + text;
  for (auto loop = found_.loops.rbegin(); loop != found_.loops.rend(); ++loop) {
    const std::string& name = tree_.node(loop->counter).name;
    text = fmt::format("  for ({} {} = 0; {} < {}; ++{}) {{\n", WithoutConst(tree_.node(loop->counter).type), name, name,
                       loop->bound, name) +
           MovedLines(text) + "  }\n";
  }
  return text;
}

std::string ReductionWriter::LastStep() const {
  std::string text = "  // The lanes of a warp by shuffles, then the warps by the first of them.\n";
  std::vector<std::string> shuffles, kept, read;
  std::set<std::string> names;
  for (std::size_t i = 0; i < found_.results.size(); ++i) {
    const Reduction::Result& result = found_.results[i];
    const std::string& value = words_.values[i];
    const std::string wanted = result.combine == "+" ? "warp_sums" : "warp_results";
    std::string warps = Fresh(wanted);
    for (int number = 2; !names.insert(warps).second; ++number) warps = Fresh(fmt::format("{}_{}", wanted, number));
    text += fmt::format("  __shared__ {} {}[{} / 32];\n", result.type, warps, names_.threads);
    shuffles.push_back(Combine(i, fmt::format("__shfl_down_sync(0xffffffffu, {}, @offset)", value)));
    kept.push_back(fmt::format("{}[threadIdx.x / 32] = {};", warps, value));
    read.push_back(
        fmt::format("    {} = threadIdx.x < {} / 32 ? {}[threadIdx.x] : {};\n", value, names_.threads, warps, result.initial));
  }
  const std::string steps = "for (int @offset = 16; @offset > 0; @offset /= 2)";
  text +=
      StatementsUnder(steps, "  ", shuffles) + StatementsUnder("if (threadIdx.x % 32 == 0)", "  ", kept) + "  __syncthreads();\n";
  text += "  if (threadIdx.x < 32) {\n";
  for (const std::string& line : read) text += line;
  text += StatementsUnder(steps, "    ", shuffles);
  std::vector<std::string> outputs;
  for (const int statement : found_.last) {
    Replacements replacements;
    for (const Reduction::Place& place : found_.places) replacements.emplace_back(place.node, words_.values[place.result]);
    outputs.push_back(WithoutSemicolon(TextWith(tree_, statement, replacements)) + ";");
  }
  return text + StatementsUnder("if (threadIdx.x == 0)", "    ", outputs) + "  }\n";
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
  if (words_.begin != "0" && !spread_ && !turns_) {
    text += fmt::format("  const {} {} = blockIdx.x * {};\n", words_.type, words_.begin, Parenthesised(found_.part));
    text += found_.bound.empty() ? fmt::format("  const {} {} = {} + {};\n", words_.type, words_.end, words_.begin, found_.part)
                                 : fmt::format("  const {0} {1} = {2} + {3} < {4} ? {2} + {3} : {4};\n", words_.type, words_.end,
                                               words_.begin, found_.part, found_.bound);
  }
  for (std::size_t i = 0; i < found_.results.size(); ++i)
    text += fmt::format("  {} {} = {};\n", found_.results[i].type, words_.values[i], found_.results[i].initial);
  text += Loops() + LastStep() + "}";
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
