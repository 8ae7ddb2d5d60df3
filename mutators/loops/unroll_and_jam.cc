#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/dependence.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 2> kCopies{2, 4};

// A loop whose body consists of variables, an inner loop and stores, in this order.
struct Nest {
  CountedLoop outer;
  CountedLoop inner;
  std::vector<int> variables;  // statements before the inner loop, each with one declaration
  std::vector<int> stores;     // statements after it
  std::set<int> declared;      // declarations in `variables`
};

bool IsPlainVariable(const SyntaxTree& tree, int statement) {
  const SyntaxNode& node = tree.node(statement);
  if (node.kind_name != "DeclStmt" || node.children.size() != 1) return false;
  const SyntaxNode& variable = tree.node(node.children.front());
  return variable.kind_name == "VarDecl" && !variable.children.empty() && !variable.type.ends_with("]") &&
         !variable.type.ends_with("&") && tree.Text(node.children.front()).find('=') != std::string_view::npos &&
         !IsMemoryName(tree, node.children.front()) && IsPure(tree, variable.children.back());
}

// Whether no macro names a variable that gets another name in each copy.
bool IsNamedOpenly(const SyntaxTree& tree, const Nest& nest) {
  for (const int at : Subtree(tree, nest.outer.parts.body)) {
    for (const int hidden : tree.node(at).hidden) {
      if (nest.declared.contains(hidden)) return false;
    }
  }
  return true;
}

bool IsSteadyHeader(const SyntaxTree& tree, const Nest& nest) {
  const auto& increment = tree.node(nest.inner.parts.increment).children;
  const int scope = nest.outer.parts.statement;
  return IsInvariant(tree, nest.inner.start, scope) && IsInvariant(tree, nest.inner.bound, scope) &&
         (increment.size() < 2 || IsInvariant(tree, increment[1], scope));
}

// Whether an expression reads only memory that no thread writes, and elements of a thread's own arrays that are not in `written`.
bool ReadsOnlyWhatStays(const MutationContext& context, int expression, const std::set<int>& written) {
  const SyntaxTree& tree = context.tree;
  for (const int at : Subtree(tree, expression)) {
    const SyntaxNode& node = tree.node(at);
    if (node.kind_name == "UnaryOperator" && tree.Operator(at) == "*") return false;
    if (node.kind_name != "ArraySubscriptExpr" || IsReadOnlyGlobal(tree, context.rendered, node.children.front())) continue;
    const int root = ArrayOf(tree, at);
    if (root < 0 || written.contains(root)) return false;
    if (!IsOwnArray(tree, root)) return false;
  }
  return true;
}

// The arrays and pointers through which elements are written; -1 stands for one without a name.
std::set<int> RootsWrittenIn(const SyntaxTree& tree, int node) {
  std::set<int> roots;
  for (const int at : Subtree(tree, node)) {
    if (!IsAssignment(tree, at) && !IsCount(tree, at)) continue;
    const int target = tree.node(at).children.front();
    if (NamedDeclaration(tree, target) < 0) roots.insert(ArrayOf(tree, target));
  }
  return roots;
}

// Whether all stores go to a thread's own arrays, to which no pointer points.
bool WritesOnlyOwn(const SyntaxTree& tree, int node) {
  const auto roots = RootsWrittenIn(tree, node);
  return std::all_of(roots.begin(), roots.end(), [&](int root) { return root >= 0 && IsOwnArray(tree, root); });
}

bool NamesWritten(const SyntaxTree& tree, int node, const std::set<int>& written, const std::set<int>& own) {
  const auto named = NamedIn(tree, node);
  return std::any_of(named.begin(), named.end(), [&](int name) { return written.contains(name) && !own.contains(name); });
}

std::optional<Nest> AsNest(const MutationContext& context, int node) {
  const SyntaxTree& tree = context.tree;
  const auto outer = AsCountedLoop(tree, node);
  if (!outer) return std::nullopt;
  Nest nest{*outer};
  std::vector<int> statements{outer->parts.body};
  if (tree.node(outer->parts.body).kind_name == "CompoundStmt") statements = tree.node(outer->parts.body).children;
  bool found = false;
  for (const int statement : statements) {
    if (tree.node(statement).kind_name == kPragmaKind) continue;
    if (const auto inner = AsCountedLoop(tree, statement); inner && !found) {
      nest.inner = *inner;
      found = true;
    } else if (!found && IsPlainVariable(tree, statement)) {
      nest.variables.push_back(statement);
      nest.declared.insert(tree.node(statement).children.front());
    } else if (found && IsFinalStore(context, statement)) {
      nest.stores.push_back(statement);
    } else {
      return std::nullopt;
    }
  }
  if (!found || !IsSteadyHeader(tree, nest) || !IsNamedOpenly(tree, nest)) return std::nullopt;
  if (!IterationsCommute(context, nest.inner.parts.body, {nest.outer.counter, nest.inner.counter}, nest.declared))
    return std::nullopt;
  // Each copy computes its variables before any other copy has stored or accumulated, so they must not read what a copy writes.
  auto written = WrittenIn(tree, nest.inner.parts.body);
  written.merge(RootsWrittenIn(tree, nest.inner.parts.body));
  for (const int variable : nest.variables) {
    const int init = tree.node(tree.node(variable).children.front()).children.back();
    if (NamesWritten(tree, init, written, nest.declared)) return std::nullopt;
    const bool stores = !nest.stores.empty() || !WritesOnlyOwn(tree, nest.inner.parts.body);
    if (stores && !ReadsOnlyWhatStays(context, init, written)) return std::nullopt;
  }
  for (const int store : nest.stores) {
    if (NamesWritten(tree, store, written, nest.declared)) return std::nullopt;
  }
  return nest;
}

