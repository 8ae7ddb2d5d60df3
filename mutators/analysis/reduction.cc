#include "mutators/analysis/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/error.h"
#include "mutators/analysis/combination.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/reduction_runs.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kResultTypes{"float"sv, "double"sv, "int"sv, "unsigned int"sv, "long long"sv, "unsigned long long"sv};

// Whether a result that begins with this value is the same as one without it.
bool IsNeutral(const SyntaxTree& tree, const std::string& combine, const std::string& type, std::string initial, int element) {
  std::erase_if(initial, [](char c) { return c == ' ' || c == '(' || c == ')'; });
  for (const std::string_view cast : {"float", "double", "int"}) {
    if (initial.starts_with(cast)) initial.erase(0, cast.size());
  }
  constexpr std::array kZeros{"0"sv, "0.0"sv, "0.f"sv, "0.0f"sv, "0."sv, "0u"sv, "0U"sv, "0ull"sv, "0ll"sv, "0LL"sv, "0L"sv};
  const bool zero = std::find(kZeros.begin(), kZeros.end(), initial) != kZeros.end();
  if (combine == "+" || combine == "^" || combine == "|") return zero;
  constexpr std::array kOnes{"1"sv, "1.0"sv, "1.f"sv, "1.0f"sv, "1."sv, "1u"sv, "1U"sv, "1ull"sv, "1ll"sv};
  if (combine == "*") return std::find(kOnes.begin(), kOnes.end(), initial) != kOnes.end();
  constexpr std::array kAllBits{"~0"sv, "~0u"sv, "~0U"sv, "-1"sv, "0xffffffff"sv, "0xffffffffu"sv, "0xFFFFFFFF"sv, "UINT_MAX"sv};
  if (combine == "&") return SizeOf(type) == 4 && std::find(kAllBits.begin(), kAllBits.end(), initial) != kAllBits.end();
  if (combine == "max" && zero) {
    const int node = WithoutParentheses(tree, element);
    const auto& sides = tree.node(node).children;
    const auto callee = LibraryCallee(tree, node);
    const bool square = tree.Operator(node) == "*" && SameTokens(tree.Text(sides[0]), tree.Text(sides[1]));
    return callee == "fabsf" || callee == "fabs" || callee == "abs" || type.starts_with("unsigned") || square;
  }
  constexpr std::array kLowest{"-INFINITY"sv, "-FLT_MAX"sv, "-DBL_MAX"sv, "INT_MIN"sv, "-2147483647-1"sv, "LLONG_MIN"sv};
  constexpr std::array kHighest{"INFINITY"sv,   "FLT_MAX"sv,  "DBL_MAX"sv,    "INT_MAX"sv,
                                "2147483647"sv, "UINT_MAX"sv, "0xffffffffu"sv};
  const bool lowest = std::find(kLowest.begin(), kLowest.end(), initial) != kLowest.end();
  const bool highest = std::find(kHighest.begin(), kHighest.end(), initial) != kHighest.end();
  return combine == "max" ? lowest : highest;
}

// With which an extreme may begin where the kernel has no such value.
std::string NeutralOf(const std::string& combine, const std::string& type) {
  const bool real = type == "float" || type == "double";
  if (combine == "*") return type == "float" ? "1.0f" : real ? "1.0" : "1";
  if (combine == "^" || combine == "|" || combine == "&") return real ? "" : combine == "&" ? "~0" : "0";
  if (combine == "+") return type == "float" ? "0.0f" : real ? "0.0" : "0";
  if (type == "int") return combine == "max" ? "-2147483647 - 1" : "2147483647";
  if (type == "unsigned int") return combine == "max" ? "0u" : "0xffffffffu";
  return "";
}

class ReductionFinder {
 public:
  ReductionFinder(const MutationContext& context, int kernel, ReductionElements::Numbered numbered)
      : context_(context), tree_(context.tree), elements_(context, kernel, numbered) {
    found_.kernel = kernel;
  }

