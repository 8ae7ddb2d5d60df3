#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 3> kParts{2, 4, 8};

// The parts of a loop `for (int i = a; i < b; i += step) sum += f(i);`.
struct SplitLoop {
  ForLoop loop;
  int counter = -1;      // declaration of i
  std::string step;      // "1" for ++i
  int update = -1;       // `sum += f(i)` or `sum = fmaxf(sum, f(i))`
  int accumulator = -1;  // declaration of sum
  int term = -1;         // f(i)
  std::string combine;   // "+=" or the function's name
};

std::optional<std::string> SumStepOf(const SyntaxTree& tree, const ForLoop& loop, int counter) {
  const SyntaxNode& increment = tree.node(loop.increment);
  if (increment.children.empty() || NamedDeclaration(tree, increment.children.front()) != counter) return std::nullopt;
  if (tree.Operator(loop.increment) == "++") return "1";
  if (tree.Operator(loop.increment) != "+=" || !IsInvariant(tree, increment.children[1], loop.statement)) return std::nullopt;
  return Parenthesised(tree, increment.children[1]);
}

bool ReadUpdate(const SyntaxTree& tree, SplitLoop& reduction) {
  const SyntaxNode& update = tree.node(reduction.update);
  if (update.children.size() != 2) return false;
  reduction.accumulator = NamedDeclaration(tree, update.children[0]);
  reduction.term = update.children[1];
  reduction.combine = tree.Operator(reduction.update);
  if (reduction.combine == "=") {
    const std::string_view callee = LibraryCallee(tree, reduction.term);
    const auto arguments = tree.node(reduction.term).children;
    if ((callee != "fmaxf" && callee != "fminf") || arguments.size() != 3) return false;
    if (NamedDeclaration(tree, arguments[1]) != reduction.accumulator) return false;
    reduction.combine = callee;
    reduction.term = arguments[2];
  } else if (reduction.combine != "+=") {
    return false;
  }
  return reduction.accumulator >= 0;
}

std::optional<SplitLoop> AsReduction(const SyntaxTree& tree, int node) {
  const auto loop = AsForLoop(tree, node);
  if (!loop || !IsInBlock(tree, node)) return std::nullopt;
  SplitLoop reduction;
  reduction.loop = *loop;
  const auto& declared = tree.node(loop->init).children;
  if (tree.node(loop->init).kind_name != "DeclStmt" || declared.size() != 1) return std::nullopt;
  reduction.counter = declared.front();
  if (tree.node(reduction.counter).type != "int" || tree.node(reduction.counter).children.empty()) return std::nullopt;
  const SyntaxNode& condition = tree.node(loop->condition);
  const std::string_view comparison = tree.Operator(loop->condition);
  if ((comparison != "<" && comparison != "<=") || NamedDeclaration(tree, condition.children[0]) != reduction.counter)
    return std::nullopt;
  if (!IsInvariant(tree, condition.children[1], node)) return std::nullopt;
  const auto step = SumStepOf(tree, *loop, reduction.counter);
  if (!step) return std::nullopt;
  reduction.step = *step;
  reduction.update = OnlyStatement(tree, loop->body);
  if (reduction.update < 0 || !ReadUpdate(tree, reduction)) return std::nullopt;
  const SyntaxNode& accumulator = tree.node(reduction.accumulator);
  if (accumulator.type != "float" && accumulator.type != "double") return std::nullopt;
  if (IsWithin(tree, reduction.accumulator, node) || !IsPure(tree, reduction.term)) return std::nullopt;
  // Other code may read or change a sum in shared memory or behind a pointer while the loop runs.
  if (IsMemoryName(tree, reduction.accumulator)) return std::nullopt;
  const auto named = NamedIn(tree, reduction.term);
  if (named.contains(reduction.accumulator) || WrittenIn(tree, reduction.term).contains(reduction.counter)) return std::nullopt;
  return reduction;
}

