#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/unit_stride.h"
#include "mutators/analysis/thread_runs/thread_split.h"
#include "mutators/memory/element_vectors.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

struct VectorType {
  std::string_view element;
  int items;
  std::string_view name;
  int bytes;
};
// The vectors that one instruction moves. Elements of one or two bytes are moved as words.
constexpr std::array<VectorType, 21> kVectors{{{"float", 2, "float2", 8},
                                               {"float", 4, "float4", 16},
                                               {"double", 2, "double2", 16},
                                               {"int", 2, "int2", 8},
                                               {"int", 4, "int4", 16},
                                               {"unsigned int", 2, "uint2", 8},
                                               {"unsigned int", 4, "uint4", 16},
                                               {"__half", 2, "unsigned int", 4},
                                               {"__half", 4, "uint2", 8},
                                               {"__half", 8, "uint4", 16},
                                               {"__nv_bfloat16", 2, "unsigned int", 4},
                                               {"__nv_bfloat16", 4, "uint2", 8},
                                               {"__nv_bfloat16", 8, "uint4", 16},
                                               {"unsigned char", 4, "unsigned int", 4},
                                               {"unsigned char", 8, "uint2", 8},
                                               {"unsigned char", 16, "uint4", 16},
                                               {"signed char", 4, "unsigned int", 4},
                                               {"signed char", 8, "uint2", 8},
                                               {"signed char", 16, "uint4", 16},
                                               {"char", 4, "unsigned int", 4},
                                               {"char", 16, "uint4", 16}}};
constexpr std::array<int, 4> kItems{2, 4, 8, 16};

const VectorType* VectorOf(std::string_view element, int items) {
  const auto found = std::find_if(kVectors.begin(), kVectors.end(),
                                  [&](const VectorType& v) { return v.element == element && v.items == items; });
  return found == kVectors.end() ? nullptr : &*found;
}

// The accesses `p[i + c]` with the same text: consecutive iterations access consecutive elements.
struct Access {
  std::vector<int> places;
  bool store = false;
  std::string element;  // type
};

// Whether an element is the target of a statement `element = value;` directly in the body.
bool IsStoreStatement(const SyntaxTree& tree, int element, int body) {
  const int assignment = tree.node(element).parent;
  const SyntaxNode& node = tree.node(assignment);
  const bool assigns = (node.kind_name == "BinaryOperator" && tree.Operator(assignment) == "=") ||
                       (node.kind_name == "CallExpr" && node.name == "operator=");
  return assigns && node.children.front() == element && (assignment == body || node.parent == body);
}

// The memory accesses of a loop's body that can be made with vectors.
class Body {
 public:
  Body(const MutationContext& context, const CountedLoop& loop) : context_(context), loop_(loop) { Collect(); }

  const std::vector<Access>& loads() const { return loads_; }
  const std::vector<Access>& stores() const { return stores_; }
  // Whether the body only reads memory that no thread writes and stores to global memory, so that other threads may take its
  // iterations.
  bool divisible() const { return divisible_; }

 private:
  void Collect() {
    const SyntaxTree& tree = context_.tree;
    const int body = loop_.parts.body;
    const bool stores = StoresIn(tree, body);
    int other_stores = 0;
    bool early_reads_allowed = true;
    for (const int node : Subtree(tree, body)) {
      const SyntaxNode& at = tree.node(node);
      if (at.opaque || (at.kind_name == "CallExpr" && !IsPure(tree, node) && at.name != "operator=")) calls_ = true;
      const bool dereference = at.kind_name == "UnaryOperator" && tree.Operator(node) == "*";
      if (at.kind_name != "ArraySubscriptExpr" && !dereference) continue;
      if (at.type.ends_with("]")) continue;  // an inner part of a[i][j]
      const bool read_only = IsReadOnlyGlobal(tree, context_.rendered, at.children.front());
      const bool own = IsOwnArray(at.children.front());
      if (at.converted) {
        if (!read_only && !own) early_reads_allowed = false;
        if (!read_only) divisible_ = false;
        const bool always =
            IsUnconditional(tree, node, body) || IsIn(loads_, node) || (read_only && IsReadByLoopBefore(tree, node, loop_));
        if (!dereference && (read_only || !stores) && IsWide(node) && always) Add(loads_, node, false);
      } else if (!dereference && IsWide(node) && IsStoreStatement(tree, node, body) && !at.type.starts_with("const ")) {
        Add(stores_, node, true);
        if (!IsGlobal(tree, context_.rendered, at.children.front())) divisible_ = false;
      } else {
        if (!own) ++other_stores;
        divisible_ = false;
      }
    }
    if (calls_) divisible_ = false;
    // A store is delayed until its vector is complete. No other store, and no read of what it writes, may come before that.
    const bool alone = stores_.size() == 1 && stores_.front().places.size() == 1 && other_stores == 0;
    if (!alone || !early_reads_allowed || calls_ || JumpsOut(tree, body)) stores_.clear();
  }

