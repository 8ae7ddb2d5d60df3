#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "core/outcome.h"

namespace evo {

// Why a program did not compile, from the output of NVRTC and ptxas.
struct CompileFailure {
  Outcome outcome = Outcome::kCompileError;
  std::string message;  // "line 12: identifier \"x\" is undefined"
};

// Reads the log of a failed compilation, in which the source is called `source_name`. The first error counts. The outcome is
// kResourceLimit where ptxas exceeded a limit, kUnsupported for host functions, kCheating for kernel launches from the device,
// else kCompileError.
CompileFailure ExplainLog(std::string_view log, std::string_view source_name);

// Reads the facts that `--ptxas-options=-v` put into the log for `symbols`. Each is the largest of all symbols, and -1 if the log
// does not have it.
KernelFacts ReadPtxasReport(std::string_view log, const std::vector<std::string>& symbols);

// Cuts a log to at most `most` bytes: its beginning, where the first error is, and a line that says how much is missing.
std::string CapLog(std::string log, std::size_t most);

}  // namespace evo
