#include "mutators/analysis/rows/shared_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "mutators/analysis/numbers/body_trial.h"
#include "mutators/analysis/rows/online_sum.h"
#include "mutators/analysis/rows/running_variance.h"
#include "mutators/analysis/source/accumulation_update.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Types that a shuffle takes.
constexpr std::array kShuffled{"float"sv, "double"sv, "int"sv, "unsigned int"sv, "long long"sv, "unsigned long long"sv};

// Bounds how deep variables are followed to their initialisers.
constexpr int kLoopDepth = 4;

class Classifier {
 public:
  explicit Classifier(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<SharedLoop> Classify(int node) const {
    const auto counted = WithCountedHeader(tree_, node);
    if (!counted || !IsInBlock(tree_, node) || Leaves(counted->parts.body)) return std::nullopt;
    SharedLoop shared{*counted, {}, false, std::nullopt, {}};
    if (const auto online = AsOnlineSum(tree_, *counted)) return WithOnlineSum(shared, *online);
    if (const auto variance = AsRunningVariance(tree_, *counted)) return WithRunningVariance(shared, *variance);
    if (!AddAccumulations(shared)) return WithRunningSum({*counted, {}, false, AsRunningSum(tree_, *counted), {}});
    if (!AddStores(shared)) return std::nullopt;
    if (shared.accumulations.empty() && !shared.stores) return std::nullopt;
    return shared;
  }

 private:
  // The maximum first, which the sum is fitted to.
  SharedLoop WithOnlineSum(SharedLoop shared, const OnlineSum& online) const {
    const std::string& top = tree_.node(online.top).name;
    Accumulation largest{online.top, ExtremeOf("max", online.type), "", false, "", {}, -1};
    // Where there is no value at all, both are as at the start, perhaps -INFINITY.
    largest.rescale = fmt::format("if ({0} != @) {1} *= {2}(@ - {0});", top, tree_.node(online.sum).name, online.exponential);
    shared.accumulations = {largest,
                            {online.sum, "+", "", StartsAtZero(tree_, online.sum, shared.counted.parts.statement), "", {}, -1}};
    return shared;
  }

  // Of an integer counter that is counted, its use as a number of values must not be an index, too.
  bool IsIndex(int node) const {
    for (; node >= 0; node = tree_.node(node).parent) {
      if (tree_.node(node).kind_name == "VarDecl" && !IsRealType(WithoutConst(tree_.node(node).type))) return true;
    }
    return false;
  }

  // The number of values first, then the mean, which it weights, then the squares, which both correct.
  std::optional<SharedLoop> WithRunningVariance(SharedLoop shared, const RunningVariance& variance) const {
    const int loop = shared.counted.parts.statement;
    for (const int variable : {variance.count, variance.mean, variance.squares}) {
      if (variable >= 0 && (!StartsAtZero(tree_, variable, loop) || !IsShuffled(tree_.node(variable).type))) return std::nullopt;
    }
    if (std::any_of(variance.counted.begin(), variance.counted.end(), [&](int node) { return IsIndex(node); }))
      return std::nullopt;
    const SyntaxNode &mean = tree_.node(variance.mean), &squares = tree_.node(variance.squares);
    const std::string own_mean = FreshName(tree_, "own_" + mean.name);
    std::string count(tree_.Text(shared.counted.bound)), own_count = FreshName(tree_, "own_count"), remember;
    if (variance.count >= 0) {
      count = tree_.node(variance.count).name;
      own_count = FreshName(tree_, "own_" + count);
      shared.accumulations.push_back({variance.count, "+", "", true, "", {}, -1});
      shared.accumulations.back().prepare = {fmt::format("const {} {} = {};", tree_.node(variance.count).type, own_count, count)};
    } else {
      remember = fmt::format("const int {} = ({} + @count - 1 - @thread) / @count;", own_count,
                             Parenthesised(tree_, shared.counted.bound));
    }
    shared.counted_turns = variance.counted;
    shared.accumulations.push_back({variance.mean, "+", "", true, "", {}, -1});
    auto& before_mean = shared.accumulations.back().prepare;
    if (!remember.empty()) before_mean.push_back(remember);
    before_mean.push_back(fmt::format("const {} {} = {};", mean.type, own_mean, mean.name));
    before_mean.push_back(
        fmt::format("if ({0} > 0) {1} *= static_cast<{2}>({3}) / {0};", Parenthesised(count), mean.name, mean.type, own_count));
    shared.accumulations.push_back({variance.squares, "+", "", true, "", {}, -1});
    shared.accumulations.back().prepare = {
        fmt::format("{0} += {1} * ({2} - {3}) * ({2} - {3});", squares.name, own_count, own_mean, mean.name)};
    return shared;
  }

  std::optional<SharedLoop> WithRunningSum(SharedLoop shared) const {
    if (!shared.running || !IsShuffled(tree_.node(shared.running->sum).type)) return std::nullopt;
    const int body = shared.counted.parts.body;
    for (const int node : Subtree(tree_, body)) {
      const int target = Assigned(tree_, node);
      if (target < 0 || IsStore(tree_, node)) continue;
      const int owner = Owner(tree_, target);
      if (owner != shared.running->sum && !IsWithin(tree_, owner, body)) return std::nullopt;
    }
    if (!AddStores(shared) || !shared.stores) return std::nullopt;
    return shared;
  }

  // Whether control flow in a body may do anything but go on to the next iteration.
  bool Leaves(int body) const {
    for (const int node : Subtree(tree_, body)) {
      const std::string& kind = tree_.node(node).kind_name;
      if (kind == "BreakStmt" || kind == "ReturnStmt" || kind == "GotoStmt" || kind == "LabelStmt" || kind == "WhileStmt" ||
          kind == "DoStmt" || kind == "SwitchStmt")
        return true;
    }
    return false;
  }

  bool AddAccumulations(SharedLoop& shared) const {
    const int body = shared.counted.parts.body;
    std::map<int, std::string> combined;
    std::map<int, std::size_t> named;
    std::map<int, int> places;  // the accumulator that each belongs to
    for (const int node : Subtree(tree_, body)) {
      const auto update = IncreaseOrDecreaseAt(tree_, node);
      if (!update || IsWithin(tree_, update->accumulator, body)) continue;
      if (IsMemoryName(tree_, update->accumulator)) return false;
      auto [known, fresh] = combined.try_emplace(update->accumulator, update->combine);
      if (!fresh && (known->second != update->combine || update->place >= 0)) return false;
      if (update->place >= 0) {
        if (!IsPlace(*update, shared.counted) || !places.emplace(update->place, update->accumulator).second) return false;
      }
      named[update->accumulator] += update->names.size();
    }
    for (const int node : Subtree(tree_, body)) {
      const int target = Assigned(tree_, node);
      if (target < 0 || IsStore(tree_, node)) continue;
      const int owner = Owner(tree_, target);
      if (!IsWithin(tree_, owner, body) && !combined.contains(owner) && !places.contains(owner)) return false;
    }
    for (const auto& [declaration, combine] : combined) {
      if (NamesOf(tree_, body, declaration).size() != named[declaration]) return false;
      auto accumulation = Describe(declaration, combine, shared.counted.parts.statement);
      if (!accumulation) return false;
      for (const auto& [place, accumulator] : places) {
        if (combined.contains(place)) return false;
        if (accumulator == declaration) accumulation->place = place;
      }
      shared.accumulations.push_back(*accumulation);
    }
    return true;
  }

  // Whether the place of an extreme is the loop's counter, so that it grows from turn to turn, and only that.
  bool IsPlace(const Update& update, const CountedLoop& loop) const {
    const SyntaxNode& place = tree_.node(update.place);
    int value = WithoutParentheses(tree_, update.at);
    while (IsConversion(tree_, value) && IsShuffled(tree_.node(value).type))
      value = WithoutParentheses(tree_, tree_.node(value).children.back());
    return NamedDeclaration(tree_, value) == loop.counter && place.kind_name == "VarDecl" && IsShuffled(place.type) &&
           !IsMemoryName(tree_, update.place) && !IsWithin(tree_, update.place, loop.parts.body) &&
           NamesOf(tree_, loop.parts.body, update.place).size() == 1;
  }

  static bool IsShuffled(const std::string& type) {
    return std::find(kShuffled.begin(), kShuffled.end(), type) != kShuffled.end();
  }

  std::optional<Accumulation> Describe(int declaration, const std::string& combine, int loop) const {
    const SyntaxNode& variable = tree_.node(declaration);
    std::string type = variable.type;
    Accumulation accumulation{declaration, combine, "", false, "", {}, -1};
    if (IsLocalArray(tree_, declaration)) {
      type = type.substr(0, type.find('['));
      const bool flat = std::count(variable.type.begin(), variable.type.end(), '[') == 1;
      if (!flat || variable.children.empty() || tree_.node(variable.children.front()).type != "int") return std::nullopt;
      accumulation.length = tree_.Text(variable.children.front());
    } else {
      accumulation.from_zero = combine == "+" && StartsAtZero(tree_, declaration, loop);
    }
    if (!IsShuffled(type)) return std::nullopt;
    return accumulation;
  }

  // Every store must go to an element that the counter selects, and the loop may read no other element of that buffer.
  bool AddStores(SharedLoop& shared) const {
    const int body = shared.counted.parts.body;
    std::map<int, std::string> element;  // by root
    for (const int node : Subtree(tree_, body)) {
      if (!IsStore(tree_, node)) continue;
      shared.stores = true;
      const int target = Assigned(tree_, node);
      if (!IsPickedBy(shared.counted.counter, body, target)) return false;
      const int root = RootOf(tree_, PointerAt(tree_, target));
      const auto [known, fresh] = element.try_emplace(root, tree_.Text(target));
      if (!fresh && known->second != tree_.Text(target)) return false;
    }
    for (const int node : Subtree(tree_, body)) {
      const int pointer = PointerAt(tree_, node);
      const auto known = pointer < 0 ? element.end() : element.find(RootOf(tree_, pointer));
      if (known != element.end() && known->second != tree_.Text(node)) return false;
      // Registers cannot be indexed: a local array whose subscript differs between threads would move to local memory.
      if (shared.stores && IsPickedLocal(shared.counted.counter, body, node)) return false;
    }
    return true;
  }

  // Whether no two iterations name the same element.
  bool IsPickedBy(int counter, int body, int target) const {
    if (tree_.node(target).kind_name != "ArraySubscriptExpr") return false;
    std::vector<int> terms;
    AddTerms(tree_.node(target).children[1], body, kLoopDepth, terms);
    if (terms.empty()) return false;
    const auto is_steady = [&](int term) { return IsInvariant(tree_, term, tree_.node(body).parent); };
    std::erase_if(terms, is_steady);
    if (terms.size() == 1 && NamedDeclaration(tree_, terms[0]) == counter) return true;
    const auto row = std::find_if(terms.begin(), terms.end(), [&](int term) { return ExtentIn(term, counter, is_steady) >= 0; });
    if (row == terms.end() || terms.size() > 2) return false;
    const int extent = ExtentIn(*row, counter, is_steady);
    terms.erase(row);
    return terms.empty() || CountsTo(terms[0], body, extent);
  }

  // Adds the operands of a sum, with the initialiser in the place of a variable that the body declares and does not change.
  void AddTerms(int expression, int body, int depth, std::vector<int>& terms) const {
    expression = WithoutParentheses(tree_, expression);
    const SyntaxNode& node = tree_.node(expression);
    if (node.kind_name == "CStyleCastExpr" && IsArithmetic(node.type)) return AddTerms(node.children.back(), body, depth, terms);
    const bool sum = tree_.Operator(expression) == "+" && node.children.size() == 2;
    const bool less = tree_.Operator(expression) == "-" && node.children.size() == 2 &&
                      IsInvariant(tree_, node.children[1], tree_.node(body).parent);
    if (sum || less) {
      AddTerms(node.children[0], body, depth, terms);
      if (sum) AddTerms(node.children[1], body, depth, terms);
      return;
    }
    const int declaration = NamedDeclaration(tree_, expression);
    const bool inside = declaration >= 0 && IsWithin(tree_, declaration, body) && tree_.node(declaration).kind_name == "VarDecl";
    const bool counts = inside && tree_.node(tree_.node(tree_.node(declaration).parent).parent).kind_name == "ForStmt";
    if (inside && !counts && depth > 0 && !tree_.node(declaration).children.empty() &&
        !WrittenIn(tree_, body).contains(declaration))
      return AddTerms(tree_.node(declaration).children.back(), body, depth - 1, terms);
    terms.push_back(expression);
  }

  // The E in `counter * E` or `E * counter`; -1 for other terms.
  template <typename IsSteady>
  int ExtentIn(int term, int counter, IsSteady is_steady) const {
    const auto& factors = tree_.node(term).children;
    if (tree_.Operator(term) != "*" || factors.size() != 2) return -1;
    for (const int side : {0, 1}) {
      int moving = WithoutParentheses(tree_, factors[static_cast<std::size_t>(side)]);
      while (tree_.node(moving).kind_name == "CStyleCastExpr")
        moving = WithoutParentheses(tree_, tree_.node(moving).children.back());
      const int other = factors[static_cast<std::size_t>(1 - side)];
      if (NamedDeclaration(tree_, moving) == counter && is_steady(other)) return other;
    }
    return -1;
  }

  // Whether a term is the counter of a loop in the body from 0 up to, and without, the extent.
  bool CountsTo(int term, int body, int extent) const {
    const int declaration = NamedDeclaration(tree_, term);
    if (declaration < 0 || !IsWithin(tree_, declaration, body)) return false;
    const auto loop = WithCountedHeader(tree_, tree_.node(tree_.node(declaration).parent).parent);
    return loop && loop->counter == declaration && loop->comparison == "<" && tree_.Text(loop->start) == "0" &&
           tree_.Text(WithoutParentheses(tree_, loop->bound)) == tree_.Text(WithoutParentheses(tree_, extent));
  }

  bool IsPickedLocal(int counter, int body, int node) const {
    if (tree_.node(node).kind_name != "ArraySubscriptExpr") return false;
    const int owner = Owner(tree_, node);
    return owner >= 0 && !IsWithin(tree_, owner, body) && NamedIn(tree_, node).contains(counter);
  }

  const SyntaxTree& tree_;
};

}  // namespace