  std::variant<Reduction, std::string> Find() {
    if (CheckLaunch() && FindShare() && FindResult() && FindInitial() && CheckTraffic() && FindUniform()) return found_;
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
    if (!FindLaunch(kernel.name)) return Refuse("it is not launched, or with different blocks");
    if (!found_.launch->cluster.empty() || found_.launch->cooperative)
      return Refuse("its blocks are launched as clusters or together");
    if (found_.launch->block.size() != 1) return Refuse("its blocks have more than one dimension");
    if (!FindMostThreads(tree_.Text({kernel.range.begin, tree_.node(body_).range.begin})))
      return Refuse("its __launch_bounds__ are no number of parameters");
    return elements_.refusal().empty() || Refuse(elements_.refusal());
  }

  // Several launches of the same kernel have blocks of the same size.
  bool FindLaunch(const std::string& kernel) {
    for (const Step& step : context_.rendered.steps) {
      if (!step.launch || step.launch->kernel != kernel) continue;
      const LaunchDirective& launch = *step.launch;
      const auto same = [](const Expression& a, const Expression& b) { return a.text() == b.text(); };
      if (found_.launch != nullptr && (!std::equal(launch.block.begin(), launch.block.end(), found_.launch->block.begin(),
                                                   found_.launch->block.end(), same) ||
                                       !launch.cluster.empty() || launch.cooperative))
        return false;
      found_.launched_again = found_.launch != nullptr;
      if (found_.launch == nullptr) found_.launch = &launch;
    }
    return found_.launch != nullptr;
  }

  // The first argument of __launch_bounds__, if there are any.
  bool FindMostThreads(std::string_view head) {
    constexpr std::string_view kBounds = "__launch_bounds__";
    const std::size_t at = head.find(kBounds), open = head.find('(', at);
    if (at == std::string_view::npos) return true;
    std::size_t end = open + 1;
    for (int depth = 1; end < head.size(); ++end) {
      depth += (head[end] == '(') - (head[end] == ')');
      if (depth == 0 || (depth == 1 && head[end] == ',')) break;
    }
    found_.most_threads = head.substr(open + 1, end - open - 1);
    try {
      const auto names = Expression::Parse(found_.most_threads).Names();
      return std::all_of(names.begin(), names.end(),
                         [&](const std::string& name) { return context_.genome.parameters.contains(name); });
    } catch (const Error&) {
      return false;
    }
  }

  bool FindShare() {
    ReductionRuns runs(context_, found_, elements_);
    if (!runs.Classify()) return Refuse(runs.why());
    seen_ = runs.seen();
    return true;
  }

  bool FindResult() {
    if (seen_.outputs.size() != 1) return Refuse("it does not leave its result by one statement");
    if (seen_.combines.size() > 1) return Refuse("it combines in more than one way");
    if (seen_.combines.empty()) return Refuse("it combines nothing");
    found_.combine = *seen_.combines.begin();
    found_.output = *seen_.outputs.begin();
    found_.result = seen_.data;
    const auto& parts = tree_.node(found_.output).children;
    found_.atomic = LibraryCallee(tree_, found_.output).starts_with("atomic");
    const int target = parts[found_.atomic ? 1 : 0];
    if (!found_.atomic && !seen_.once) return Refuse(fmt::format("several threads, or none, execute {}", Quoted(found_.output)));
    found_.own_place = !found_.atomic && seen_.own_place;
    found_.target = RootOf(tree_, target);
    if (found_.target < 0) return Refuse(fmt::format("it is not clear where {} stores", Quoted(found_.output)));
    found_.type = WithoutConst(tree_.node(found_.result).type);
    const bool of_element = elements_.NumberOf(found_.result) >= 0;
    if (of_element) found_.type = TargetType(target);
    if (std::find(kResultTypes.begin(), kResultTypes.end(), found_.type) == kResultTypes.end())
      return Refuse(fmt::format("its results are of the type {}", found_.type));
    for (const int node : Subtree(tree_, found_.kernel)) {
      if (tree_.node(node).kind_name != "VarDecl" || (!elements_.IsPartial(node) && !IsShared(tree_, node))) continue;
      const std::string type = WithoutConst(tree_.node(node).type);
      const std::string plain = type.substr(0, type.find_first_of(" [", type.find_last_of("abcdefghijklmnopqrstuvwxyz")));
      if (plain != found_.type) return Refuse(fmt::format("its partial results have the types {} and {}", found_.type, plain));
    }
    found_.element = elements_.all().front();
    found_.of_element = elements_.DeclarationsFor(found_.element);
    found_.by_name = elements_.variable() >= 0;
    found_.number = found_.by_name ? elements_.variable() : elements_.NumberOf(found_.element);
    return true;
  }

