#include "mutators/analysis/source/counted_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

bool IsCounterType(std::string_view type) {
  constexpr std::array kTypes{"int"sv, "unsigned int"sv, "long"sv, "unsigned long"sv, "long long"sv, "unsigned long long"sv};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// The step of `++i`, `i++` and `i += step`, spelled as an operand; nullopt for other increments.
std::optional<std::string> StepOf(const SyntaxTree& tree, const ForLoop& loop, int counter) {
  const auto& operands = tree.node(loop.increment).children;
  if (operands.empty() || NamedDeclaration(tree, operands.front()) != counter) return std::nullopt;
  const std::string_view spelled = tree.Operator(loop.increment);
  if (spelled == "++") return "1";
  if (spelled != "+=" || operands.size() != 2 || !IsInvariant(tree, operands[1], loop.statement)) return std::nullopt;
  return Parenthesised(tree, operands[1]);
}

// Whether a body contains anything that cannot be moved or duplicated.
bool IsRigid(const SyntaxTree& tree, int body, int counter) {
  for (const int at : Subtree(tree, body)) {
    const SyntaxNode& node = tree.node(at);
    for (const std::string_view kind : {"BreakStmt"sv, "GotoStmt"sv, "LabelStmt"sv, "LambdaExpr"sv, "attribute(shared)"sv}) {
      if (node.kind_name == kind) return true;
    }
    if (node.kind_name.find("Asm") != std::string::npos) return true;
    if (std::find(node.hidden.begin(), node.hidden.end(), counter) != node.hidden.end()) return true;
  }
  return false;
}

}  // namespace

std::optional<CountedLoop> WithCountedHeader(const SyntaxTree& tree, int node) {
  const auto parts = AsForLoop(tree, node);
  if (!parts || tree.node(parts->init).kind_name != "DeclStmt") return std::nullopt;
  const auto& declared = tree.node(parts->init).children;
  if (declared.size() != 1) return std::nullopt;
  CountedLoop loop{*parts, declared.front()};
  const SyntaxNode& counter = tree.node(loop.counter);
  if (!IsCounterType(counter.type) || counter.children.empty()) return std::nullopt;
  loop.start = counter.children.back();
  loop.comparison = tree.Operator(parts->condition);
  const auto& compared = tree.node(parts->condition).children;
  if ((loop.comparison != "<" && loop.comparison != "<=") || compared.size() != 2) return std::nullopt;
  if (NamedDeclaration(tree, compared[0]) != loop.counter) return std::nullopt;
  loop.bound = compared[1];
  if (!IsInvariant(tree, loop.bound, node)) return std::nullopt;
  const auto step = StepOf(tree, *parts, loop.counter);
  if (!step) return std::nullopt;
  loop.step = *step;
  if (WrittenIn(tree, parts->body).contains(loop.counter) || IsMemoryName(tree, loop.counter)) return std::nullopt;
  return loop;
}

std::optional<CountedLoop> AsCountedLoop(const SyntaxTree& tree, int node) {
  auto loop = WithCountedHeader(tree, node);
  if (!loop || !IsPure(tree, loop->start) || LoadsIn(tree, loop->start)) return std::nullopt;
  if (IsRigid(tree, loop->parts.body, loop->counter)) return std::nullopt;
  return loop;
}

bool HaveSameHeader(const SyntaxTree& tree, const CountedLoop& a, const CountedLoop& b) {
  return tree.node(a.counter).type == tree.node(b.counter).type && tree.Text(a.parts.init) == tree.Text(b.parts.init) &&
         tree.Text(a.parts.condition) == tree.Text(b.parts.condition) &&
         tree.Text(a.parts.increment) == tree.Text(b.parts.increment);
}

bool JumpsOut(const SyntaxTree& tree, int node) {
  const auto nodes = Subtree(tree, node);
  return std::any_of(nodes.begin(), nodes.end(), [&](int at) {
    return tree.node(at).kind_name == "ContinueStmt" || tree.node(at).kind_name == "ReturnStmt";
  });
}

bool IsUnconditional(const SyntaxTree& tree, int node, int scope) {
  constexpr std::array kStraight{
      "CompoundStmt"sv,          "DeclStmt"sv,           "VarDecl"sv,      "BinaryOperator"sv, "CompoundAssignOperator"sv,
      "UnaryOperator"sv,         "ParenExpr"sv,          "CallExpr"sv,     "CStyleCastExpr"sv, "CXXStaticCastExpr"sv,
      "CXXFunctionalCastExpr"sv, "ArraySubscriptExpr"sv, "MemberRefExpr"sv};
  for (int at = node; at != scope; at = tree.node(at).parent) {
    const int parent = tree.node(at).parent;
    if (parent < 0) return false;
    const SyntaxNode& outer = tree.node(parent);
    const bool branch = outer.kind_name == "IfStmt" || outer.kind_name == "ConditionalOperator";
    if (branch && outer.children.front() == at) continue;
    if (std::find(kStraight.begin(), kStraight.end(), outer.kind_name) == kStraight.end()) return false;
    const std::string_view spelled = tree.Operator(parent);
    if ((spelled == "&&" || spelled == "||") && outer.children.back() == at) return false;
  }
  return true;
}