bool StartsAtZero(const SyntaxTree& tree, int declaration, int loop) {
  const SyntaxNode& variable = tree.node(declaration);
  const int statement = variable.parent;
  if (variable.children.empty() || tree.node(statement).parent != tree.node(loop).parent) return false;
  constexpr std::array kZeros{"0"sv, "0.0f"sv, "0.f"sv, "0.0"sv, "0."sv, "0.0F"sv};
  const std::string_view initial = tree.Text(variable.children.back());
  if (std::find(kZeros.begin(), kZeros.end(), initial) == kZeros.end()) return false;
  for (const int sibling : tree.node(tree.node(loop).parent).children) {
    if (sibling == loop) return true;
    if (WrittenIn(tree, sibling).contains(declaration)) return false;
  }
  return false;
}

std::optional<SharedLoop> AsSharedLoop(const SyntaxTree& tree, int node) { return Classifier(tree).Classify(node); }

std::vector<Proposal::Change> ShareLoop(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads) {
  const CountedLoop& counted = loop.counted;
  const ForLoop& parts = counted.parts;
  std::vector<Proposal::Change> changes;
  std::string zeros;
  for (const Accumulation& accumulation : loop.accumulations) {
    if (accumulation.combine != "+" || accumulation.from_zero) continue;
    const std::string& name = tree.node(accumulation.declaration).name;
    const std::string index = FreshName(tree, "i");
    const std::string line =
        accumulation.length.empty()
            ? fmt::format("if ({} != 0) {} = 0;", threads.name, name)
            : Block(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, Parenthesised(accumulation.length)),
                    fmt::format("{0}[{1}] = {2} == 0 ? {0}[{1}] : 0;", name, index, threads.name),
                    IndentOf(tree, parts.statement));
    changes.push_back({FirstNode(tree, parts.statement), Placement::kBefore, LineBefore(tree, parts.statement, line)});
  }
  const std::string offset = counted.step == "1" ? threads.name : fmt::format("{} * {}", threads.name, counted.step);
  const std::string_view start = tree.Text(counted.start);
  const SourceRange declared{tree.node(parts.init).range.begin, tree.node(counted.start).range.begin};
  changes.push_back({parts.init, Placement::kReplace,
                     start == "0" ? fmt::format("{}{};", tree.Text(declared), offset)
                                  : fmt::format("{}{} + {};", tree.Text(declared), Parenthesised(tree, counted.start), offset)});
  const std::string step = counted.step == "1" ? threads.count : fmt::format("{} * {}", threads.count, counted.step);
  for (const int node : loop.counted_turns)
    changes.push_back({node, Placement::kReplace, fmt::format("({} / {})", tree.Text(node), threads.count)});
  changes.push_back({parts.increment, Placement::kReplace, fmt::format("{} += {}", tree.node(counted.counter).name, step)});
  return changes;
}

AroundCombining AroundCombiningOf(const SyntaxTree& tree, const Accumulation& accumulation, const RowThreads& threads) {
  const auto with = [](std::string text, std::string_view mark, const std::string& name) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) text.replace(at, mark.size(), name);
    return text;
  };
  AroundCombining around;
  for (const std::string& line : accumulation.prepare)
    around.before.push_back(with(with(line, "@count", threads.count), "@thread", threads.name));
  if (accumulation.rescale.empty()) return around;
  const SyntaxNode& variable = tree.node(accumulation.declaration);
  const std::string before = FreshName(tree, "own_" + variable.name);
  around.before.push_back(fmt::format("const {} {} = {};", variable.type, before, variable.name));
  around.after.push_back(with(accumulation.rescale, "@", before));
  return around;
}

std::string Combined(const std::string& combine, const std::string& a, const std::string& b) {
  return combine == "+" ? fmt::format("{} += {};", a, b) : fmt::format("{0} = {1}({0}, {2});", a, combine, b);
}

}  // namespace evo
