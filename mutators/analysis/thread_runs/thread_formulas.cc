#include "mutators/analysis/thread_runs/thread_formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_memory.h"

namespace evo {
namespace {

// What stands for a number of which only the formula counts.
constexpr double kOpenNumber = 0.37;

constexpr std::array<std::string_view, 22> kMoreFunctions{
    "powf",  "pow",    "sinf",  "sin",    "cosf",  "cos",   "tanf", "tan",    "atanf", "atan",  "atan2f",
    "atan2", "hypotf", "hypot", "floorf", "floor", "ceilf", "ceil", "roundf", "round", "rintf", "rint"};

}  // namespace

FormulaPointer ThreadFormulas::Of(const ThreadValue& value, int expression) const {
  if (value.kind == ThreadValue::Kind::kReal) return value.formula;
  if (value.kind != ThreadValue::Kind::kInteger) return nullptr;
  const std::string type = WithoutConst(tree_.node(expression).type);
  return FormulaInteger(IsFormulaType(type) ? type : "int", value.integer);
}

ThreadValue ThreadFormulas::Value(FormulaPointer formula, int expression) {
  if (!formula) {
    refusal_.Add(fmt::format("{}, which is not understood", Quoted(tree_, expression)));
    return {};
  }
  ThreadValue value = ThreadValue::Real(kOpenNumber);
  value.formula = std::move(formula);
  return value;
}

ThreadValue ThreadFormulas::Binary(std::string_view spelled, const ThreadValue& left, int left_node, const ThreadValue& right,
                                   int right_node, int expression) {
  if (left.kind == ThreadValue::Kind::kPointer || right.kind == ThreadValue::Kind::kPointer) {
    refusal_.Add(fmt::format("elements decide where {} is", Quoted(tree_, expression)));
    return {};
  }
  return Value(FormulaOperator(spelled, Of(left, left_node), Of(right, right_node)), expression);
}

void ThreadFormulas::AddBinary(ThreadValue& computed, std::string_view spelled, const ThreadValue& left, int left_node,
                               const ThreadValue& right, int right_node) const {
  if (computed.kind != ThreadValue::Kind::kReal) return;
  computed.formula = FormulaOperator(spelled, Of(left, left_node), Of(right, right_node));
}

ThreadValue ThreadFormulas::Unary(char spelled, const ThreadValue& value, int expression) {
  return Value(FormulaUnary(spelled, value.formula), expression);
}

ThreadValue ThreadFormulas::Choice(const ThreadValue& condition, int condition_node, const ThreadValue& holds, int holds_node,
                                   const ThreadValue& fails, int fails_node, int expression) {
  return Value(FormulaChoice(Of(condition, condition_node), Of(holds, holds_node), Of(fails, fails_node)), expression);
}

ThreadValue ThreadFormulas::Called(const ThreadCallee& callee, const ThreadArguments& arguments, std::span<const int> nodes,
                                   int expression) {
  using enum ThreadCallee::Kind;
  const bool known = callee.kind == kFunction || callee.kind == kAbsolute || callee.kind == kLargest ||
                     callee.kind == kSmallest || callee.kind == kDivide || callee.kind == kMultiply || callee.kind == kAdd ||
                     callee.kind == kFused ||
                     std::find(kMoreFunctions.begin(), kMoreFunctions.end(), callee.name) != kMoreFunctions.end();
  if (!known || arguments.size() != nodes.size()) {
    refusal_.Add(fmt::format("it calls {}, which is not known", callee.name));
    return {};
  }
  std::vector<FormulaPointer> parts;
  for (std::size_t i = 0; i < arguments.size(); ++i) parts.push_back(Of(arguments[i], nodes[i]));
  return Value(FormulaCall(WithoutConst(tree_.node(expression).type), callee.name, std::move(parts)), expression);
}

void ThreadFormulas::Convert(ThreadValue& converted, const ThreadValue& value, const std::string& type, int expression) {
  if (converted.kind != ThreadValue::Kind::kReal && !IsOpen(value)) return;
  const FormulaPointer of = Of(value, expression);
  if (!of) return;
  converted = Value(FormulaCast(of, WithoutConst(type)), expression);
}

ThreadValue UnsetNumber(const SyntaxTree& tree, int declaration) {
  const std::string& declared = tree.node(declaration).type;
  const std::string type = WithoutConst(declared.substr(0, declared.find_last_not_of(' ', declared.find('[') - 1) + 1));
  if (!IsFormulaType(type)) return {};
  auto* const formula = new ThreadFormula;
  formula->type = type;
  formula->spelled = tree.node(declaration).name;
  formula->memory = declaration;
  formula->known = false;
  formula->unset = true;
  ThreadValue value = ThreadValue::Real(kOpenNumber);
  value.formula = formula;
  return value;
}

// An element whose formula alone counts. Elements of constant memory are named.
ThreadValue ThreadMemory::LoadFormula(const ThreadPlace& place) {
  const std::string type = tree_.node(place.memory).type;
  ThreadValue value = ThreadValue::Real(kOpenNumber);
  if (code_.variable(place.memory).constant) {
    std::string indices;
    std::int64_t rest = place.index;
    const auto& extents = code_.variable(place.memory).extents;
    for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
      if (rest < 0 || *extent <= 0) return Refuse(fmt::format("an element of {}", tree_.node(place.memory).name));
      indices = fmt::format("[{}]", extent + 1 == extents.rend() ? rest : rest % *extent) + indices;
      rest /= *extent;
    }
    value.formula = FormulaLeaf(WithoutConst(type.substr(0, type.find_last_not_of(' ', type.find('[') - 1) + 1)),
                                tree_.node(place.memory).name + indices, false);
    return value;
  }
  value.formula = FormulaElement(PointedTo(tree_, place.memory), place.memory, place.index);
  trace_.reads[place.memory].try_emplace(place.index);
  return value;
}

}  // namespace evo
