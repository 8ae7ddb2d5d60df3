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

// One argument of one launch: a buffer, a tensor map of one, a scalar argument of the task with its dtype, or an integer
// expression (passed as int).
struct ScalarUse {
  Dtype dtype = Dtype::kI32;
  Number value;
  bool operator==(const ScalarUse&) const = default;
};
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

// Everything that runs for one case, in order, with every expression evaluated.
struct LaunchPlan {
  std::vector<PlannedWorkspace> workspaces;
  std::vector<std::variant<PlannedLaunch, PlannedMemset>> steps;
};

// Why a candidate cannot be launched for a case: a resource limit or a wrong directive; one line.
struct PlanFailure {
  std::string message;
};

// Evaluates the directives of a rendered template for a case. Checks what no device allows: 0 or more than 2^31-1 blocks in x,
// 65535 in y and z, 0 or more than 1024 threads, z over 64, an argument that names nothing, division by zero in an expression.
std::variant<LaunchPlan, PlanFailure> PlanLaunches(const KernelTemplate& rendered, const Parameters& parameters, const Task& task,
                                                   const Case& sizes);

}  // namespace evo
