#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// compute-sanitizer of the toolkit in `cuda_root`, or nothing.
std::optional<std::filesystem::path> FindComputeSanitizer(const std::filesystem::path& cuda_root);

// Runs one job of a worker under each of compute-sanitizer's four tools, one after another, each in a process of its own, and
// says what they found. `options` are those of an ordinary worker, whose command gets the tool put in front; `setup` comes before
// the job. Without a sanitizer every tool is "missing".
class Sanitizer {
 public:
  Sanitizer(std::filesystem::path cuda_root, WorkerPoolOptions options, Message setup);
  std::vector<ToolResult> Check(const Job& job, const std::stop_token& stop) const;

 private:
  ToolResult RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const;

  std::optional<std::filesystem::path> program_;
  WorkerPoolOptions options_;
  Message setup_;
};

// What a tool's log says: clean or error from its summary, unsupported with its own words if it gives none.
ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log);

}  // namespace evo
