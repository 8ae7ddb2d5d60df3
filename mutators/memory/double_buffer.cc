#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The most static shared memory that a block can have.
constexpr std::int64_t kMostDoubledBytes = 48 * 1024;

bool Calls(const SyntaxTree& tree, int statement, std::string_view callee) { return LibraryCallee(tree, statement) == callee; }

// A loop that fills arrays in shared memory, waits at a barrier, uses the arrays, and waits again.
struct FilledLoop {
  CountedLoop counted;
  std::vector<int> fill;  // statements
  std::vector<int> use;   // statements
  std::set<int> arrays;   // declarations
  bool asynchronous = false;
};

class DoubleBufferFinder {
 public:
  DoubleBufferFinder(const MutationContext& context, int loop) : context_(context), tree_(context.tree), loop_(loop) {}

  std::optional<FilledLoop> Find() {
    const auto counted = AsCountedLoop(tree_, loop_);
    if (!counted || tree_.node(counted->parts.body).kind_name != "CompoundStmt") return std::nullopt;
    if (JumpsOut(tree_, counted->parts.body)) return std::nullopt;
    found_.counted = *counted;
    const int kernel = tree_.node(loop_).function;
    if (!IsKernel(tree_, kernel) || !BlockUniform(context_, kernel).IsReachedByAll(counted->parts.body)) return std::nullopt;
    if (!Split(tree_.node(counted->parts.body).children)) return std::nullopt;
    if (!FindArrays() || !FillsOnly() || !UsesOnly()) return std::nullopt;
    return found_;
  }

 private:
  // Splits a body at its two barriers: fill, barrier, use, barrier; or barrier, fill, barrier, use.
  bool Split(std::vector<int> statements) {
    if (statements.size() < 4) return false;
    if (Calls(tree_, statements.front(), "__syncthreads"))
      std::rotate(statements.begin(), statements.begin() + 1, statements.end());
    if (!Calls(tree_, statements.back(), "__syncthreads")) return false;
    statements.pop_back();
    const auto barrier =
        std::find_if(statements.begin(), statements.end(), [&](int s) { return Calls(tree_, s, "__syncthreads"); });
    if (barrier == statements.end()) return false;
    for (auto at = statements.begin(); at != barrier; ++at) {
      const bool waits = Calls(tree_, *at, "__pipeline_commit") || Calls(tree_, *at, "__pipeline_wait_prior");
      if (waits && tree_.Text(*at).find("wait") != std::string_view::npos && tree_.Text(*at) != "__pipeline_wait_prior(0);")
        return false;
      if (!waits && found_.asynchronous) return false;
      found_.asynchronous |= waits;
      if (!waits) found_.fill.push_back(*at);
    }
    found_.use.assign(barrier + 1, statements.end());
    // There must be no other barrier.
    for (const int part : found_.use) {
      for (const int node : Subtree(tree_, part)) {
        if (LibraryCallee(tree_, node).starts_with("__pipeline") || Calls(tree_, node, "__syncthreads")) return false;
      }
    }
    return !found_.fill.empty() && !found_.use.empty();
  }

  // Finds the filled arrays. All their uses must be in the loop, and two copies must fit into shared memory.
  bool FindArrays() {
    for (const int part : found_.fill) {
      for (const int declaration : NamedIn(tree_, part)) {
        if (tree_.node(declaration).kind_name == "VarDecl" && IsShared(tree_, declaration)) found_.arrays.insert(declaration);
      }
    }
    std::int64_t bytes = 0;
    for (const int array : found_.arrays) {
      const SyntaxNode& variable = tree_.node(array);
      std::int64_t size = SizeOf(variable.type.substr(0, variable.type.find('[')));
      for (const long long extent : ExtentsOf(variable.type)) size *= extent;
      bytes += size;
      const SyntaxNode& statement = tree_.node(variable.parent);
      if (ExtentsOf(variable.type).empty() || variable.function < 0 || statement.kind_name != "DeclStmt") return false;
      if (statement.children.size() != 1 || tree_.Text(variable.parent).find("extern") != std::string_view::npos) return false;
      if (tree_.node(statement.parent).kind_name != "CompoundStmt") return false;
      for (const int node : Subtree(tree_, variable.function)) {
        const SyntaxNode& use = tree_.node(node);
        if (std::find(use.hidden.begin(), use.hidden.end(), array) != use.hidden.end()) return false;
        if (use.kind_name != "DeclRefExpr" || use.refers_to != array) continue;
        if (!IsWithin(tree_, node, found_.counted.parts.body) || tree_.Text(use.parent).starts_with("sizeof")) return false;
      }
    }
    return !found_.arrays.empty() && 2 * bytes <= kMostDoubledBytes;
  }

