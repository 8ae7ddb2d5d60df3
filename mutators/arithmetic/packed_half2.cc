#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/unit_stride.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// A type of two bytes, the type of a pair of them, and the functions that convert one value and a pair to float.
struct Packed {
  std::string_view element;
  std::string_view pair;
  std::string_view convert;
  std::string_view convert_pair;
};
constexpr std::array<Packed, 2> kPacked{{{"__half", "__half2", "__half2float", "__half22float2"},
                                         {"__nv_bfloat16", "__nv_bfloat162", "__bfloat162float", "__bfloat1622float2"}}};

// A conversion, or a product of two, that is computed for two iterations at once.
struct Pair {
  const Packed* type = nullptr;
  std::vector<int> places;  // nodes with the same text: conversions, or products of two conversions
  std::vector<int> loads;   // `p[i]`, one or two
};

// The load in a conversion; -1 if the call is no conversion, or if the next element cannot be loaded together with it.
int Converted(const MutationContext& context, const CountedLoop& loop, int call, const Packed& type) {
  const SyntaxTree& tree = context.tree;
  if (LibraryCallee(tree, call) != type.convert || tree.node(call).children.size() != 2) return -1;
  int load = tree.node(call).children[1];
  // Skips an implicit copy.
  while (tree.node(load).kind_name != "ArraySubscriptExpr" && tree.node(load).children.size() == 1)
    load = tree.node(load).children[0];
  const SyntaxNode& element = tree.node(load);
  if (element.kind_name != "ArraySubscriptExpr" || element.children.size() != 2 || WithoutConst(element.type) != type.element)
    return -1;
  if (!IsSteadyBase(tree, element.children[0], loop) || !IsUnitStride(tree, element.children[1], loop)) return -1;
  const bool steady = IsReadOnlyGlobal(tree, context.rendered, element.children[0]) || !StoresIn(tree, loop.parts.body);
  return steady && IsUnconditional(tree, call, loop.parts.body) ? load : -1;
}

void Add(const SyntaxTree& tree, std::vector<Pair>& pairs, Pair pair) {
  const auto known = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const Pair& p) { return tree.Text(p.places.front()) == tree.Text(pair.places.front()); });
  if (known == pairs.end()) {
    pairs.push_back(std::move(pair));
  } else {
    known->places.push_back(pair.places.front());
  }
}

// The conversions in a loop or, with `products`, the products of two conversions.
std::vector<Pair> PairsOf(const MutationContext& context, const CountedLoop& loop, bool products) {
  const SyntaxTree& tree = context.tree;
  std::vector<Pair> pairs;
  for (const int node : Subtree(tree, loop.parts.body)) {
    for (const Packed& type : kPacked) {
      if (products && tree.Operator(node) == "*" && tree.node(node).children.size() == 2) {
        const int left = Converted(context, loop, WithoutParentheses(tree, tree.node(node).children[0]), type);
        const int right = Converted(context, loop, WithoutParentheses(tree, tree.node(node).children[1]), type);
        if (left >= 0 && right >= 0) Add(tree, pairs, {&type, {node}, {left, right}});
      }
      if (products) continue;
      const int load = Converted(context, loop, node, type);
      if (load >= 0) Add(tree, pairs, {&type, {node}, {load}});
    }
  }
  return pairs;
}

// Writes a loop that takes two iterations at a time.
class PairLoop {
 public:
  PairLoop(const SyntaxTree& tree, const CountedLoop& loop, const std::vector<Pair>& pairs)
      : tree_(tree), loop_(loop), pairs_(pairs) {
    outer_ = IndentOf(tree, loop.parts.statement);
    counter_ = tree.node(loop.counter).name;
  }

  std::string Text() const {
    const std::string bound(tree_.Text(loop_.bound));
    const std::string indent = outer_ + "  ";
    const std::string declared = fmt::format("{} = {}", CounterDeclaration(tree_, loop_), tree_.Text(loop_.start));
    // If the number of iterations is known, the loop keeps a form that compilers can unroll.
    if (IsEven()) {
      return fmt::format("if ({}) {{\n{}{}for ({}; {} < {}; {} += 2) {{\n{}{}}}\n{}}} else {{\n{}{}{} {{\n{}{}}}\n{}}}",
                         Aligned(), Pragma(), indent, declared, counter_, bound, counter_, Twice(indent + "  "), indent, outer_,
                         Pragma(), indent, Header(tree_, loop_, declared), Lines(tree_, loop_.parts.body, indent + "  "), indent,
                         outer_);
    }
    std::string text = fmt::format("{{\n{}{};\n{}if ({}) {{\n{}", indent, declared, indent, Aligned(), Pragma());
    text += fmt::format("{0}  for (; {1} + 1 {2} {3}; {1} += 2) {{\n{4}{0}  }}\n{0}}}\n", indent, counter_, loop_.comparison,
                        bound, Twice(indent + "    "));
    return text + fmt::format("{}{} {{\n{}{}}}\n{}}}", indent, Header(tree_, loop_, ""),
                              Lines(tree_, loop_.parts.body, indent + "  "), indent, outer_);
  }

