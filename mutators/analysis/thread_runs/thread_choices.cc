#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_statements.h"

namespace evo {
namespace {

using StoredElements = std::map<int, std::map<std::int64_t, ThreadTrace::Access>>;

// A variable's value that is `holds` under a condition, else `fails`, which becomes both. False if they differ and are no numbers
// of this type.
bool MergeValue(ThreadValue& fails, const ThreadValue& holds, const std::string& type, const FormulaPointer& condition) {
  const bool same = fails.kind == holds.kind && fails.formula == holds.formula && fails.integer == holds.integer &&
                    fails.real == holds.real && fails.memory == holds.memory && fails.parts == holds.parts;
  if (same) return true;
  // A variable of one of the parts alone.
  if (fails.kind == ThreadValue::Kind::kNone || holds.kind == ThreadValue::Kind::kNone) return fails = {}, true;
  const std::string number = WithoutConst(type);
  const auto formula_of = [&](const ThreadValue& value) -> FormulaPointer {
    if (value.kind == ThreadValue::Kind::kInteger) return FormulaInteger(number, value.integer);
    return value.formula ? FormulaCast(value.formula, number) : nullptr;
  };
  FormulaPointer merged = IsFormulaType(number) ? FormulaChoice(condition, formula_of(holds), formula_of(fails)) : nullptr;
  if (!merged) return false;
  fails = ThreadValue::Real(0);
  fails.formula = std::move(merged);
  return true;
}

// The same of all locals. The declaration of one of which it cannot be; -1 if there is none.
int MergeLocals(const SyntaxTree& tree, const ThreadCode& code, ThreadMemory::Locals& fails, const ThreadMemory::Locals& holds,
                const FormulaPointer& condition) {
  for (std::size_t slot = 0; slot < fails.variables.size(); ++slot) {
    const int declaration = code.variable_at(slot).declaration;
    const std::string& type = tree.node(declaration).type;
    bool merged = MergeValue(fails.variables[slot], holds.variables[slot], type, condition);
    const std::string element = type.substr(0, type.find_last_not_of(' ', type.find('[') - 1) + 1);
    const std::size_t elements = fails.arrays[slot].size();
    merged = merged && holds.arrays[slot].size() == elements;
    for (std::size_t i = 0; merged && i < elements; ++i)
      merged = MergeValue(fails.arrays[slot][i], holds.arrays[slot][i], element, condition);
    if (!merged) return declaration;
  }
  return -1;
}

// Elements that are stored in both cases, or have been stored before. False if some are stored in one case only.
bool MergeStores(StoredElements& fails, const StoredElements& holds, const FormulaPointer& condition) {
  for (const auto& [buffer, elements] : holds) {
    for (const auto& [index, access] : elements) {
      ThreadTrace::Access& other = fails[buffer][index];
      if (!other.formula) return false;
      if (other.formula != access.formula) other.formula = FormulaChoice(condition, access.formula, other.formula);
      if (!other.formula) return false;
    }
  }
  return std::all_of(fails.begin(), fails.end(), [&](const auto& stored) {
    const auto others = holds.find(stored.first);
    return others != holds.end() && others->second.size() == stored.second.size();
  });
}

}  // namespace

// Takes the thread through both parts. A variable that they leave different has the one or the other value.
ThreadStatements::Flow ThreadStatements::ExecuteBoth(int statement, const ThreadValue& condition) {
  const auto& parts = tree_.node(statement).children;
  const int only = OnlyStatement(tree_, parts[1]), then = only < 0 ? parts[1] : only;
  if (tree_.node(then).kind_name == "ReturnStmt") {
    const auto& returned = tree_.node(then).children;
    if (running_.functions == 0 || returned.empty()) return Refuse("elements decide whether it ends");
    const ThreadValue value = expressions_.Evaluate(returned.front());
    const FormulaPointer formula = expressions_.formulas().Of(value, returned.front());
    if (!formula) return Refuse(fmt::format("{}, which is not understood", Quoted(tree_, then)));
    running_.returning.push_back({condition.formula, formula});
    memory_.SetLimit(ThreadMemory::Limit::kLocals);  // what comes now is done in some cases only
    return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
  }
  const ThreadMemory::Locals before = memory_.locals();
  const StoredElements stored = trace_.stores;
  const ThreadMemory::Limit limit = memory_.limit();
  if (limit == ThreadMemory::Limit::kNone) memory_.SetLimit(ThreadMemory::Limit::kOwn);
  const std::size_t returns = running_.returning.size();
  const Flow first = Execute(parts[1]);
  const ThreadMemory::Locals holds = std::exchange(memory_.locals(), before);
  const StoredElements stored_then = std::exchange(trace_.stores, stored);
  const Flow second = parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
  memory_.SetLimit(limit);
  if (refusal_.given()) return Flow::kReturn;
  if (first != Flow::kOn || second != Flow::kOn || running_.returning.size() != returns)
    return Refuse("elements decide with which statement it goes on");
  const int unmerged = MergeLocals(tree_, code_, memory_.locals(), holds, condition.formula);
  if (unmerged >= 0) return Refuse(fmt::format("elements decide what {} is", tree_.node(unmerged).name));
  if (!MergeStores(trace_.stores, stored_then, condition.formula)) return Refuse("elements decide whether it stores");
  return Flow::kOn;
}

ThreadValue ThreadStatements::RunBody(int body) {
  returned_ = {};
  std::vector<Returning> outer = std::exchange(running_.returning, {});
  const ThreadMemory::Limit limit = memory_.limit();
  ++running_.functions;
  Execute(body);
  --running_.functions;
  memory_.SetLimit(limit);
  const std::vector<Returning> returning = std::exchange(running_.returning, std::move(outer));
  ThreadValue result = std::exchange(returned_, {});
  if (returning.empty() || refusal_.given()) return result;
  // What it returns behind those that elements decide.
  const SyntaxNode& function = tree_.node(tree_.node(body).parent);
  const bool changes = std::any_of(function.children.begin(), function.children.end(), [&](int child) {
    const SyntaxNode& parameter = tree_.node(child);
    return parameter.kind_name == "ParmDecl" && parameter.type.find_first_of("&*") != std::string::npos;
  });
  const std::string type = function.type.substr(0, function.type.find(" ("));
  FormulaPointer value = result.formula ? FormulaCast(result.formula, type) : nullptr;
  for (auto one = returning.rbegin(); one != returning.rend(); ++one)
    value = FormulaChoice(one->condition, FormulaCast(one->value, type), value);
  if (!value || changes) {
    refusal_.Add(fmt::format("elements decide what {} returns", function.name));
    return {};
  }
  result = ThreadValue::Real(0);
  result.formula = std::move(value);
  return result;
}

}  // namespace evo
