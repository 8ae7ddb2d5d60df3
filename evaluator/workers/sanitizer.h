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

// The program compute-sanitizer of the toolkit in `cuda_root`, or nullopt.
std::optional<std::filesystem::path> FindComputeSanitizer(const std::filesystem::path& cuda_root);

// Runs one job under each of compute-sanitizer's four tools, one after another, each in a process of its own, and returns what
// they found. `options` are those of an ordinary worker; the tool is put in front of its command. `setup` is sent before the job.
// Where compute-sanitizer is not installed, the result of every tool is "missing".
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

// Reads a tool's log: "clean" or "error" according to its summary, or "unsupported" with the tool's message if there is none.
ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log);

}  // namespace evo
