#include "kernel_templates/argument_planner.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "core/error.h"

namespace evo {

TensorMapUse ArgumentPlanner::PlanMap(const TensorMapDirective& map) const {
  scope_.CheckNew(map.name, "tensor map");
  try {
    if (const Workspace* workspace = scope_.FindWorkspace(map.buffer))
      return PlanTensorMap(map, workspace->dtype, scope_.ShapeOf(*workspace).elements, scope_.variables());
    const Argument* argument = scope_.FindArgument(map.buffer);
    if (argument == nullptr || argument->role == Role::kScalar)
      throw Error(fmt::format("'{}' is neither an argument nor a workspace", map.buffer));
    return PlanTensorMap(map, argument->dtype, scope_.ShapeOf(*argument).elements, scope_.variables());
  } catch (const Error& error) {
    throw Error(fmt::format("tensor map {}: {}", map.name, error.what()));
  }
}

LaunchArgument ArgumentPlanner::Plan(const std::string& text) const {
  for (const TensorMapDirective& map : rendered_.tensor_maps) {
    if (map.name == text) return PlanMap(map);
  }
  const LaunchArgumentText argument = ParseLaunchArgument(text);
  if (argument.kind != LaunchArgumentText::Kind::kStruct)
    return std::visit([](auto&& use) { return LaunchArgument(std::move(use)); }, PlanField(argument));
  StructUse use;
  for (const LaunchArgumentText& field : argument.fields) use.fields.push_back(PlanField(field));
  return use;
}

std::variant<BufferUse, ScalarUse> ArgumentPlanner::PlanField(const LaunchArgumentText& written) const {
  const std::string& text = written.text;
  if (written.kind == LaunchArgumentText::Kind::kCast) return PlanCast(written);
  if (scope_.FindWorkspace(text) != nullptr) return BufferUse{scope_.Current(text)};
  if (const Argument* argument = scope_.FindArgument(text)) {
    if (argument->role != Role::kScalar) return BufferUse{scope_.Current(text)};
    return ScalarUse{argument->dtype, scope_.variables().at(text)};
  }
  const Number value = ValueOf(text);
  if (value.is_real)
    throw Error(fmt::format("argument '{0}' is a real number, and expressions are passed as int; write f32({0})", text));
  if (value.integer < std::numeric_limits<std::int32_t>::min() || value.integer > std::numeric_limits<std::int32_t>::max()) {
    throw Error(fmt::format("argument '{0}' is {1}, which does not fit an int; write i64({0}) if the kernel takes one", text,
                            value.integer));
  }
  return ScalarUse{Dtype::kI32, value};
}

ScalarUse ArgumentPlanner::PlanCast(const LaunchArgumentText& written) const {
  const Number value = ValueOf(written.text);
  if (written.type.boolean) return {Dtype::kU8, Number::Integer(value.AsReal() != 0 ? 1 : 0)};
  return {written.type.dtype, value};
}

Number ArgumentPlanner::ValueOf(const std::string& text) const {
  try {
    return Expression::Parse(text).Evaluate(scope_.variables());
  } catch (const Error& error) {
    throw Error(fmt::format("argument '{}' is neither an argument of the task nor a workspace nor an expression: {}", text,
                            error.what()));
  }
}

}  // namespace evo
