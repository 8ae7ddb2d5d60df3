#include "mutators/analysis/rows/lone_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Numbers that threads have in the place of what a loop has accumulated in each of them.
class RandomParts {
 public:
  struct How {
    std::string_view combine;  // "+", "max", "min"
    bool pair = false;         // with a sum of exponentials that fits to it
  };
  RandomParts(const std::string& type, How how, std::size_t run) : how_(how), whole_(IsIntegerType(type)) {
    // Around zero, far below and far above, so that no number with which others begin is in the way.
    const double far = how.pair ? 10 : whole_ ? 1e6 : 1e36;
    if (how.combine != "+" && run % 3 != 0) {
      middle_ = run % 3 == 1 ? -far : far;
      width_ = far / 10;
    }
    unsigned_ = type.find("unsigned") != std::string::npos;
  }

  std::vector<double> Of(std::size_t lanes, std::optional<double> begin, std::mt19937& random) const {
    std::uniform_real_distribution<double> numbers(-3, 3);
    std::vector<double> values(lanes);
    for (double& value : values) {
      value = middle_ + width_ * numbers(random);
      if (whole_) value = std::round(100 * value);
      if (unsigned_) value = std::fabs(value);
      if (begin && how_.combine == "max") value = std::max(value, *begin);
      if (begin && how_.combine == "min") value = std::min(value, *begin);
    }
    return values;
  }

  double Total(const std::vector<double>& values) const {
    if (how_.combine == "max") return *std::max_element(values.begin(), values.end());
    if (how_.combine == "min") return *std::min_element(values.begin(), values.end());
    double total = 0;
    for (const double value : values) total += value;
    return total;
  }

 private:
  How how_;
  bool whole_, unsigned_ = false;
  double middle_ = 0, width_ = 1;
};

}  // namespace

LoneState::LoneState(const SyntaxTree& tree, int kernel, const ThreadRoles& roles, std::vector<RowGroup> groups, std::string row)
    : tree_(tree), kernel_(kernel), roles_(roles), row_(std::move(row)) {
  for (RowGroup& group : groups) runs_.push_back(std::make_unique<BlockNumbers>(tree_, std::move(group)));
}

std::string LoneState::refusal() const {
  for (const auto& run : runs_) {
    if (!run->refusal().empty()) return run->refusal();
  }
  return "";
}

std::optional<std::string> LoneState::Text(int node) {
  Replacements replacements;
  for (const int at : Subtree(tree_, node)) {
    const SyntaxNode& one = tree_.node(at);
    if (one.kind_name == "MemberRefExpr" && tree_.Text(at) == "blockIdx.x") {
      if (of_warps()) return std::nullopt;
      replacements.emplace_back(at, row_);
    }
    if (roles_.IsSharedUse(at) && roles_.IsCell(at))
      replacements.emplace_back(roles_.CellNode(at), CellName(roles_.CellNode(at)));
    const auto renamed = one.kind_name == "DeclRefExpr" ? renamed_.find(one.refers_to) : renamed_.end();
    if (renamed != renamed_.end()) replacements.emplace_back(at, renamed->second);
  }
  return TextWith(tree_, node, replacements);
}

std::string LoneState::Declarations() const {
  std::string declarations;
  for (const auto& [name, type] : declared_) declarations += fmt::format("{} {};\n", type, name);
  return declarations;
}

std::string LoneState::KeyOf(int node) const {
  const int variable = tree_.node(node).kind_name == "VarDecl" ? node : NamedDeclaration(tree_, node);
  if (variable >= 0 && !IsShared(tree_, variable)) return fmt::format("variable {}", variable);
  return std::string(tree_.Text(node));
}

std::string LoneState::UnusedPlace(const std::string& wanted, int node) {
  std::string name = FreshName(tree_, wanted + "_of_row");
  while (declared_.contains(name)) name += "_2";
  declared_[name] = WithoutConst(tree_.node(node).type);
  return name;
}

const std::string& LoneState::CellName(int cell) {
  Value& value = values_[KeyOf(cell)];
  if (!value.name.empty()) return value.name;
  std::string name;
  for (const char c : tree_.Text(cell)) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  while (name.ends_with("_")) name.pop_back();
  value.node = cell;
  value.name = UnusedPlace(name, cell);
  return value.name;
}

bool LoneState::IsLike(int node, bool reads) {
  const auto value = values_.find(KeyOf(node));
  if (value == values_.end() || value->second.numbers.empty()) return false;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (!runs_[run]->Has(node, value->second.numbers[run], value->second.of_all, reads)) return false;
  }
  return true;
}

bool LoneState::ReadsAlike(int node, std::string* why) {
  const auto refuse = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return false;
  };
  std::map<std::string, int> written;  // from which node on
  for (const int at : Subtree(tree_, node)) {
    const SyntaxNode& one = tree_.node(at);
    if (one.opaque) return refuse(fmt::format("{} is not understood", Quoted(tree_, node)));
    if (one.kind_name != "DeclRefExpr" || one.refers_to < 0) continue;
    const bool shared = roles_.IsSharedUse(at);
    if (shared && !roles_.IsCell(at)) return refuse(fmt::format("{} is not understood", Quoted(tree_, node)));
    const int target = shared ? roles_.CellNode(at) : at, assignment = tree_.node(target).parent;
    if (!shared && !tracked_.contains(one.refers_to)) continue;
    const std::string key = KeyOf(target);
    if (target != node && tree_.Operator(assignment) == "=" && IsAssignment(tree_, assignment) &&
        tree_.node(assignment).children.front() == target) {
      if (IsUnconditional(tree_, assignment, node)) written.emplace(key, tree_.EndOf(assignment));
      continue;
    }
    if (const auto before = written.find(key); before != written.end() && before->second <= at) continue;
    if (IsLike(shared ? target : one.refers_to, why != nullptr)) continue;
    if (const std::string refusal = this->refusal(); !refusal.empty()) return refuse(refusal);
    return refuse(fmt::format("`{}` differs between threads in {}", tree_.Text(target), Quoted(tree_, node)));
  }
  return true;
}