  // Of `&out[0]`, `out + 1` and `out`.
  std::string TargetType(int target) const {
    std::string type = WithoutConst(tree_.node(target).type);
    if (const std::size_t star = type.find('*'); star != std::string::npos) type.erase(type.find_last_not_of(" *", star) + 1);
    return type;
  }

  bool FindInitial() {
    for (const std::string& initial : seen_.initials) {
      const bool neutral = IsNeutral(tree_, found_.combine, found_.type, initial, found_.element);
      // An extreme may begin with a value any number of times if it always does.
      const bool same = !IsFold(found_.combine) && seen_.always_initial && seen_.initials.size() == 1;
      if (!neutral && !same)
        return Refuse(fmt::format("its partial results begin with `{}`, which may change the result", initial));
    }
    found_.initial = seen_.initials.empty() ? NeutralOf(found_.combine, found_.type) : *seen_.initials.begin();
    if (IsFold(found_.combine)) found_.initial = NeutralOf(found_.combine, found_.type);
    return !found_.initial.empty() || Refuse("it is not known with which value a partial result may begin");
  }

  bool CheckTraffic() {
    for (const int node : Subtree(tree_, found_.kernel)) {
      const bool atomic = LibraryCallee(tree_, node).starts_with("atomic");
      if ((!atomic && !IsAssignment(tree_, node)) || node == found_.output) continue;
      const int target = tree_.node(node).children[atomic ? 1 : 0];
      const int variable = NamedDeclaration(tree_, target);
      const bool local =
          variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !tree_.node(variable).type.ends_with("&");
      if (!local && !NamesShared(tree_, target)) return Refuse(fmt::format("it also stores by {}", Quoted(node)));
    }
    if (IsPassedTwice(tree_, context_.rendered, found_.target)) return Refuse("a launch passes the buffer of its results twice");
    std::vector<int> nodes = found_.of_element;
    nodes.push_back(found_.element);
    for (const int part : nodes) {
      for (const int node : Subtree(tree_, part)) {
        const bool memory = tree_.node(node).kind_name == "ArraySubscriptExpr" ||
                            (tree_.node(node).kind_name == "UnaryOperator" && tree_.Operator(node) == "*");
        const bool ldg = LibraryCallee(tree_, node).starts_with("__ld");
        if (!memory && !ldg) continue;
        const int pointer = tree_.node(node).children[ldg ? 1 : 0];
        const int root = RootOf(tree_, pointer);
        if (root < 0 || root == found_.target) return Refuse(fmt::format("{} may be written while it runs", Quoted(node)));
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
    std::vector<int> nodes = found_.of_element;
    nodes.insert(nodes.end(), {found_.element, found_.output});
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
      if (!declared(found_.uniform) && !declared(found_.of_element))
        return Refuse(fmt::format("{} depends on `{}`", Quoted(part), named.name));
    }
    return true;
  }

  // Whether a node of a part is within the result, or stands for the element's number.
  bool IsReplaced(int part, int node) const {
    if (part == found_.output) return IsWithin(tree_, node, found_.result);
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

std::variant<Reduction, std::string> AsReduction(const MutationContext& context, int kernel) {
  auto by_variable = ReductionFinder(context, kernel, ReductionElements::Numbered::kByVariable).Find();
  if (std::holds_alternative<Reduction>(by_variable)) return by_variable;
  auto by_index = ReductionFinder(context, kernel, ReductionElements::Numbered::kByIndex).Find();
  const auto* why = std::get_if<std::string>(&by_index);
  return why != nullptr && why->ends_with(kNoNumber) ? by_variable : by_index;
}

}  // namespace evo
