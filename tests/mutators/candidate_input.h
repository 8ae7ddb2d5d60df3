#pragma once

#include <string>

#include "evaluator/compiler/compiler.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// What a compiler is asked for a source with launch lines, for a GPU of the tests' architecture.
inline CompilerInput CandidateInput(const std::string& source, bool checked = false) {
  CompilerInput input{source, {}, "sm_90a", checked};
  const KernelTemplate candidate = ParseTemplate("candidate", source);
  for (const Step& step : candidate.steps) {
    if (step.launch) input.kernel_expressions.push_back(step.launch->kernel_expression);
  }
  for (const auto& constant : candidate.constants) input.variables.push_back(constant.variable);
  return input;
}

}  // namespace evo
