#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_atomics.h"
#include "mutators/analysis/thread_runs/thread_expressions.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

// How deep functions of the source call each other.
constexpr int kMostCalls = 6;

}  // namespace

ThreadValue ThreadExpressions::CallDefined(const ThreadCall& call) {
  const auto refuse = [&](std::string_view format) {
    return Refuse(fmt::format(fmt::runtime(format), tree_.node(call.function).name));
  };
  if (call.body < 0 || depth_ >= kMostCalls) return refuse("the function {}");
  if (call.parameters.size() < call.arguments.size()) return refuse("the arguments of {}");
  ThreadArguments values;
  // What a reference refers to is copied, and copied back: no two of a call may refer to the same.
  std::vector<std::pair<int, ThreadPlace>> references;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.parameters[i].changes) {
      const int declared = call.parameters[i].declaration;
      values.push_back(EvaluateAs(call.parameters[i].type, call.arguments[i], tree_.node(declared).type));
      continue;
    }
    const ThreadPlace place = PlaceOf(call.arguments[i]);
    const bool plain = place.component < 0 && (place.variable >= 0 || place.memory >= 0);
    const bool number =
        call.parameters[i].type != ThreadType::kOther || code_.variable(call.parameters[i].declaration).structure >= 0;
    if (!plain || setting_.addresses || setting_.symbolic || !number) return refuse("{} takes references");
    for (const auto& [parameter, other] : references) {
      if (other.variable == place.variable && other.memory == place.memory && other.index == place.index)
        return refuse("{} takes references");
    }
    const ThreadValue* const known = place.variable >= 0 ? memory_.ValueAt(place) : nullptr;
    values.push_back(known != nullptr      ? *known
                     : place.variable >= 0 ? ThreadValue{}
                                           : vectors_.LoadAt(place, code_.At(call.arguments[i])));
    references.emplace_back(call.parameters[i].declaration, place);
  }
  for (std::size_t i = values.size(); i < call.parameters.size(); ++i) {
    const auto& children = tree_.node(call.parameters[i].declaration).children;
    if (children.empty() || call.parameters[i].changes) return refuse("the arguments of {}");
    values.push_back(EvaluateAs(call.parameters[i].type, children.back(), tree_.node(call.parameters[i].declaration).type));
  }
  if (refusal_.given()) return {};
  for (std::size_t i = 0; i < values.size(); ++i) memory_.Variable(call.parameters[i].declaration) = std::move(values[i]);
  ++depth_;
  const bool compared = memory_.SetCompared(call.compares);
  ThreadValue returned = bodies_.RunBody(call.body);
  memory_.SetCompared(compared);
  --depth_;
  for (const auto& [parameter, place] : references) {
    if (!refusal_.given()) memory_.Store(place, memory_.Variable(parameter));
  }
  if (refusal_.given()) return {};
  if (!setting_.formulas) return arithmetic_.Converted(std::move(returned), call.returned);
  const std::string& type = tree_.node(call.function).type;
  return Converted(returned, call.returned, type.substr(0, type.find(" (")), call.body);
}

ThreadValue ThreadExpressions::CallKnown(const ThreadCall& call, int expression) {
  if (call.callee.kind == ThreadCallee::Kind::kLoad && call.arguments.size() == 1) {
    ThreadValue pointer = Evaluate(call.arguments.front());
    if (pointer.kind != ThreadValue::Kind::kPointer) return {};
    return vectors_.LoadAt({-1, pointer.memory, pointer.integer, std::move(pointer.form), expression}, code_.At(expression));
  }
  ThreadArguments values;
  for (const int argument : call.arguments) values.push_back(Evaluate(argument));
  if (refusal_.given()) return {};
  if (values.size() == 1 && call.callee.kind == ThreadCallee::Kind::kBitsOfFloat)
    return BitsOfFloat(values.front(), call.callee.name == "__float_as_int");
  if (values.size() == 1 && call.callee.kind == ThreadCallee::Kind::kFloatOfBits) return FloatOfBits(values.front());
  if (!setting_.addresses) {
    if (auto made = VectorCalled(arithmetic_, call.callee.name, values)) return *std::move(made);
  }
  if (refusal_.given()) return {};
  if (std::any_of(values.begin(), values.end(), ThreadFormulas::IsOpen))
    return formulas().Called(call.callee, values, call.arguments, expression);
  ThreadValue value = arithmetic_.Called(call.callee, values);
  if (setting_.formulas && value.kind == ThreadValue::Kind::kReal)
    return formulas().Called(call.callee, values, call.arguments, expression);
  return value;
}

