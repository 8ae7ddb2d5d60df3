#include "mutators/accumulator_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

struct SumLoop {
  int loop;
  std::string variable;      // of the loop
  std::string start;
  std::string bound;
  std::string type;          // of the loop variable
  std::string accumulator;
  std::string accumulator_type;
  std::string term;          // what is added
};

// `for (int i = a; i < b; ++i) sum += term;`, the body one statement, braced or not. libclang's C interface does not tell a loop's parts
// apart, so its head is read as text.
std::optional<SumLoop> Understand(const SyntaxTree& tree, int loop) {
  const std::vector<int>& children = tree.node(loop).children;
  if (children.empty()) return std::nullopt;
  int body = children.back();
  if (tree.node(body).kind_name == "CompoundStmt") {
    if (tree.node(body).children.size() != 1) return std::nullopt;
    body = tree.node(body).children.front();
  }
  const SyntaxNode& add = tree.node(body);
  if (add.kind_name != "CompoundAssignOperator" || add.children.size() != 2 || OperatorOf(tree, body) != "+=") return std::nullopt;
  if (add.type != "float" && add.type != "double") return std::nullopt;
  if (tree.node(add.children[0]).kind_name != "DeclRefExpr") return std::nullopt;
  const std::string head(std::string_view(tree.text()).substr(tree.node(loop).range.begin, tree.node(children.back()).range.begin - tree.node(loop).range.begin));
  static const std::regex kHead(R"(for\s*\(\s*(int|unsigned|unsigned int)\s+(\w+)\s*=\s*([^;]+);\s*(\w+)\s*<\s*([^;]+);\s*(?:\+\+\s*(\w+)|(\w+)\s*\+\+)\s*\)\s*)");
  std::smatch match;
  if (!std::regex_match(head, match, kHead)) return std::nullopt;
  const std::string stepped = match[6].matched ? match[6].str() : match[7].str();
  if (match[2] != match[4] || match[2] != stepped) return std::nullopt;
  SumLoop sum{loop, match[2], match[3], match[5], match[1], std::string(tree.Text(add.children[0])), add.type, std::string(tree.Text(add.children[1]))};
  if (NamesIn(sum.term).count(sum.accumulator) != 0 || NamesIn(sum.bound).count(sum.accumulator) != 0) return std::nullopt;
  if (!NamesWritten(tree, add.children[1]).empty()) return std::nullopt;
  return sum;
}

// The term with the loop variable moved on by `step`.
std::string Shifted(const std::string& term, const std::string& variable, int step) {
  return step == 0 ? term : std::regex_replace(term, std::regex("\\b" + variable + "\\b"), fmt::format("({} + {})", variable, step));
}

std::string Split(const SumLoop& sum, int ways, const std::string& indent) {
  std::string text = "{\n";
  const std::string in = indent + "  ";
  text += fmt::format("{}{} partial[{}] = {{}};\n{}{} {} = {};\n", in, sum.accumulator_type, ways, in, sum.type, sum.variable, sum.start);
  text += fmt::format("{}for (; {} + {} < {}; {} += {}) {{\n", in, sum.variable, ways - 1, sum.bound, sum.variable, ways);
  for (int way = 0; way < ways; ++way) text += fmt::format("{}  partial[{}] += {};\n", in, way, Shifted(sum.term, sum.variable, way));
  text += fmt::format("{}}}\n{}for (; {} < {}; ++{}) {} += {};\n", in, in, sum.variable, sum.bound, sum.variable, sum.accumulator, sum.term);
  text += fmt::format("{}{} += {};\n{}}}", in, sum.accumulator, ways == 2 ? "partial[0] + partial[1]" : "(partial[0] + partial[1]) + (partial[2] + partial[3])", indent);
  return text;
}

}  // namespace

std::optional<Mutation> AccumulatorSplit::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<SumLoop> loops;
  for (const int loop : NodesOfKind(tree, "ForStmt")) {
    auto sum = Understand(tree, loop);
    if (sum && StartsItsLine(tree, loop) && sum->term.find("partial") == std::string::npos) loops.push_back(std::move(*sum));
  }
  if (loops.empty()) return std::nullopt;
  const SumLoop& chosen = loops[rng.Below(loops.size())];
  const int ways = rng.Chance(0.5) ? 2 : 4;
  Edit edit{std::string(name()), {tree.AnchorOf(chosen.loop)}, {{0, Placement::kReplace, Split(chosen, ways, IndentOf(tree, chosen.loop))}}, {}, {}};
  // A pragma above would stand in front of a block.
  const auto above = DirectiveAbove(tree, chosen.loop);
  if (above) {
    for (int i = 0; i < static_cast<int>(tree.nodes().size()); ++i) {
      if (tree.node(i).kind != kPragmaNode || tree.node(i).range.end != above->end) continue;
      edit.source.push_back({1, Placement::kReplace, ""});
      edit.anchors.push_back(tree.AnchorOf(i));
    }
    if (edit.anchors.size() == 1) return std::nullopt;
  }
  return edit;
}

}  // namespace evo