  bool IsOwnArray(int base) const {
    const SyntaxTree& tree = context_.tree;
    while (tree.node(base).kind_name == "ArraySubscriptExpr") base = tree.node(base).children.front();
    const int declaration = NamedDeclaration(tree, base);
    return declaration >= 0 && tree.node(declaration).type.ends_with("]") && !IsMemoryName(tree, declaration);
  }

  bool IsWide(int element) const {
    const SyntaxTree& tree = context_.tree;
    const auto& parts = tree.node(element).children;
    return IsSteadyBase(tree, parts[0], loop_) && IsUnitStride(tree, parts[1], loop_);
  }

  // The accesses with the node's text.
  std::vector<Access>::iterator Same(std::vector<Access>& accesses, int node) const {
    const SyntaxTree& tree = context_.tree;
    return std::find_if(accesses.begin(), accesses.end(),
                        [&](const Access& a) { return tree.Text(a.places.front()) == tree.Text(node); });
  }
  // Whether there are such, before the node.
  bool IsIn(std::vector<Access>& accesses, int node) const { return Same(accesses, node) != accesses.end(); }

  void Add(std::vector<Access>& to, int node, bool store) {
    const SyntaxTree& tree = context_.tree;
    const auto same = Same(to, node);
    if (same != to.end()) {
      same->places.push_back(node);
    } else {
      to.push_back({{node}, store, WithoutConst(tree.node(node).type)});
    }
  }

  const MutationContext& context_;
  const CountedLoop& loop_;
  std::vector<Access> loads_;
  std::vector<Access> stores_;
  bool divisible_ = true;
  bool calls_ = false;
};

