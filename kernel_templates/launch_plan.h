#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// A buffer that a launch uses: an argument of the task or a workspace of the template, by name.
struct BufferUse {
  std::string name;
  bool operator==(const BufferUse&) const = default;
};

// A scalar argument of the task with its dtype, or an integer expression, which is passed as an int.
struct ScalarUse {
  Dtype dtype = Dtype::kI32;
  Number value;
  bool operator==(const ScalarUse&) const = default;
};
// A struct by value. Each field is aligned to its size, as C++ does it without alignas and packing.
struct StructUse {
  std::vector<std::variant<BufferUse, ScalarUse>> fields;
  bool operator==(const StructUse&) const = default;
};
// One argument of one launch: a buffer, a scalar, a tensor map of a buffer, or a struct.
using LaunchArgument = std::variant<BufferUse, ScalarUse, TensorMapUse, StructUse>;

struct PlannedLaunch {
  std::string kernel;             // "attention_split"
  std::string kernel_expression;  // "attention_split<BLOCK_M>"
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  // zeros: none
  std::uint64_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<LaunchArgument> arguments;
  int line = 0;  // of the directive; the iterations of a loop have the same
};

struct PlannedMemset {
  std::string buffer;
  int value = 0;
};

struct PlannedWorkspace {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::int64_t elements = 0;
};

// A `__constant__` variable, and what it is filled with before the steps.
struct PlannedConstant {
  std::string variable;
  std::variant<BufferUse, ScalarUse> source;
  std::size_t bytes = 0;  // of the source
};

// All steps of one case, in order, with every expression evaluated and every loop written out.
struct LaunchPlan {
  std::vector<PlannedWorkspace> workspaces;
  std::vector<PlannedConstant> constants;
  std::vector<std::variant<PlannedLaunch, PlannedMemset>> steps;
};

// Why a candidate cannot be launched for a case, in one line: a resource limit or a wrong directive.
struct PlanFailure {
  std::string message;
};

// Evaluates the directives of a rendered template for a case. Fails for what no device allows: a grid dimension of 0, over 2^31-1
// in x, or over 65535 in y or z; a block of 0 or more than 1024 threads, or over 64 in z; more than 400 steps. Fails, too, for an
// argument that names nothing and for a division by zero in an expression.
std::variant<LaunchPlan, PlanFailure> PlanLaunches(const KernelTemplate& rendered, const Parameters& parameters, const Task& task,
                                                   const Case& sizes);

// The steps that are the first launches of their launch lines: a loop repeats them.
std::vector<std::size_t> FirstLaunches(const LaunchPlan& plan);

}  // namespace evo