  // Whether the fill part stores only to the arrays and reads nothing that the rest of the loop changes.
  bool FillsOnly() {
    const auto written = WrittenIn(tree_, found_.counted.parts.body);
    for (const int part : found_.fill) {
      for (const int node : Subtree(tree_, part)) {
        const SyntaxNode& at = tree_.node(node);
        if (at.opaque || at.kind_name == "LambdaExpr" || at.kind_name.find("Asm") != std::string::npos) return false;
        const bool copies = Calls(tree_, node, "__pipeline_memcpy_async");
        if (at.kind_name == "CallExpr" && !copies && !at.name.starts_with("operator") && !CallsPure(tree_, node)) return false;
        if (at.kind_name != "DeclRefExpr" || at.refers_to < 0) continue;
        const bool own = IsWithin(tree_, at.refers_to, part);
        if (found_.arrays.contains(at.refers_to)) {
          if (!IsFilled(node, part)) return false;
        } else if (!own && written.contains(at.refers_to)) {
          return false;
        }
      }
      if (tree_.node(part).kind_name == "DeclStmt") {
        for (const int other : found_.use) {
          for (const int named : NamedIn(tree_, other)) {
            if (IsWithin(tree_, named, part)) return false;
          }
        }
      }
    }
    return true;
  }

  // Whether a name is the array that a store or an asynchronous copy writes.
  bool IsFilled(int name, int part) const {
    int at = name;
    while (tree_.node(tree_.node(at).parent).kind_name == "ArraySubscriptExpr" &&
           tree_.node(tree_.node(at).parent).children[0] == at)
      at = tree_.node(at).parent;
    const int parent = tree_.node(at).parent;
    const bool stored =
        Assigned(tree_, parent) == at && (tree_.Operator(parent) == "=" || tree_.node(parent).name == "operator=");
    if (stored) return true;
    if (tree_.Operator(parent) != "&") return false;
    for (int call = parent; call != part; call = tree_.node(call).parent) {
      if (Calls(tree_, tree_.node(call).parent, "__pipeline_memcpy_async"))
        return tree_.node(tree_.node(call).parent).children[1] == call;
    }
    return false;
  }

  // Whether the use part changes neither the arrays nor anything that the fill part reads.
  bool UsesOnly() const {
    const BlockUniform uniform(context_, tree_.node(loop_).function);
    for (const int part : found_.fill) {
      for (const int node : Subtree(tree_, part)) {
        const SyntaxNode& at = tree_.node(node);
        const bool element = at.kind_name == "ArraySubscriptExpr" && !at.type.ends_with("]");
        if (at.children.empty()) continue;
        if (!element && !(at.kind_name == "UnaryOperator" && tree_.Operator(node) == "*")) continue;
        const bool target = Assigned(tree_, at.parent) == node;
        const int array = RootArray(node);
        if (found_.arrays.contains(array)) continue;
        if (target || !uniform.IsUnwritten(at.children.front())) return false;
      }
    }
    for (const int part : found_.use) {
      for (const int node : Subtree(tree_, part)) {
        const int target = Assigned(tree_, node);
        if (target >= 0 && found_.arrays.contains(RootArray(target))) return false;
      }
    }
    return true;
  }

