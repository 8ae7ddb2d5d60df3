#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/rows/shared_loop.h"
#include "mutators/analysis/source/accumulation_update.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kExponentials{"expf"sv, "exp"sv, "__expf"sv, "exp2f"sv, "exp2"sv};

// A loop over values that accumulates one scalar from each, and does nothing else.
struct FoldLoop {
  CountedLoop counted;
  Update update;
  int operand = -1;  // what is accumulated
};

// The expression without parentheses, or the initialiser of a variable that the loop's body declares.
int Resolved(const SyntaxTree& tree, const CountedLoop& loop, int expression) {
  expression = WithoutParentheses(tree, expression);
  const int declaration = NamedDeclaration(tree, expression);
  if (declaration < 0 || !IsWithin(tree, declaration, loop.parts.body)) return expression;
  return Resolved(tree, loop, tree.node(declaration).children.back());
}

// The text of an expression with `counter` in the place of the loop's, and without variables that its body declares.
std::string Expanded(const SyntaxTree& tree, const CountedLoop& loop, int expression, const std::string& counter) {
  Replacements replacements = UsesAs(tree, loop.counter, expression, counter);
  for (const int node : Subtree(tree, expression)) {
    const int resolved = Resolved(tree, loop, node);
    if (resolved != WithoutParentheses(tree, node))
      replacements.emplace_back(node, Parenthesised(Expanded(tree, loop, resolved, counter)));
  }
  return TextWith(tree, expression, replacements);
}

int OperandOf(const SyntaxTree& tree, const Update& update, int statement) {
  const auto is_accumulator = [&](int part) {
    return NamedDeclaration(tree, WithoutParentheses(tree, part)) == update.accumulator;
  };
  if (tree.node(statement).kind_name == "IfStmt")
    return tree.node(OnlyStatement(tree, tree.node(statement).children[1])).children[1];
  if (!IsAssignment(tree, statement)) return -1;
  const int value = tree.node(statement).children[1];
  if (tree.Operator(statement) == "+=") return value;
  const auto combination = CombinationOf(tree, value);
  if (!combination || is_accumulator(combination->a) == is_accumulator(combination->b)) return -1;
  return is_accumulator(combination->a) ? combination->b : combination->a;
}

std::optional<FoldLoop> AsFold(const SyntaxTree& tree, int node) {
  const auto counted = AsCountedLoop(tree, node);
  if (!counted || !IsInBlock(tree, node) || JumpsOut(tree, counted->parts.body)) return std::nullopt;
  const int body = counted->parts.body;
  const bool block = tree.node(body).kind_name == "CompoundStmt";
  const std::vector<int> statements = block ? tree.node(body).children : std::vector<int>{body};
  if (statements.empty()) return std::nullopt;
  const auto written = WrittenIn(tree, body);
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
    if (tree.node(statements[i]).kind_name != "DeclStmt") return std::nullopt;
    for (const int variable : tree.node(statements[i]).children) {
      const SyntaxNode& declared = tree.node(variable);
      const bool known = declared.kind_name == "VarDecl" && !declared.children.empty() && !written.contains(variable);
      // A conversion to another type would be lost.
      if (!known || !IsPure(tree, declared.children.back()) || declared.type.find_first_of("*&[") != std::string::npos ||
          WithoutConst(declared.type) != WithoutConst(tree.node(declared.children.back()).type))
        return std::nullopt;
    }
  }
  const auto update = UpdateAt(tree, statements.back());
  if (!update || update->place >= 0 || IsWithin(tree, update->accumulator, body) || IsMemoryName(tree, update->accumulator))
    return std::nullopt;
  const std::string& type = tree.node(update->accumulator).type;
  const int operand = OperandOf(tree, *update, statements.back());
  if (operand < 0 || !IsPure(tree, operand) || (type != "float" && type != "double")) return std::nullopt;
  if (NamesOf(tree, body, update->accumulator).size() != update->names.size()) return std::nullopt;
  return FoldLoop{*counted, *update, operand};
}

