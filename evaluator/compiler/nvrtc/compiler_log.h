#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "core/outcome.h"

namespace evo {

// What NVRTC and ptxas said of a program that did not compile.
struct CompileFailure {
  Outcome outcome = Outcome::kCompileError;
  std::string message;  // "line 12: identifier \"x\" is undefined"
};

// Reads the log of a failed compilation; `source_name` is the name the source was given. The first error counts. kResourceLimit
// where ptxas ran out of something, kUnsupported for host functions, kCheating for kernel launches from the device, else
// kCompileError.
CompileFailure ExplainLog(std::string_view log, std::string_view source_name);

// Facts that `--ptxas-options=-v` put into the log for `symbols`, the largest of each; -1 where the log is silent.
KernelFacts ReadPtxasReport(std::string_view log, const std::vector<std::string>& symbols);

// At most `most` bytes: the beginning, where the first error is, and a line that says how much is missing.
std::string CapLog(std::string log, std::size_t most);

}  // namespace evo