bool IsReadByLoopBefore(const SyntaxTree& tree, int element, const CountedLoop& loop) {
  const int function = tree.node(loop.parts.statement).function;
  if (function < 0) return false;
  const auto written = WrittenIn(tree, function);
  const auto named = NamedIn(tree, element);
  for (const int declaration : named) {
    if (declaration != loop.counter && (written.contains(declaration) || IsMemoryName(tree, declaration))) return false;
  }
  for (const int statement : tree.node(tree.node(loop.parts.statement).parent).children) {
    if (statement == loop.parts.statement) return false;
    const auto before = AsCountedLoop(tree, statement);
    if (!before || !HaveSameHeader(tree, *before, loop) || JumpsOut(tree, before->parts.body)) continue;
    auto same = named;
    same.erase(loop.counter);
    same.insert(before->counter);
    for (const int node : Subtree(tree, before->parts.body)) {
      const SyntaxNode& read = tree.node(node);
      if (read.kind_name == "ArraySubscriptExpr" && read.converted && tree.Text(node) == tree.Text(element) &&
          NamedIn(tree, node) == same && IsUnconditional(tree, node, before->parts.body))
        return true;
    }
  }
  return false;
}

std::string TextWith(const SyntaxTree& tree, int node, const Replacements& replacements) {
  const SourceRange whole = tree.node(node).range;
  std::vector<std::pair<SourceRange, const std::string*>> places;
  for (const auto& [place, text] : replacements) {
    if (whole.Contains(tree.node(place).range)) places.emplace_back(tree.node(place).range, &text);
  }
  // Of replacements that begin at the same place, the outer one comes first.
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return a.first.begin != b.first.begin ? a.first.begin < b.first.begin : a.first.end > b.first.end;
  });
  std::string result;
  std::uint32_t at = whole.begin;
  for (const auto& [range, text] : places) {
    if (range.begin < at) continue;
    result += tree.Text({at, range.begin});
    result += *text;
    at = range.end;
  }
  result += tree.Text({at, whole.end});
  return result;
}

Replacements UsesAs(const SyntaxTree& tree, int declaration, int within, const std::string& text) {
  Replacements uses;
  for (const int at : Subtree(tree, within)) {
    if (tree.node(at).kind_name == "DeclRefExpr" && tree.node(at).refers_to == declaration) uses.emplace_back(at, text);
  }
  return uses;
}

Replacements CounterForward(const SyntaxTree& tree, const CountedLoop& loop, int within, const std::string& offset) {
  const std::string forward = fmt::format("{} + {}", tree.node(loop.counter).name, offset);
  Replacements uses = UsesAs(tree, loop.counter, within, fmt::format("({})", forward));
  for (auto& [use, text] : uses) {
    const SyntaxNode& parent = tree.node(tree.node(use).parent);
    if (parent.kind_name == "ArraySubscriptExpr" && parent.children[1] == use) text = forward;
  }
  return uses;
}

std::string Lines(const SyntaxTree& tree, int body, const std::string& indent, const Replacements& replacements) {
  const bool braces = tree.node(body).kind_name == "CompoundStmt";
  std::string text = TextWith(tree, body, replacements);
  std::string present = IndentOf(tree, body);
  if (braces) {
    text = text.substr(1, text.size() - 2);
    if (!tree.node(body).children.empty()) present = IndentOf(tree, tree.node(body).children.back());
  }
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  text = text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
  std::string lines;
  bool begins = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!begins && line.starts_with(present)) line.erase(0, present.size());
    const bool margin = line.empty() || line.front() == '#';
    lines += (margin ? "" : indent) + line + "\n";
    begins = false;
    at = end + 1;
  }
  return lines;
}

bool IsWrittenOut(const SyntaxTree& tree, const CountedLoop& loop) {
  return loop.parts.pragma >= 0 && tree.Text(loop.parts.pragma) == "#pragma unroll";
}

std::optional<std::int64_t> TripCount(const SyntaxTree& tree, const CountedLoop& loop) {
  const auto start = ConstantValue(tree, tree.Text(loop.start));
  const auto bound = ConstantValue(tree, tree.Text(loop.bound));
  const auto step = ConstantValue(tree, loop.step);
  if (!start || !bound || !step || *step <= 0) return std::nullopt;
  const std::int64_t end = *bound + (loop.comparison == "<=" ? 1 : 0);
  return end <= *start ? 0 : (end - *start + *step - 1) / *step;
}

bool IsShort(const SyntaxTree& tree, const CountedLoop& loop) {
  constexpr std::int64_t kMostWrittenOut = 16;
  if (loop.parts.pragma >= 0 || ContainsLoop(tree, loop.parts.body)) return false;
  const auto count = TripCount(tree, loop);
  return count && *count <= kMostWrittenOut;
}

Proposal ReplaceLoop(const CountedLoop& loop, const std::string& text) {
  Proposal proposal;
  if (loop.parts.pragma >= 0) proposal.changes.push_back({loop.parts.pragma, Placement::kReplace, ""});
  proposal.changes.push_back({loop.parts.statement, Placement::kReplace, text});
  proposal.also_anchored.push_back(loop.parts.body);
  return proposal;
}

bool ContainsLoop(const SyntaxTree& tree, int node) {
  const auto nodes = Subtree(tree, node);
  return std::any_of(nodes.begin(), nodes.end(), [&](int at) {
    const std::string& kind = tree.node(at).kind_name;
    return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt" || kind == "CXXForRangeStmt";
  });
}

std::string Times(int factor, const std::string& step) {
  if (step == "1") return std::to_string(factor);
  return factor == 1 ? step : fmt::format("{} * {}", factor, step);
}

std::string CounterDeclaration(const SyntaxTree& tree, const CountedLoop& loop) {
  return fmt::format("{} {}", tree.node(loop.counter).type, tree.node(loop.counter).name);
}

std::string Header(const SyntaxTree& tree, const CountedLoop& loop, const std::string& init) {
  return fmt::format("for ({}; {}; {})", init, tree.Text(loop.parts.condition), tree.Text(loop.parts.increment));
}

}  // namespace evo
