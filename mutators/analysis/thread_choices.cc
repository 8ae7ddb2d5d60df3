#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_statements.h"

namespace evo {

// Takes the thread through both parts. A variable that they leave different has the one or the other value.
ThreadStatements::Flow ThreadStatements::ExecuteBoth(int statement, const ThreadValue& condition) {
  const auto& parts = tree_.node(statement).children;
  const int only = OnlyStatement(tree_, parts[1]), then = only < 0 ? parts[1] : only;
  if (tree_.node(then).kind_name == "ReturnStmt") {
    const auto& returned = tree_.node(then).children;
    if (functions_ == 0 || returned.empty()) return Refuse("elements decide whether it ends");
    const ThreadValue value = expressions_.Evaluate(returned.front());
    const FormulaPointer formula = expressions_.formulas().Of(value, returned.front());
    if (!formula) return Refuse(fmt::format("{}, which is not understood", Quoted(tree_, then)));
    returning_.push_back({condition.formula, formula});
    memory_.SetLimit(ThreadMemory::Limit::kLocals);  // what comes now is done in some cases only
    return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
  }
  const ThreadMemory::Locals before = memory_.locals();
  const auto stored = trace_.stores;
  const ThreadMemory::Limit limit = memory_.limit();
  if (limit == ThreadMemory::Limit::kNone) memory_.SetLimit(ThreadMemory::Limit::kOwn);
  const std::size_t returns = returning_.size();
  const Flow first = Execute(parts[1]);
  const ThreadMemory::Locals holds = std::exchange(memory_.locals(), before);
  const auto stored_then = std::exchange(trace_.stores, stored);
  const Flow second = parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
  memory_.SetLimit(limit);
  if (refusal_.given()) return Flow::kReturn;
  if (first != Flow::kOn || second != Flow::kOn || returning_.size() != returns)
    return Refuse("elements decide with which statement it goes on");
  Merge(holds, condition);
  MergeStores(stored_then, condition);
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

void ThreadStatements::Merge(const ThreadMemory::Locals& holds, const ThreadValue& condition) {
  ThreadMemory::Locals& fails = memory_.locals();
  for (std::size_t slot = 0; slot < fails.variables.size(); ++slot) {
    const std::string& type = tree_.node(code_.variable_at(slot).declaration).type;
    bool merged = MergeValue(fails.variables[slot], holds.variables[slot], type, condition);
    const std::string element = type.substr(0, type.find_last_not_of(' ', type.find('[') - 1) + 1);
    const std::size_t elements = fails.arrays[slot].size();
    merged = merged && holds.arrays[slot].size() == elements;
    for (std::size_t i = 0; merged && i < elements; ++i)
      merged = MergeValue(fails.arrays[slot][i], holds.arrays[slot][i], element, condition);
    const int declaration = code_.variable_at(slot).declaration;
    if (!merged) return refusal_.Add(fmt::format("elements decide what {} is", tree_.node(declaration).name));
  }
}

// Elements that are stored in both cases, or have been stored before.
void ThreadStatements::MergeStores(const StoredElements& holds, const ThreadValue& condition) {
  for (const auto& [buffer, elements] : holds) {
    for (const auto& [index, access] : elements) {
      ThreadTrace::Access& fails = trace_.stores[buffer][index];
      if (!fails.formula) return refusal_.Add("elements decide whether it stores");
      if (fails.formula != access.formula)
        fails.formula = FormulaChoice(condition.formula, access.formula, fails.formula);
      if (!fails.formula) return refusal_.Add("what elements decide that it stores is not understood");
    }
  }
  for (const auto& [buffer, elements] : trace_.stores) {
    const auto others = holds.find(buffer);
    const bool all = others != holds.end() && others->second.size() == elements.size();
    if (!all) return refusal_.Add("elements decide whether it stores");
  }
}

// False if the values differ and are no numbers of this type.
bool ThreadStatements::MergeValue(ThreadValue& fails, const ThreadValue& holds, const std::string& type,
                                  const ThreadValue& condition) {
  const bool same = fails.kind == holds.kind && fails.formula == holds.formula && fails.integer == holds.integer &&
                    fails.real == holds.real && fails.memory == holds.memory && fails.parts == holds.parts;
  if (same) return true;
  // A variable of one of the parts alone.
  if (fails.kind == ThreadValue::Kind::kNone || holds.kind == ThreadValue::Kind::kNone) return fails = {}, true;
  const std::string number = WithoutConst(type);
  const auto formula_of = [&](const ThreadValue& value) -> FormulaPointer {
    if (value.formula) return FormulaCast(value.formula, number);
    return value.kind == ThreadValue::Kind::kInteger ? FormulaInteger(number, value.integer) : nullptr;
  };
  FormulaPointer merged =
      IsFormulaType(number) ? FormulaChoice(condition.formula, formula_of(holds), formula_of(fails)) : nullptr;
  if (!merged) return false;
  fails = ThreadValue::Real(0);
  fails.formula = std::move(merged);
  return true;
}

ThreadValue ThreadStatements::RunWithFormulas(int body) {
  returned_ = {};
  std::vector<Returning> outer = std::exchange(returning_, {});
  const ThreadMemory::Limit limit = memory_.limit();
  ++functions_;
  Execute(body);
  --functions_;
  memory_.SetLimit(limit);
  std::vector<Returning> returning = std::exchange(returning_, std::move(outer));
  ThreadValue result = std::exchange(returned_, {});
  if (returning.empty() || refusal_.given()) return result;
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
