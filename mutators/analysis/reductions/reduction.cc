#include "mutators/analysis/reductions/reduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "mutators/analysis/reductions/reduction_launch.h"
#include "mutators/analysis/reductions/reduction_runs.h"
#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kResultTypes{"float"sv, "double"sv, "int"sv, "unsigned int"sv, "long long"sv, "unsigned long long"sv};

// What an output stores to, or where an atomic adds.
int TargetOf(const SyntaxTree& tree, const Reduction::Output& output) {
  return tree.node(output.statement).children[output.atomic ? 1 : 0];
}

// Of `&out[0]`, `out + 1` and `out`.
std::string TargetType(const SyntaxTree& tree, int target) {
  std::string type = WithoutConst(tree.node(target).type);
  if (const std::size_t star = type.find('*'); star != std::string::npos) type.erase(type.find_last_not_of(" *", star) + 1);
  return type;
}

class ReductionFinder {
 public:
  ReductionFinder(const MutationContext& context, int kernel, ReductionElements::Numbered numbered)
      : context_(context), tree_(context.tree), elements_(context, kernel, numbered) {
    found_.kernel = kernel;
  }

  std::variant<Reduction, std::string> Find() {
    if (CheckLaunch() && FindShare() && FindResults() && CheckTraffic() && FindUniform()) return found_;
    return why_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  std::string Quoted(int node) const { return fmt::format("`{}`", tree_.Text(node)); }

  bool CheckLaunch() {
    const SyntaxNode& kernel = tree_.node(found_.kernel);
    if (kernel.kind_name != "FunctionDecl")
      return Refuse("it is a function template with several lists of arguments, or with some that are deduced");
    if (kernel.children.empty() || tree_.node(kernel.children.back()).kind_name != "CompoundStmt")
      return Refuse("it has no body");
    body_ = kernel.children.back();
    if (const std::string why = FindReductionLaunch(context_, found_); !why.empty()) return Refuse(why);
    return elements_.refusal().empty() || Refuse(elements_.refusal());
  }

  bool FindShare() {
    ReductionRuns runs(context_, found_, elements_);
    if (!runs.Classify()) return Refuse(runs.why());
    seen_ = runs.seen();
    found_.turn = runs.turn();
    return true;
  }

  bool FindOutputs() {
    if (seen_.outputs.empty()) return Refuse("it does not leave its result by one statement");
    for (const auto& [statement, seen] : seen_.outputs) {
      Reduction::Output output{statement, IsAtomicCall(tree_, statement)};
      output.own_place = !output.atomic && seen.own_place;
      if (!output.atomic && !seen.once) return Refuse(fmt::format("several threads, or none, execute {}", Quoted(statement)));
      output.target = RootOf(tree_, TargetOf(tree_, output));
      if (output.target < 0) return Refuse(fmt::format("it is not clear where {} stores", Quoted(statement)));
      found_.outputs.push_back(output);
      found_.last.push_back(statement);
    }
    found_.last.insert(found_.last.end(), seen_.declarations.begin(), seen_.declarations.end());
    std::sort(found_.last.begin(), found_.last.end());
    return true;
  }

  bool FindResults() {
    if (!FindOutputs()) return false;
    std::set<int> statements;
    for (const auto& [node, part] : seen_.parts) {
      if (part.combines.size() > 1) return Refuse("it combines in more than one way");
      if (part.combines.empty()) return Refuse("it combines nothing");
      Reduction::Result result{{}, *part.combines.begin(), "", ""};
      if (result.combine == "votes") return Refuse(fmt::format("{} is not the number of votes", Quoted(node)));
      for (std::size_t kind = 0; kind < elements_.kinds(); ++kind) {
        if ((part.kinds >> kind & 1u) == 0) continue;
        const int element = elements_.FirstOf(kind);
        result.values.push_back({element, elements_.FactorOf(element)});
        const auto declarations = elements_.DeclarationsFor(element);
        statements.insert(declarations.begin(), declarations.end());
      }
      if (!FindType(node, part, result) || !FindInitial(part, result)) return false;
      const auto same = [&](const Reduction::Result& other) {
        const auto equal = [](const Reduction::Value& a, const Reduction::Value& b) { return a.node == b.node; };
        return std::equal(other.values.begin(), other.values.end(), result.values.begin(), result.values.end(), equal) &&
               other.combine == result.combine && other.type == result.type && other.initial == result.initial;
      };
      const auto known = std::find_if(found_.results.begin(), found_.results.end(), same);
      found_.places.push_back({node, static_cast<std::size_t>(known - found_.results.begin())});
      if (known == found_.results.end()) found_.results.push_back(result);
    }
    if (!CheckOutputs()) return false;
    found_.by_name = elements_.variable() >= 0;
    found_.number = found_.by_name ? elements_.variable() : elements_.NumberOf(found_.results[0].values[0].node);
    found_.loops = elements_.loops();
    DivideDeclarations({statements.begin(), statements.end()});
    return true;
  }

  // Of what is no multiple of a result, the block's part must stay the same, and one thread must compute it.
  bool CheckOutputs() {
    const bool one_block = found_.launch->grid.size() == 1 && found_.launch->grid[0].text() == "1";
    for (const Reduction::Output& output : found_.outputs) {
      const auto buffer = LaunchedAs(tree_, *found_.launch, found_.kernel, output.target);
      const auto& workspaces = context_.rendered.workspaces;
      const bool answer = std::none_of(workspaces.begin(), workspaces.end(), [&](const auto& w) { return w.name == buffer; });
      const bool leaves_part = found_.blocks == Reduction::Blocks::kShareAll && !one_block && !output.atomic && answer;
      if (leaves_part && (!seen_.outputs.at(output.statement).own_place || !TakesTurns(true)))
        return Refuse(fmt::format("{} leaves a part of each block that no other launch combines", Quoted(output.statement)));
      if (IsLinear(tree_, found_, output)) continue;
      if (!seen_.outputs.at(output.statement).once)
        return Refuse(fmt::format("several threads of a block compute {}", Quoted(output.statement)));
      if (!TakesTurns(found_.blocks == Reduction::Blocks::kShareAll && !one_block))
        return Refuse(fmt::format("each block computes {} of its part", Quoted(output.statement)));
    }
    return true;
  }

  // Whether blocks that must keep their elements may do so.
  bool TakesTurns(bool must_keep) {
    if (!must_keep) return true;
    if (found_.turn.empty()) return false;
    found_.blocks = Reduction::Blocks::kOwnTurns;
    found_.part = found_.turn;
    return true;
  }

  // Of the declarations that elements need, those that the number of the element does not change.
  void DivideDeclarations(const std::vector<int>& statements) {
    for (const int statement : statements) {
      const auto named = NamedIn(tree_, statement);
      const bool varies = std::any_of(named.begin(), named.end(), [&](int d) {
        const auto declares = [&](int other) { return IsWithin(tree_, d, other); };
        return d == found_.number || std::any_of(found_.of_element.begin(), found_.of_element.end(), declares);
      });
      const bool of_turn = !found_.loops.empty() && !varies && !LoadsIn(tree_, statement);
      (of_turn ? found_.of_turn : found_.of_element).push_back(statement);
    }
  }

  // An element that is not kept anywhere has the type of what it is combined with.
  bool FindType(int node, const ReductionRuns::Seen::Part& part, Reduction::Result& result) {
    if (part.types.size() > 1)
      return Refuse(fmt::format("its partial results have the types {}", fmt::join(part.types, " and ")));
    result.type = part.types.empty() ? WithoutConst(tree_.node(node).type) : *part.types.begin();
    for (const Reduction::Output& output : found_.outputs) {
      if (part.types.empty() && IsWithin(tree_, node, output.statement)) result.type = TargetType(tree_, TargetOf(tree_, output));
    }
    if (std::find(kResultTypes.begin(), kResultTypes.end(), result.type) == kResultTypes.end())
      return Refuse(fmt::format("its results are of the type {}", result.type));
    return true;
  }

  bool FindInitial(const ReductionRuns::Seen::Part& part, Reduction::Result& result) {
    std::vector<int> elements;
    for (const Reduction::Value& value : result.values) elements.push_back(value.factor < 0 ? value.node : -1);
    for (const std::string& initial : part.initials) {
      const bool neutral = IsNeutral(tree_, result.combine, result.type, initial, elements);
      // An extreme may begin with a value any number of times if it always does.
      const bool same = !IsFold(result.combine) && part.always_initial && part.initials.size() == 1;
      if (!neutral && !same)
        return Refuse(fmt::format("its partial results begin with `{}`, which may change the result", initial));
    }
    result.initial = part.initials.empty() ? NeutralOf(result.combine, result.type) : *part.initials.begin();
    if (IsFold(result.combine)) result.initial = NeutralOf(result.combine, result.type);
    return !result.initial.empty() || Refuse("it is not known with which value a partial result may begin");
  }

  bool CheckTraffic() {
    for (const int node : Subtree(tree_, found_.kernel)) {
      const bool atomic = IsAtomicCall(tree_, node);
      const auto is_it = [&](const Reduction::Output& output) { return output.statement == node; };
      const bool output = std::any_of(found_.outputs.begin(), found_.outputs.end(), is_it);
      if ((!atomic && !IsAssignment(tree_, node)) || output) continue;
      const int target = tree_.node(node).children[atomic ? 1 : 0];
      const int variable = NamedDeclaration(tree_, WithoutMembers(tree_, target));
      const bool local =
          variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !tree_.node(variable).type.ends_with("&");
      if (!local && !NamesShared(tree_, target)) return Refuse(fmt::format("it also stores by {}", Quoted(node)));
    }
    std::set<int> targets;
    for (const Reduction::Output& output : found_.outputs) targets.insert(output.target);
    for (const int target : targets) {
      if (IsPassedTwice(tree_, context_.rendered, target)) return Refuse("a launch passes the buffer of its results twice");
    }
    for (const int part : found_.ElementNodes()) {
      for (const int node : Subtree(tree_, part)) {
        const bool memory = tree_.node(node).kind_name == "ArraySubscriptExpr" ||
                            (tree_.node(node).kind_name == "UnaryOperator" && tree_.Operator(node) == "*");
        const bool ldg = LibraryCallee(tree_, node).starts_with("__ld");
        if (!memory && !ldg) continue;
        const int pointer = tree_.node(node).children[ldg ? 1 : 0];
        const int root = RootOf(tree_, pointer);
        if (root < 0 || targets.contains(root)) return Refuse(fmt::format("{} may be written while it runs", Quoted(node)));
      }
    }
    return true;
  }

  // Declarations of the outermost block that what stays needs. Nothing of what stays may depend on the thread or the block's
  // size.
  bool FindUniform() {
    std::vector<int> declarations;
    for (const int statement : tree_.node(body_).children) {
      if (tree_.node(statement).kind_name == "DeclStmt") declarations.push_back(statement);
    }
    std::vector<int> nodes = found_.ElementNodes();
    nodes.insert(nodes.end(), found_.last.begin(), found_.last.end());
    std::set<int> named;
    for (const int part : nodes) {
      for (const int node : Subtree(tree_, part)) {
        if (tree_.node(node).kind_name == "DeclRefExpr" && !IsReplaced(part, node)) named.insert(tree_.node(node).refers_to);
      }
    }
    std::vector<int> needed;
    for (auto at = declarations.rbegin(); at != declarations.rend(); ++at) {
      const int statement = *at;
      const auto& variables = tree_.node(statement).children;
      const auto stays = [&](int variable) {
        const auto& parts = tree_.node(variable).children;
        return !parts.empty() && !IsShared(tree_, variable) && !elements_.IsPartial(variable) &&
               elements_.uniform().IsUniform(parts.back());
      };
      const auto is_named = [&](int variable) { return named.contains(variable); };
      if (std::none_of(variables.begin(), variables.end(), is_named)) continue;
      if (!std::all_of(variables.begin(), variables.end(), stays)) continue;
      named.merge(NamedIn(tree_, statement));
      needed.insert(needed.begin(), statement);
    }
    found_.uniform = needed;
    nodes.insert(nodes.end(), needed.begin(), needed.end());
    for (const int part : nodes) {
      if (!StaysRight(part)) return false;
    }
    return true;
  }

  bool StaysRight(int part) {
    for (const int node : Subtree(tree_, part)) {
      if (IsReplaced(part, node)) continue;
      const SyntaxNode& one = tree_.node(node);
      if (one.kind_name == "MemberRefExpr" &&
          (tree_.Text(node).starts_with("threadIdx") || tree_.Text(node).starts_with("blockDim")))
        return Refuse(fmt::format("{} depends on {}", Quoted(part), tree_.Text(node)));
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0) continue;
      const SyntaxNode& named = tree_.node(one.refers_to);
      if (named.kind_name != "VarDecl" || named.function < 0) continue;
      const auto declared = [&](const std::vector<int>& statements) {
        return std::any_of(statements.begin(), statements.end(), [&](int s) { return IsWithin(tree_, one.refers_to, s); });
      };
      const auto counts = [&](const OuterLoop& loop) { return loop.counter == one.refers_to; };
      // What comes after the loops has no element and no turn.
      const bool is_last = std::find(found_.last.begin(), found_.last.end(), part) != found_.last.end();
      const bool of_loop = std::any_of(found_.loops.begin(), found_.loops.end(), counts);
      const bool in_loop = of_loop || declared(found_.of_element) || declared(found_.of_turn);
      if (!declared(found_.uniform) && !declared(found_.last) && (is_last || !in_loop))
        return Refuse(fmt::format("{} depends on `{}`", Quoted(part), named.name));
    }
    return true;
  }