// Writes the loop with `items` elements at a time.
class VectorLoop {
 public:
  VectorLoop(const SyntaxTree& tree, const CountedLoop& loop, std::vector<Access> accesses, int items)
      : tree_(tree), loop_(loop), accesses_(std::move(accesses)), items_(items) {
    counter_ = tree.node(loop.counter).name;
    outer_ = IndentOf(tree, loop.parts.statement);
    indent_ = outer_ + "  ";
    item_ = FreshName(tree, "item");
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      names_.push_back(FreshName(tree, accesses_.size() > 1 ? fmt::format("items_{}", i) : "items"));
    }
  }

  // For a loop in which each thread takes all elements: single elements up to the first aligned one, vectors, the remainder.
  std::string OneByOne() const {
    const std::string bound(tree_.Text(loop_.bound));
    std::string text = fmt::format("{{\n{}{} = {};\n", indent_, CounterDeclaration(tree_, loop_), tree_.Text(loop_.start));
    if (tree_.Text(loop_.start) != "0") {
      const std::string condition = fmt::format("{} && {}", tree_.Text(loop_.parts.condition), Alignment(0, {}, "!="));
      text += fmt::format("{}for (; {}; {}) {{\n{}{}}}\n", indent_, condition, tree_.Text(loop_.parts.increment), Plain("  "),
                          indent_);
    }
    text += fmt::format("{}if ({}) {{\n{}", indent_, Aligned({}), Pragma());
    text += fmt::format("{}  for (; {} + {} {} {}; {} += {}) {{\n{}{}  }}\n{}}}\n", indent_, counter_, items_ - 1,
                        loop_.comparison, bound, counter_, items_, Wide("    "), indent_, indent_);
    text += fmt::format("{}{} {{\n{}{}}}\n", indent_, Header(tree_, loop_, ""), Plain("  "), indent_);
    return text + outer_ + "}";
  }

  // For a loop that threads divide among them: they divide the vectors, then the elements of the remainder.
  std::string Strided(const ThreadSplit& split) const {
    const std::string bound = Parenthesised(tree_, loop_.bound);
    const std::string thread = Parenthesised(tree_, split.thread);
    const std::string declared = CounterDeclaration(tree_, loop_);
    std::string base = split.base < 0 ? "" : Parenthesised(tree_, split.base);
    std::string before, at = base.empty() ? "0" : base;
    if (IsFirst(base)) {
      // The elements before the first vector, so that a loop from 1 on has vectors, too.
      before = fmt::format("{}for ({} = {} + {}; {} < {} && {}; {}) {{\n{}{}}}\n", indent_, declared, base, thread, counter_,
                           items_, tree_.Text(loop_.parts.condition), tree_.Text(loop_.parts.increment), Plain("  "), indent_);
      base = std::to_string(items_);
      at = "0";
    }
    const std::string first = base.empty() ? "" : base + " + ";
    const std::string whole = base.empty() ? bound : fmt::format("({} - {})", bound, base);
    std::string text = fmt::format("if ({}) {{\n{}{}", Aligned(at), before, Pragma());
    text += fmt::format("{}for ({} = {}{} * {}; {} + {} < {}; {} += {}) {{\n{}{}}}\n", indent_, declared, first, thread, items_,
                        counter_, items_ - 1, bound, counter_, Times(items_, loop_.step), Wide("  "), indent_);
    text +=
        fmt::format("{}{} {{\n{}{}}}\n", indent_,
                    Header(tree_, loop_, fmt::format("{} = {}{} / {} * {} + {}", declared, first, whole, items_, items_, thread)),
                    Plain("  "), indent_);
    text += fmt::format("{}}} else {{\n{}{}{} {{\n{}{}}}\n{}}}", outer_, Pragma(), indent_,
                        Header(tree_, loop_, fmt::format("{} = {}", declared, tree_.Text(loop_.start))), Plain("  "), indent_,
                        outer_);
    return text;
  }

 private:
  std::string Pragma() const { return loop_.parts.pragma >= 0 ? std::string(tree_.Text(loop_.parts.pragma)) + "\n" : ""; }
  // Whether a base is a number of an element in the first vector.
  bool IsFirst(const std::string& base) const {
    return !base.empty() && base.size() < 3 && base.find_first_not_of("0123456789") == std::string::npos &&
           std::stoi(base) < items_;
  }
  std::string Plain(const std::string& deeper) const { return Lines(tree_, loop_.parts.body, indent_ + deeper); }

  // The condition that all accesses are aligned at the counter's value or, if `at` is not empty, at that value.
  std::string Aligned(const std::string& at) const {
    std::string all;
    for (std::size_t i = 0; i < accesses_.size(); ++i) all += (i > 0 ? " && " : "") + Alignment(i, at, "==");
    return all;
  }
  std::string Alignment(std::size_t i, const std::string& at, std::string_view compared) const {
    const int place = accesses_[i].places.front();
    const std::string text =
        at.empty() ? std::string(tree_.Text(place)) : TextWith(tree_, place, UsesAs(tree_, loop_.counter, place, at));
    return fmt::format("reinterpret_cast<unsigned long long>(&{}) % {} {} 0", text, VectorAt(i).bytes, compared);
  }
  const VectorType& VectorAt(std::size_t i) const { return *VectorOf(accesses_[i].element, items_); }

  std::string Wide(const std::string& deeper) const {
    const std::string indent = indent_ + deeper;
    std::string before;
    std::string after;
    Replacements replacements;
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const VectorType& vector = VectorAt(i);
      const std::string_view text = tree_.Text(accesses_[i].places.front());
      before += fmt::format("{}alignas({}) {} {}[{}];\n", indent, vector.bytes, accesses_[i].element, names_[i], items_);
      const std::string kept = fmt::format("*reinterpret_cast<{}*>({})", vector.name, names_[i]);
      if (accesses_[i].store) {
        after += fmt::format("{}*reinterpret_cast<{}*>(&{}) = {};\n", indent, vector.name, text, kept);
      } else {
        before += fmt::format("{}{} = *reinterpret_cast<const {}*>(&{});\n", indent, kept, vector.name, text);
      }
      for (const int place : accesses_[i].places) replacements.emplace_back(place, fmt::format("{}[{}]", names_[i], item_));
    }
    const Replacements forward = CounterForward(tree_, loop_, loop_.parts.body, item_);
    replacements.insert(replacements.end(), forward.begin(), forward.end());
    return fmt::format("{0}#pragma unroll\n{1}for (int {2} = 0; {2} < {3}; ++{2}) {{\n{4}{1}}}\n{5}", before, indent, item_,
                       items_, Lines(tree_, loop_.parts.body, indent + "  ", replacements), after);
  }

  const SyntaxTree& tree_;
  const CountedLoop& loop_;
  std::vector<Access> accesses_;
  int items_;
  std::string counter_;
  std::string outer_;
  std::string indent_;
  std::string item_;
  std::vector<std::string> names_;
};