class UnrollAndJam : public SourceMutator {
 public:
  std::string_view name() const override { return "unroll_and_jam"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "runs 2 or 4 iterations of an outer loop together in one inner loop"; }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(context.tree, "ForStmt")) {
      const auto nest = AsNest(context, node);
      if (!nest) continue;
      for (const int copies : kCopies) proposals.push_back(ReplaceLoop(nest->outer, Jammed(context.tree, *nest, copies)));
    }
    return proposals;
  }

 private:
  // The replacements of the counter and of variables in copy number `copy`.
  static Replacements InCopy(const SyntaxTree& tree, const Nest& nest, int node, int copy) {
    if (copy == 0) return {};
    Replacements replacements = CounterForward(tree, nest.outer, node, Times(copy, nest.outer.step));
    for (const int variable : nest.declared) {
      const Replacements uses = UsesAs(tree, variable, node, NameIn(tree, variable, copy));
      replacements.insert(replacements.end(), uses.begin(), uses.end());
    }
    return replacements;
  }

  static std::string NameIn(const SyntaxTree& tree, int variable, int copy) {
    const std::string& name = tree.node(variable).name;
    return copy == 0 ? name : FreshName(tree, fmt::format("{}_{}", name, copy));
  }

  static std::string Jammed(const SyntaxTree& tree, const Nest& nest, int copies) {
    const std::string indent = IndentOf(tree, nest.outer.parts.statement) + "  ";
    const std::string& counter = tree.node(nest.outer.counter).name;
    std::string text = fmt::format("{{\n{}{} = {};\n", indent, CounterDeclaration(tree, nest.outer), tree.Text(nest.outer.start));
    text += fmt::format("{}for (; {} + {} {} {}; {} += {}) {{\n", indent, counter, Times(copies - 1, nest.outer.step),
                        nest.outer.comparison, tree.Text(nest.outer.bound), counter, Times(copies, nest.outer.step));
    for (int copy = 0; copy < copies; ++copy) {
      for (const int statement : nest.variables) {
        const int variable = tree.node(statement).children.front();
        const int init = tree.node(variable).children.back();
        const std::string line = fmt::format("{} {} = {};", tree.node(variable).type, NameIn(tree, variable, copy),
                                             TextWith(tree, init, InCopy(tree, nest, init, copy)));
        text += copy == 0 ? WithComments(tree, statement, line, indent + "  ") : fmt::format("{}  {}\n", indent, line);
      }
    }
    if (nest.inner.parts.pragma >= 0) text += std::string(tree.Text(nest.inner.parts.pragma)) + "\n";
    const std::string init(tree.Text(nest.inner.parts.init));
    text += fmt::format("{}  {} {{\n", indent, Header(tree, nest.inner, init.substr(0, init.rfind(';'))));
    const bool braces = DeclaresIn(tree, nest.inner.parts.body);
    const std::string deep = indent + (braces ? "      " : "    ");
    for (int copy = 0; copy < copies; ++copy) {
      const std::string lines = Lines(tree, nest.inner.parts.body, deep, InCopy(tree, nest, nest.inner.parts.body, copy));
      text += braces ? fmt::format("{0}    {{\n{1}{0}    }}\n", indent, lines) : lines;
    }
    text += indent + "  }\n";
    for (int copy = 0; copy < copies; ++copy) {
      for (const int store : nest.stores) {
        const std::string line = TextWith(tree, store, InCopy(tree, nest, store, copy));
        text += copy == 0 ? WithComments(tree, store, line, indent + "  ") : fmt::format("{}  {}\n", indent, line);
      }
    }
    text += fmt::format("{}}}\n{}{} {{\n", indent, indent, Header(tree, nest.outer, ""));
    return text + Lines(tree, nest.outer.parts.body, indent + "  ") +
           fmt::format("{}}}\n{}}}", indent, IndentOf(tree, nest.outer.parts.statement));
  }

  static bool DeclaresIn(const SyntaxTree& tree, int body) {
    const auto& children = tree.node(body).children;
    return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "DeclStmt"; });
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeUnrollAndJam() { return std::make_unique<UnrollAndJam>(); }

}  // namespace evo
