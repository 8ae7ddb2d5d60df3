#include "mutators/parallelism/stencils/stencil_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool StencilSum::IsReal(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double";
}

StencilSumFinder::Value StencilSumFinder::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

std::variant<StencilSum, std::string> StencilSumFinder::Find() {
  StencilSum sum;
  const auto first = Run(true);
  std::optional<WeightedSum> second;
  if (condition_ >= 0 && !refusal_.given()) second = Run(false);
  if (refusal_.given()) return refusal_.why();
  if (!first && !second) return "it stores nothing that is a sum";
  sum.type = type_;
  sum.relied = integers_.relied();
  if (!first || !second) {
    sum.inside = first ? *first : *second;
    return sum;
  }
  const auto is_of_itself = [](const WeightedSum& one) {
    return std::all_of(one.neighbours().begin(), one.neighbours().end(),
                       [](const auto& neighbour) { return neighbour.first == WeightedSum::Place{}; });
  };
  sum.condition = condition_;
  sum.inside_if = is_of_itself(*second);
  sum.inside = sum.inside_if ? *first : *second;
  sum.edge = sum.inside_if ? *second : *first;
  if (!is_of_itself(sum.edge)) return "it sums up other neighbours at edges";
  return sum;
}

// What is stored where a condition on the place has this outcome; nullopt for nothing.
std::optional<WeightedSum> StencilSumFinder::Run(bool decision) {
  variables_.clear();
  integers_.Clear();
  stored_.reset();
  decision_ = decision;
  loops_ = 0;
  for (const int statement : parts_.statements.in_loop()) {
    if (refusal_.given() || Execute(statement) != Flow::kOn) break;
  }
  return stored_;
}

StencilSumFinder::Flow StencilSumFinder::Execute(int statement) {
  if (refusal_.given()) return Flow::kStop;
  const SyntaxNode& node = parts_.tree.node(statement);
  const std::string& kind = node.kind_name;
  if (kind == "CompoundStmt") {
    for (const int child : node.children) {
      if (const Flow flow = Execute(child); flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }
  if (kind == "IfStmt") return ExecuteIf(statement);
  if (kind == "ForStmt") return ExecuteLoop(statement);
  if (kind == "ReturnStmt") return Flow::kStop;
  if (kind == "ContinueStmt") return Flow::kContinue;
  if (kind == kPragmaKind || kind == "NullStmt") return Flow::kOn;
  if (kind == "DeclStmt") {
    for (const int variable : node.children) {
      const SyntaxNode& declared = parts_.tree.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty()) continue;
      const int initial = declared.children.back();
      if (StencilSum::IsReal(declared.type))
        variables_[variable] = SumOf(Evaluate(initial));
      else if (IsArithmetic(WithoutConst(declared.type)))
        integers_.Set(variable, integers_.ValueOf(initial));
    }
    return refusal_.given() ? Flow::kStop : Flow::kOn;
  }
  if (!IsAssignment(parts_.tree, statement)) Refuse(fmt::format("{} is no sum of neighbours", Quoted(parts_.tree, statement)));
  if (!refusal_.given()) Assign(statement);
  return refusal_.given() ? Flow::kStop : Flow::kOn;
}

// The outcome of a condition on the place, of which there may be one.
bool StencilSumFinder::Decide(int condition) {
  const bool other = condition_ >= 0 && condition_ != condition;
  if (other || loops_ > 0) Refuse(fmt::format("{} decides what it sums up", Quoted(parts_.tree, condition)));
  condition_ = condition;
  return decision_;
}

StencilSumFinder::Flow StencilSumFinder::ExecuteIf(int statement) {
  const auto& parts = parts_.tree.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return Refuse("an `if` with a declaration"), Flow::kStop;
  // Every element that is stored is stored by its thread: one that returns before that has none.
  const int only = OnlyStatement(parts_.tree, parts[1]);
  if (parts.size() == 2 && !stored_ && loops_ == 0 && parts_.tree.node(only < 0 ? parts[1] : only).kind_name == "ReturnStmt")
    return Flow::kOn;
  const auto known = integers_.ValueOf(parts[0]);
  const bool holds = known ? *known != 0 : Decide(parts[0]);
  if (refusal_.given()) return Flow::kStop;
  if (holds) return Execute(parts[1]);
  return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
}

StencilSumFinder::Flow StencilSumFinder::ExecuteLoop(int statement) {
  const auto loop = AsCountedLoop(parts_.tree, statement);
  const auto turns = loop ? TripCount(parts_.tree, *loop) : std::nullopt;
  const auto start = loop ? integers_.ValueOf(loop->start) : std::nullopt;
  const auto step = loop ? ConstantValue(parts_.tree, loop->step) : std::nullopt;
  constexpr std::int64_t kMostTurnsOfSum = 64;
  if (!turns || !start || !step || *turns > kMostTurnsOfSum)
    return Refuse(fmt::format("{} has no fixed, small number of turns", Quoted(parts_.tree, statement))), Flow::kStop;
  integers_.Rely(fmt::format("{} {} {}", parts_.tree.Text(loop->start), parts_.tree.Text(loop->bound), loop->step));
  ++loops_;
  for (std::int64_t turn = 0; turn < *turns; ++turn) {
    integers_.Set(loop->counter, *start + turn * *step);
    if (Execute(loop->parts.body) == Flow::kStop) return Flow::kStop;
  }
  --loops_;
  return Flow::kOn;
}

void StencilSumFinder::Assign(int expression) {
  const auto& sides = parts_.tree.node(expression).children;
  const std::string_view spelled = parts_.tree.Operator(expression);
  if (spelled.empty() || sides.size() != 2) return void(Refuse(Quoted(parts_.tree, expression)));
  const int target = sides.front(), variable = NamedDeclaration(parts_.tree, target);
  if (!StencilSum::IsReal(parts_.tree.node(target).type)) {
    Refuse(fmt::format("{} is no float", Quoted(parts_.tree, target)));
    return;
  }
  Value value = Evaluate(sides[1]);
  if (refusal_.given()) return;
  if (IsStore(parts_.tree, expression)) {
    if (stored_ || spelled != "=") return void(Refuse("it stores several times"));
    const std::string type = WithoutConst(parts_.tree.node(sides[1]).type);
    // Of what is stored inside and at edges, the more precise one decides.
    if (type_ != "double" && (type_ != "float" || StencilSum::IsReal(type))) type_ = type;
    stored_ = SumOf(value);
    return;
  }
  if (variable < 0 || parts_.tree.node(variable).function < 0) return void(Refuse(Quoted(parts_.tree, expression)));
  if (spelled != "=") value = Combined(spelled.substr(0, spelled.size() - 1), {std::nullopt, variables_[variable]}, value);
  variables_[variable] = SumOf(value);
}

}  // namespace evo