  int RootArray(int place) const {
    while (tree_.node(place).kind_name == "ArraySubscriptExpr" && !tree_.node(place).children.empty())
      place = tree_.node(place).children.front();
    return NamedDeclaration(tree_, place);
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int loop_;
  FilledLoop found_;
};

class DoubleBuffer : public SourceMutator {
 public:
  std::string_view name() const override { return "double_buffer"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "doubles arrays in shared memory, so that the next tile is loaded while the current one is used";
  }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(context.tree, "ForStmt")) {
      if (const auto loop = DoubleBufferFinder(context, node).Find()) proposals.push_back(Buffered(context.tree, *loop));
    }
    return proposals;
  }

 private:
  static Proposal Buffered(const SyntaxTree& tree, const FilledLoop& loop) {
    const std::string buffer = FreshName(tree, "buffer");
    Proposal proposal = ReplaceLoop(loop.counted, Text(tree, loop, buffer));
    for (const int array : loop.arrays) {
      const SyntaxNode& variable = tree.node(array);
      std::string text(tree.Text(variable.parent));
      const std::string name = variable.name + "[";
      text.insert(text.find(name) + variable.name.size(), "[2]");
      proposal.changes.push_back({variable.parent, Placement::kReplace, text});
    }
    return proposal;
  }

  static std::string Text(const SyntaxTree& tree, const FilledLoop& loop, const std::string& buffer) {
    const CountedLoop& counted = loop.counted;
    const SyntaxNode& counter = tree.node(counted.counter);
    const std::string outer = IndentOf(tree, counted.parts.statement);
    const std::string indent = outer + "  ";
    const std::string bound(tree.Text(counted.bound));
    std::string text = fmt::format("{{\n{}int {} = 0;\n", indent, buffer);
    text += fmt::format("{}if ({} {} {}) {{\n{}  const {} {} = {};\n", indent, Parenthesised(tree, counted.start),
                        counted.comparison, bound, indent, counter.type, counter.name, tree.Text(counted.start));
    text += Part(tree, loop, loop.fill, buffer, indent + "  ", {}) + indent + "}\n";
    if (loop.asynchronous) text += indent + "__pipeline_commit();\n";
    if (counted.parts.pragma >= 0) text += std::string(tree.Text(counted.parts.pragma)) + "\n";
    const std::string init = fmt::format("{} = {}", CounterDeclaration(tree, counted), tree.Text(counted.start));
    text += fmt::format("{}{} {{\n", indent, Header(tree, counted, init));
    if (loop.asynchronous) text += indent + "  __pipeline_wait_prior(0);\n";
    text += fmt::format("{}  __syncthreads();\n{}  if ({} + {} {} {}) {{\n", indent, indent, counter.name, counted.step,
                        counted.comparison, bound);
    text += Part(tree, loop, loop.fill, fmt::format("{} ^ 1", buffer), indent + "    ", counted.step) + indent + "  }\n";
    if (loop.asynchronous) text += indent + "  __pipeline_commit();\n";
    text += Part(tree, loop, loop.use, buffer, indent + "  ", {});
    text += fmt::format("{}  {} ^= 1;\n{}}}\n", indent, buffer, indent);
    // A thread that enters the loop again must not overtake threads that are still in it.
    return text + fmt::format("{}__syncthreads();\n{}}}", indent, outer);
  }

  // The text of statements with the arrays in one of the two buffers and, if `forward` is not empty, the counter advanced by it.
  static std::string Part(const SyntaxTree& tree, const FilledLoop& loop, const std::vector<int>& statements,
                          const std::string& buffer, const std::string& indent, const std::string& forward) {
    std::string text;
    for (const int statement : statements) {
      Replacements replacements;
      for (const int array : loop.arrays) {
        const auto uses = UsesAs(tree, array, statement, fmt::format("{}[{}]", tree.node(array).name, buffer));
        replacements.insert(replacements.end(), uses.begin(), uses.end());
      }
      if (!forward.empty()) {
        const auto moved = CounterForward(tree, loop.counted, statement, forward);
        replacements.insert(replacements.end(), moved.begin(), moved.end());
      }
      if (tree.node(statement).kind_name == kPragmaKind) {
        text += fmt::format("{}\n", tree.Text(statement));
        continue;
      }
      std::string part = TextWith(tree, statement, replacements);
      const std::string present = "\n" + IndentOf(tree, statement);
      for (std::size_t at = part.find(present); at != std::string::npos; at = part.find(present, at + indent.size()))
        part.replace(at, present.size(), "\n" + indent);
      text += indent + part + "\n";
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeDoubleBuffer() { return std::make_unique<DoubleBuffer>(); }

}  // namespace evo
