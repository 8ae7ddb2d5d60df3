#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "kernel_templates/task.h"

namespace evo {

// How far an output is from its reference.
struct Difference {
  bool acceptable = false;
  double l2 = 0;           // ||out - ref|| / ||ref||
  double max = 0;          // max |out - ref| / rms(ref)
  std::string message;     // what is wrong, one line; empty if acceptable
};

// Judges an output by the task's check. Not finite where the reference is finite is wrong before any tolerance is looked at; where the
// reference is not finite the output must be the same. Both errors are relative to the reference's own scale, so that zeros never pass.
Difference Compare(const std::vector<double>& output, const std::vector<double>& reference, const OutputCheck& check,
                   const std::string& name);

}  // namespace evo