// A loop that finds a maximum and a later one that adds up the exponentials of what each value is above it become one.
class OnlineSoftmax : public SourceMutator {
 public:
  std::string_view name() const override { return "online_softmax"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "finds a maximum and the sum of the exponentials above it in one loop, which scales the sum where the maximum grows";
  }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      std::optional<FoldLoop> largest;
      for (const int statement : tree.node(block).children) {
        if (const auto fold = AsFold(tree, statement)) {
          if (largest && IsSumAbove(tree, *largest, *fold)) proposals.push_back(Fused(tree, *largest, *fold));
          largest = IsMaximum(*fold) ? fold : std::nullopt;
        } else if (largest && !IsHarmless(tree, *largest, statement)) {
          largest = std::nullopt;
        }
      }
    }
    return proposals;
  }

 private:
  static bool IsMaximum(const FoldLoop& fold) {
    return fold.update.combine == "fmaxf" || fold.update.combine == "fmax" || fold.update.combine == "max";
  }

  // Whether a statement between the loops neither needs the maximum nor changes anything.
  static bool IsHarmless(const SyntaxTree& tree, const FoldLoop& largest, int statement) {
    const std::string& kind = tree.node(statement).kind_name;
    if (kind != "DeclStmt") return kind == "UnexposedStmt" || tree.Text(statement).starts_with("#pragma");
    if (NamedIn(tree, statement).contains(largest.update.accumulator)) return false;
    return std::all_of(tree.node(statement).children.begin(), tree.node(statement).children.end(), [&](int variable) {
      const SyntaxNode& node = tree.node(variable);
      return node.kind_name == "VarDecl" && node.type.find_first_of("&[") == std::string::npos &&
             (node.children.empty() || IsPure(tree, node.children.back()));
    });
  }

  static bool IsSumAbove(const SyntaxTree& tree, const FoldLoop& largest, const FoldLoop& sum) {
    const int top = largest.update.accumulator;
    if (sum.update.combine != "+" || !StartsAtZero(tree, sum.update.accumulator, sum.counted.parts.statement)) return false;
    if (tree.node(top).type != tree.node(sum.update.accumulator).type) return false;
    if (NamesOf(tree, sum.counted.parts.body, top).size() != 1) return false;
    const int difference = DifferenceIn(tree, sum);
    if (difference < 0) return false;
    const auto& sides = tree.node(difference).children;
    const std::string& counter = tree.node(sum.counted.counter).name;
    if (NamedDeclaration(tree, WithoutParentheses(tree, sides[1])) != top) return false;
    if (!SameTokens(Expanded(tree, sum.counted, sides[0], counter), Expanded(tree, largest.counted, largest.operand, counter)))
      return false;
    return HaveSameValues(tree, largest, sum);
  }

  // `a - b` in `exp(a - b)`; -1 if something else is added up.
  static int DifferenceIn(const SyntaxTree& tree, const FoldLoop& sum) {
    const int call = Resolved(tree, sum.counted, sum.operand);
    const std::string_view callee = LibraryCallee(tree, call);
    if (std::find(kExponentials.begin(), kExponentials.end(), callee) == kExponentials.end()) return -1;
    if (tree.node(call).children.size() != 2) return -1;
    const int difference = Resolved(tree, sum.counted, tree.node(call).children[1]);
    return tree.Operator(difference) == "-" && tree.node(difference).children.size() == 2 ? difference : -1;
  }

  // Whether the maximum is one of the values that the sum goes through: both loops do, or the maximum begins with the first one.
  static bool HaveSameValues(const SyntaxTree& tree, const FoldLoop& largest, const FoldLoop& sum) {
    const CountedLoop &a = largest.counted, &b = sum.counted;
    if (a.comparison != b.comparison || a.step != b.step || !SameTokens(tree.Text(a.bound), tree.Text(b.bound))) return false;
    if (tree.node(a.counter).type != tree.node(b.counter).type) return false;
    if (SameTokens(tree.Text(a.start), tree.Text(b.start))) return true;
    if (tree.Text(a.start) != "1" || tree.Text(b.start) != "0" || a.step != "1") return false;
    const SyntaxNode& top = tree.node(largest.update.accumulator);
    const int block = tree.node(a.parts.statement).parent;
    if (top.kind_name != "VarDecl" || top.children.empty() || tree.node(top.parent).parent != block) return false;
    const auto& statements = tree.node(block).children;
    const auto declared = std::find(statements.begin(), statements.end(), top.parent);
    for (auto at = declared; at != statements.end() && *at != a.parts.statement; ++at) {
      if (tree.node(*at).kind_name != "DeclStmt" && !tree.Text(*at).starts_with("#pragma")) return false;
    }
    return SameTokens(tree.Text(top.children.back()), Expanded(tree, a, largest.operand, "0"));
  }

  static Proposal Fused(const SyntaxTree& tree, const FoldLoop& largest, const FoldLoop& sum) {
    const CountedLoop& loop = sum.counted;
    const SyntaxNode& top = tree.node(largest.update.accumulator);
    const std::string& total = tree.node(sum.update.accumulator).name;
    const std::string_view exponential = LibraryCallee(tree, Resolved(tree, loop, sum.operand));
    const std::string value = FreshName(tree, "value"), larger = FreshName(tree, "larger");
    const std::string outer = IndentOf(tree, loop.parts.statement), in = outer + "  ";
    const std::string init(tree.Text(loop.parts.init));
    std::string text = fmt::format("{} {{\n", Header(tree, loop, init.substr(0, init.rfind(';'))));
    text += fmt::format("{}const {} {} = {};\n", in, top.type, value,
                        Expanded(tree, largest.counted, largest.operand, tree.node(loop.counter).name));
    text += fmt::format("{}const {} {} = {}({}, {});\n", in, top.type, larger, top.type == "float" ? "fmaxf" : "fmax", top.name,
                        value);
    text += fmt::format("{0}if ({1} != {2}) {{\n{0}  {3} *= {4}({2} - {1});\n{0}  {2} = {1};\n{0}}}\n", in, larger, top.name,
                        total, exponential);
    text +=
        fmt::format("{}{} += {} >= {} ? 1 : {}({} - {});\n{}}}", in, total, value, top.name, exponential, value, top.name, outer);
    // Then the difference is NaN, as the sum was.
    text += fmt::format("\n{}if (isinf({}) && {} {} {}) {} = {} - {};", outer, top.name, tree.Text(loop.start), loop.comparison,
                        tree.Text(loop.bound), total, top.name, top.name);
    Proposal proposal;
    if (largest.counted.parts.pragma >= 0) proposal.changes.push_back({largest.counted.parts.pragma, Placement::kReplace, ""});
    proposal.changes.push_back({largest.counted.parts.statement, Placement::kReplace, ""});
    proposal.changes.push_back({loop.parts.statement, Placement::kReplace, text});
    proposal.also_anchored = {largest.counted.parts.body, loop.parts.body};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeOnlineSoftmax() { return std::make_unique<OnlineSoftmax>(); }

}  // namespace evo