  // Whether a node of a part is within the result, or stands for the element's number.
  bool IsReplaced(int part, int node) const {
    if (std::find(found_.last.begin(), found_.last.end(), part) != found_.last.end())
      return std::any_of(found_.places.begin(), found_.places.end(),
                         [&](const Reduction::Place& place) { return IsWithin(tree_, node, place.node); });
    if (found_.by_name) return tree_.node(node).kind_name == "DeclRefExpr" && tree_.node(node).refers_to == found_.number;
    for (int at = node; at != part; at = tree_.node(at).parent) {
      const bool index = tree_.node(tree_.node(at).parent).kind_name == "ArraySubscriptExpr";
      if (index && SameTokens(tree_.Text(at), tree_.Text(found_.number))) return true;
    }
    return false;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  ReductionElements elements_;
  int body_ = -1;
  Reduction found_;
  ReductionRuns::Seen seen_;
  std::string why_;
};

}  // namespace

std::vector<int> Reduction::ElementNodes() const {
  std::vector<int> nodes = of_turn;
  nodes.insert(nodes.end(), of_element.begin(), of_element.end());
  for (const Result& result : results) {
    for (const Value& value : result.values) {
      nodes.push_back(value.node);
      if (value.factor >= 0) nodes.push_back(value.factor);
    }
  }
  return nodes;
}

std::variant<Reduction, std::string> AsReduction(const MutationContext& context, int kernel) {
  auto by_variable = ReductionFinder(context, kernel, ReductionElements::Numbered::kByVariable).Find();
  // Of `x[4 * i] + x[4 * i + 1]`, elements that lie side by side are better.
  const auto* const found = std::get_if<Reduction>(&by_variable);
  if (found != nullptr && found->grain.divided == 1) return by_variable;
  auto by_index = ReductionFinder(context, kernel, ReductionElements::Numbered::kByIndex).Find();
  const auto* const other = std::get_if<Reduction>(&by_index);
  if (found != nullptr && (other == nullptr || other->grain.times == 1)) return by_variable;
  if (std::holds_alternative<Reduction>(by_index)) return by_index;
  auto in_loops = ReductionFinder(context, kernel, ReductionElements::Numbered::kByVariableInLoops).Find();
  if (std::holds_alternative<Reduction>(in_loops)) return in_loops;
  const auto* why = std::get_if<std::string>(&by_index);
  return why != nullptr && why->ends_with(kNoNumber) ? by_variable : by_index;
}

}  // namespace evo