// f(i + offset): the term for a later value of the counter.
std::string TermAt(const SyntaxTree& tree, const SplitLoop& reduction, const std::string& offset) {
  std::string text(tree.Text(reduction.term));
  const std::uint32_t origin = tree.node(reduction.term).range.begin;
  for (const int node : std::views::reverse(Subtree(tree, reduction.term))) {
    const SyntaxNode& use = tree.node(node);
    if (use.kind_name != "DeclRefExpr" || use.refers_to != reduction.counter) continue;
    const SyntaxNode& parent = tree.node(use.parent);
    const bool delimited = parent.kind_name == "ArraySubscriptExpr" && parent.children[1] == node;
    const std::string forward = fmt::format("{} + {}", use.name, offset);
    text.replace(use.range.begin - origin, use.range.size(),
                 delimited || offset.empty() ? forward : fmt::format("({})", forward));
  }
  return text;
}

std::string Times(int factor, const std::string& step) {
  if (step == "1") return std::to_string(factor);
  return factor == 1 ? step : fmt::format("{} * {}", factor, step);
}

std::string Update(const SplitLoop& reduction, const std::string& accumulator, const std::string& term) {
  if (reduction.combine == "+=") return fmt::format("{} += {};", accumulator, term);
  return fmt::format("{0} = {1}({0}, {2});", accumulator, reduction.combine, term);
}

std::string SplitSum(const SyntaxTree& tree, const SplitLoop& reduction, int parts) {
  const std::string indent = IndentOf(tree, reduction.loop.statement) + "  ";
  const SyntaxNode& accumulator = tree.node(reduction.accumulator);
  const SyntaxNode& counter = tree.node(reduction.counter);
  const SyntaxNode& condition = tree.node(reduction.loop.condition);
  const bool sum = reduction.combine == "+=";
  const std::string zero = accumulator.type == "float" ? "0.0f" : "0.0";
  std::vector<std::string> names{accumulator.name};
  for (int part = 1; part < parts; ++part) names.push_back(FreshName(tree, fmt::format("{}_{}", accumulator.name, part)));
  std::string text = "{\n";
  for (int part = 1; part < parts; ++part) {
    text += fmt::format("{}{} {} = {};\n", indent, accumulator.type, names[static_cast<std::size_t>(part)],
                        sum ? zero : accumulator.name);
  }
  const std::string_view bound = tree.Text(condition.children[1]);
  text += fmt::format("{}{}\n", indent, tree.Text(reduction.loop.init));
  if (reduction.loop.pragma >= 0) text += fmt::format("{}\n", tree.Text(reduction.loop.pragma));
  text += fmt::format("{}for (; {} + {} {} {}; {} += {}) {{\n", indent, counter.name, Times(parts - 1, reduction.step),
                      tree.Operator(reduction.loop.condition), bound, counter.name, Times(parts, reduction.step));
  text += fmt::format("{}  {}\n", indent, Update(reduction, accumulator.name, std::string(tree.Text(reduction.term))));
  for (int part = 1; part < parts; ++part) {
    text += fmt::format(
        "{}  {}\n", indent,
        Update(reduction, names[static_cast<std::size_t>(part)], TermAt(tree, reduction, Times(part, reduction.step))));
  }
  text +=
      fmt::format("{0}}}\n{0}{1}\n", indent,
                  Block(fmt::format("for (; {}; {})", tree.Text(reduction.loop.condition), tree.Text(reduction.loop.increment)),
                        Update(reduction, accumulator.name, std::string(tree.Text(reduction.term))), indent));
  // Pairwise, so that the final additions do not wait for each other either.
  for (std::size_t width = static_cast<std::size_t>(parts) / 2; width > 0; width /= 2) {
    for (std::size_t part = 0; part < width; ++part) text += indent + Update(reduction, names[part], names[part + width]) + "\n";
  }
  return text + IndentOf(tree, reduction.loop.statement) + "}";
}

class AccumulatorSplit : public SourceMutator {
 public:
  std::string_view name() const override { return "accumulator_split"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "accumulates a loop's sum in 2, 4 or 8 variables, so that additions do not wait for each other";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto reduction = AsReduction(tree, node);
      if (!reduction) continue;
      for (const int parts : kParts) {
        Proposal proposal;
        if (reduction->loop.pragma >= 0) proposal.changes.push_back({reduction->loop.pragma, Placement::kReplace, ""});
        proposal.changes.push_back({node, Placement::kReplace, SplitSum(tree, *reduction, parts)});
        proposal.also_anchored.push_back(reduction->loop.body);
        proposals.push_back(std::move(proposal));
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeAccumulatorSplit() { return std::make_unique<AccumulatorSplit>(); }

}  // namespace evo