// `a ? b : c`, `a && b`, `a || b`.
ThreadValue ThreadExpressions::Choose(const ThreadNode& node, int expression) {
  const bool conditional = node.expression == ThreadNode::Expression::kConditional;
  const bool is_and = node.expression == ThreadNode::Expression::kAnd;
  const auto& [first, second, third] = node.parts;
  if (!setting_.formulas) {
    if (conditional) return Evaluate(IsTrue(first) ? second : third);
    const bool holds = is_and ? IsTrue(first) && IsTrue(second) : IsTrue(first) || IsTrue(second);
    return ThreadValue::Integer(holds ? 1 : 0);
  }
  const ThreadValue left = Evaluate(first);
  if (refusal_.given()) return {};
  if (!ThreadFormulas::IsOpen(left)) {
    if (conditional) {
      // Both sides are converted to the same type.
      const int taken = IsTrue(left) ? second : third;
      const std::string& type = tree_.node(expression).type;
      return Converted(Evaluate(taken), ThreadTypeOf(type), type, taken);
    }
    if (IsTrue(left) != is_and) return ThreadValue::Integer(is_and ? 0 : 1);
    const ThreadValue right = Evaluate(second);
    if (!ThreadFormulas::IsOpen(right)) return ThreadValue::Integer(IsTrue(right) ? 1 : 0);
    return formulas().Value(FormulaCast(right.formula, "bool"), expression);
  }
  const ThreadValue right = Evaluate(second);
  if (conditional) {
    const ThreadValue fails = Evaluate(third);
    return refusal_.given() ? ThreadValue{} : formulas().Choice(left, first, right, second, fails, third, expression);
  }
  if (refusal_.given()) return {};
  return formulas().Value(FormulaOperator(is_and ? "&&" : "||", left.formula, formulas().Of(right, second)), expression);
}

ThreadValue ThreadExpressions::Converted(const ThreadValue& value, ThreadType type, const std::string& spelled, int expression) {
  if (refusal_.given()) return value;
  ThreadValue converted = ThreadFormulas::IsOpen(value) ? value : arithmetic_.Converted(value, type);
  if (value.IsNumber()) formulas().Convert(converted, value, spelled, expression);
  return converted;
}

ThreadValue ThreadExpressions::Call(const ThreadNode& node, int expression) {
  const ThreadCall& call = code_.call(node.detail);
  if (call.of_file) return CallDefined(call);
  if (call.callee.kind == ThreadCallee::Kind::kNothing && !setting_.addresses) return ThreadValue::Integer(0);
  // What changes memory is no function of its arguments.
  if (call.callee.is_atomic() && setting_.formulas)
    return Refuse(fmt::format("{} changes memory by an atomic operation", Quoted(tree_, expression)));
  if (call.callee.is_atomic() && !setting_.addresses && !call.arguments.empty()) {
    const ThreadType type = ThreadTypeOf(PointedThreadType(tree_.node(call.arguments[0]).type));
    ThreadArguments values;
    for (const int argument : call.arguments) values.push_back(Evaluate(argument));
    if (refusal_.given()) return {};
    auto updated = AtomicCalled(arithmetic_, memory_, {call.callee.kind, type, call.arguments[0]}, values);
    if (updated || refusal_.given()) return updated ? *std::move(updated) : ThreadValue{};
  }
  if (setting_.exchange != nullptr) {
    if (auto together = CallTogether(call.callee, call.arguments)) return *std::move(together);
    if (refusal_.given()) return {};
  }
  if (!call.callee.name.empty() && !call.callee.name.starts_with("operator") && !call.arguments.empty()) {
    ThreadValue value = CallKnown(call, expression);
    if (value.kind != ThreadValue::Kind::kNone || refusal_.given()) return value;
    if (setting_.addresses && (node.real || node.vector)) return ThreadValue::Real(kSomeNumber);
    return Refuse(fmt::format("it calls {}, which is not known", call.callee.name));
  }
  // A constructor or a conversion of one value.
  if (call.arguments.empty()) return EvaluateAs(node.type, tree_.node(expression).children.front(), tree_.node(expression).type);
  return NotUnderstood(expression);
}

}  // namespace evo