void LoneState::SetAlike(int node, int value) {
  const bool variable = tree_.node(node).kind_name == "VarDecl";
  if (variable) tracked_.insert(node);
  const std::string name = !variable ? CellName(node) : renamed_.contains(node) ? renamed_.at(node) : tree_.node(node).name;
  // A copy of what is known is known.
  const int from = value < 0 ? -1 : WithoutParentheses(tree_, value);
  const auto source = from < 0 ? values_.end() : values_.find(KeyOf(from));
  const int named = from < 0 ? -1 : NamedDeclaration(tree_, from);
  const bool same_type = from >= 0 && WithoutConst(tree_.node(from).type) == WithoutConst(tree_.node(node).type);
  if (source != values_.end() && same_type && source->second.node != node &&
      IsLike(named >= 0 && !IsShared(tree_, named) ? named : from, false)) {
    for (const auto& run : runs_) run->Copy(node, value);
    const Value copied = source->second;
    values_[KeyOf(node)] = {node, name, copied.of_all, copied.stands_for, copied.numbers};
    return;
  }
  std::uniform_real_distribution<double> any(-3, 3);
  std::vector<double> numbers;
  for (const auto& run : runs_) {
    const auto number = value < 0 ? std::nullopt : run->ConstantOf(value);
    if (number) numbers.push_back(*number);
  }
  const bool stands_for = numbers.size() != runs_.size();
  if (stands_for) {
    numbers.resize(runs_.size());
    for (double& number : numbers) number = any(random_);
  }
  for (std::size_t run = 0; run < runs_.size(); ++run) runs_[run]->SetSame(node, numbers[run], stands_for);
  values_[KeyOf(node)] = {node, name, false, stands_for, std::move(numbers)};
}

void LoneState::SetUnset(int variable) {
  Declare(variable);
  tracked_.insert(variable);
  values_[KeyOf(variable)] = {variable, tree_.node(variable).name, false, false, {}};
}

std::optional<std::vector<double>> LoneState::BeginOf(int variable) const {
  const auto begin = values_.find(KeyOf(variable));
  if (begin == values_.end() || begin->second.numbers.empty() || begin->second.stands_for || begin->second.of_all)
    return std::nullopt;
  return begin->second.numbers;
}

bool LoneState::SetTotals(const SharedLoop& loop, std::string& why) {
  const auto from_zero = [&](int variable) {
    const auto begin = BeginOf(variable);
    why = fmt::format("`{}` does not begin with 0", tree_.node(variable).name);
    return begin && std::all_of(begin->begin(), begin->end(), [](double number) { return number == 0; });
  };
  for (std::size_t i = 0; i < loop.accumulations.size(); ++i) {
    const Accumulation& one = loop.accumulations[i];
    const int variable = one.declaration;
    const bool max = one.combine.find("max") != std::string::npos, min = one.combine.find("min") != std::string::npos;
    const bool pair = !one.rescale.empty() && i + 1 < loop.accumulations.size();
    const bool known = one.combine == "+" || max || min;
    why = fmt::format("`{}` is no sum and no extreme", tree_.node(variable).name);
    if (!one.length.empty() || one.place >= 0 || !one.prepare.empty() || !known || pair == one.rescale.empty()) return false;
    if (one.combine == "+" && !from_zero(variable)) return false;
    if (pair && !from_zero(loop.accumulations[i + 1].declaration)) return false;
    const auto begin = BeginOf(variable);
    const bool two = one.rescale.find("exp2") != std::string::npos;
    std::vector<std::vector<double>> own, sums;
    std::vector<double> totals, sums_of_all;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const RandomParts parts(tree_.node(variable).type, {max ? "max" : min ? "min" : "+", pair}, run);
      own.push_back(parts.Of(runs_[run]->group().lanes(), begin ? std::optional((*begin)[run]) : std::nullopt, random_));
      totals.push_back(parts.Total(own.back()));
      std::uniform_real_distribution<double> positive(0.5, 4);
      sums.emplace_back();
      sums_of_all.push_back(0);
      for (const double number : own.back()) {
        const double above = number - totals.back();
        sums.back().push_back(positive(random_));
        sums_of_all.back() += sums.back().back() * (two ? std::exp2(above) : std::exp(above));
      }
    }
    SetTotal(variable, own, std::move(totals));
    if (pair) SetTotal(loop.accumulations[++i].declaration, sums, std::move(sums_of_all));
  }
  why.clear();
  return true;
}

void LoneState::SetTotal(int variable, const std::vector<std::vector<double>>& own, std::vector<double> totals) {
  for (std::size_t run = 0; run < runs_.size(); ++run) runs_[run]->SetOwn(variable, own[run]);
  tracked_.insert(variable);
  const std::string name = renamed_.contains(variable) ? renamed_.at(variable) : tree_.node(variable).name;
  values_[KeyOf(variable)] = {variable, name, true, false, std::move(totals)};
}

}  // namespace evo