  // Whether the number of iterations is known and even, so that the text has no remainder.
  bool IsEven() const {
    const auto first = ConstantValue(tree_, tree_.Text(loop_.start));
    const auto last = ConstantValue(tree_, tree_.Text(loop_.bound));
    return first && last && loop_.comparison == "<" && (*last - *first) % 2 == 0;
  }

 private:
  std::string Pragma() const { return loop_.parts.pragma >= 0 ? std::string(tree_.Text(loop_.parts.pragma)) + "\n" : ""; }

  std::string Aligned() const {
    std::vector<std::string> conditions;
    for (const Pair& pair : pairs_) {
      for (const int load : pair.loads) {
        const std::string start = Parenthesised(tree_, loop_.start);
        const std::string at = TextWith(tree_, load, UsesAs(tree_, loop_.counter, load, start));
        const std::string condition = fmt::format("reinterpret_cast<unsigned long long>(&{}) % 4 == 0", at);
        if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) conditions.push_back(condition);
      }
    }
    std::string text;
    for (const std::string& condition : conditions) text += (text.empty() ? "" : " && ") + condition;
    return text;
  }

  // The body for two iterations, one after the other.
  std::string Twice(const std::string& indent) const {
    std::string text;
    Replacements first;
    Replacements second = CounterForward(tree_, loop_, loop_.parts.body, "1");
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      const std::string name = FreshName(tree_, pairs_.size() > 1 ? fmt::format("pair_{}", i) : "pair");
      std::vector<std::string> loads;
      for (const int load : pair.loads)
        loads.push_back(fmt::format("*reinterpret_cast<const {}*>(&{})", pair.type->pair, tree_.Text(load)));
      const std::string packed = loads.size() == 1 ? loads[0] : fmt::format("__hmul2({}, {})", loads[0], loads[1]);
      text += fmt::format("{}const float2 {} = {}({});\n", indent, name, pair.type->convert_pair, packed);
      for (const int place : pair.places) {
        first.emplace_back(place, name + ".x");
        second.emplace_back(place, name + ".y");
      }
    }
    const bool block =
        tree_.node(loop_.parts.body).kind_name == "CompoundStmt" && tree_.node(loop_.parts.body).children.size() > 1;
    if (!block) return text + Lines(tree_, loop_.parts.body, indent, first) + Lines(tree_, loop_.parts.body, indent, second);
    for (const Replacements& replacements : {first, second})
      text += fmt::format("{0}{{\n{1}{0}}}\n", indent, Lines(tree_, loop_.parts.body, indent + "  ", replacements));
    return text;
  }

  const SyntaxTree& tree_;
  const CountedLoop& loop_;
  const std::vector<Pair>& pairs_;
  std::string outer_;
  std::string counter_;
};

class PackedHalf2 : public SourceMutator {
 public:
  std::string_view name() const override { return "packed_half2"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "converts, or multiplies, two neighbouring halves (or bfloat16 values) at a time";
  }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(context.tree, "ForStmt")) {
      const auto loop = AsCountedLoop(context.tree, node);
      if (!loop || loop->step != "1" || JumpsOut(context.tree, loop->parts.body)) continue;
      if (PairsOf(context, *loop, false).size() > kMostPairs) continue;
      for (const bool products : {false, true}) {
        const auto pairs = PairsOf(context, *loop, products);
        if (pairs.empty()) continue;
        const PairLoop written(context.tree, *loop, pairs);
        Proposal& proposal = proposals.emplace_back(ReplaceLoop(*loop, written.Text()));
        if (!written.IsEven()) continue;
        for (const int end : {loop->start, loop->bound})
          proposal.parameters.merge(ParametersBehind(context, context.tree.Text(end)));
      }
    }
    return proposals;
  }

 private:
  // Each pair takes two registers and an alignment check.
  static constexpr std::size_t kMostPairs = 8;
};

}  // namespace

std::unique_ptr<Mutator> MakePackedHalf2() { return std::make_unique<PackedHalf2>(); }

}  // namespace evo
