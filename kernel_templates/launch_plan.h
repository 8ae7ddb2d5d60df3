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
// One argument of one launch: a buffer, a scalar, or a tensor map of a buffer.
using LaunchArgument = std::variant<BufferUse, ScalarUse, TensorMapUse>;

struct PlannedLaunch {
  std::string kernel;             // "attention_split"
  std::string kernel_expression;  // "attention_split<BLOCK_M>"
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  // zeros: none
  std::uint64_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<LaunchArgument> arguments;
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

// All steps of one case, in order, with every expression evaluated.
struct LaunchPlan {
  std::vector<PlannedWorkspace> workspaces;
  std::vector<std::variant<PlannedLaunch, PlannedMemset>> steps;
};

// Why a candidate cannot be launched for a case, in one line: a resource limit or a wrong directive.
struct PlanFailure {
  std::string message;
};

// Evaluates the directives of a rendered template for a case. Fails for what no device allows: a grid dimension of 0, over 2^31-1
// in x, or over 65535 in y or z; a block of 0 or more than 1024 threads, or over 64 in z. Fails, too, for an argument that names
// nothing and for a division by zero in an expression.
std::variant<LaunchPlan, PlanFailure> PlanLaunches(const KernelTemplate& rendered, const Parameters& parameters, const Task& task,
                                                   const Case& sizes);

}  // namespace evo