// Accesses whose element type has no vector of that many items stay as they are.
void Propose(const SyntaxTree& tree, const CountedLoop& loop, const std::vector<Access>& accesses, int items,
             const std::optional<ThreadSplit>& split, std::vector<Proposal>& proposals) {
  std::vector<Access> wide;
  for (const Access& access : accesses) {
    if (VectorOf(access.element, items)) wide.push_back(access);
  }
  if (wide.empty()) return;
  const VectorLoop written(tree, loop, wide, items);
  proposals.push_back(ReplaceLoop(loop, split ? written.Strided(*split) : written.OneByOne()));
}

// All proposals for loops in which each thread takes all elements or, with `shared`, for loops that threads divide among them.
std::vector<Proposal> VectorProposals(const MutationContext& context, bool shared) {
  std::vector<Proposal> proposals;
  for (const int node : NodesOfKind(context.tree, "ForStmt")) {
    const auto loop = AsCountedLoop(context.tree, node);
    if (!loop || shared != (loop->step != "1")) continue;
    const Body body(context, *loop);
    const auto split = shared ? SplitAmongThreads(context, *loop) : std::nullopt;
    if (shared && (!body.divisible() || loop->comparison != "<" || !split)) continue;
    std::vector<Access> both = body.loads();
    both.insert(both.end(), body.stores().begin(), body.stores().end());
    for (const int items : kItems) {
      Propose(context.tree, *loop, both, items, split, proposals);
      if (!body.stores().empty()) Propose(context.tree, *loop, body.loads(), items, split, proposals);
    }
  }
  return proposals;
}

class VectorLoad : public SourceMutator {
 public:
  std::string_view name() const override { return "vector_load"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "loads and stores neighbouring elements 4, 8 or 16 bytes at a time where they are aligned";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    // Loops first; then kernels whose threads take one element each.
    const auto find = [](const MutationContext& source) {
      std::vector<Proposal> proposals = VectorProposals(source, false);
      return proposals.empty() ? ElementVectors(source) : proposals;
    };
    return InPlainSource(context, find, ThreadLoops::kOfElements);
  }
};

class VectorLoadShared : public SourceMutator {
 public:
  std::string_view name() const override { return "vector_load_shared"; }
  // Threads get other elements. That they combine their sums afterwards, and that all of them run through the same elements, is
  // usual and not proven.
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override {
    return "as vector_load, in loops whose elements the threads of a warp or a block divide among them; right if they then "
           "combine "
           "their results";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override { return VectorProposals(context, true); }
};

}  // namespace

std::unique_ptr<Mutator> MakeVectorLoad() { return std::make_unique<VectorLoad>(); }
std::unique_ptr<Mutator> MakeVectorLoadShared() { return std::make_unique<VectorLoadShared>(); }

}  // namespace evo
