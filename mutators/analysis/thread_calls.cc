#include <fmt/format.h>

#include <utility>
#include <vector>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_expressions.h"
#include "mutators/analysis/thread_vectors.h"

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
      values.push_back(EvaluateAs(call.parameters[i].type, call.arguments[i]));
      continue;
    }
    const ThreadPlace place = PlaceOf(call.arguments[i]);
    const bool plain = place.component < 0 && (place.variable >= 0 || place.memory >= 0);
    if (!plain || setting_.addresses || setting_.symbolic || call.parameters[i].type == ThreadType::kOther)
      return refuse("{} takes references");
    for (const auto& [parameter, other] : references) {
      if (other.variable == place.variable && other.memory == place.memory && other.index == place.index)
        return refuse("{} takes references");
    }
    const ThreadValue* const known = place.variable >= 0 ? memory_.ValueAt(place) : nullptr;
    values.push_back(known != nullptr ? *known : place.variable >= 0 ? ThreadValue{} : memory_.Load(place));
    references.emplace_back(call.parameters[i].declaration, place);
  }
  for (std::size_t i = values.size(); i < call.parameters.size(); ++i) {
    const auto& children = tree_.node(call.parameters[i].declaration).children;
    if (children.empty() || call.parameters[i].changes) return refuse("the arguments of {}");
    values.push_back(EvaluateAs(call.parameters[i].type, children.back()));
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
  return arithmetic_.Converted(std::move(returned), call.returned);
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
  return refusal_.given() ? ThreadValue{} : arithmetic_.Called(call.callee, values);
}

}  // namespace evo
