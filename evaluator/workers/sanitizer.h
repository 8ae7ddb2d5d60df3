#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// The program compute-sanitizer of the toolkit in `cuda_root`, or nullopt.
std::optional<std::filesystem::path> FindComputeSanitizer(const std::filesystem::path& cuda_root);

// A job at a size at which the tools may take too long.
struct LongJob {
  Job job;
  std::string size;                // the case's name
  std::chrono::milliseconds most;  // for all tools together
};

// Runs jobs under compute-sanitizer's four tools, one after another, each in a process of its own, and returns what they found.
// `options` are those of an ordinary worker; the tool is put in front of its command. `setup` is sent before the job. Where
// compute-sanitizer is not installed, the result of every tool is "missing".
class Sanitizer {
 public:
  // The time since some moment. A test's clock does not wait.
  using Clock = std::function<std::chrono::milliseconds()>;
  // Runs a tool on a job. A test's answers instead.
  using Run = std::function<ToolResult(const std::string& tool, const Job& job, const std::stop_token& stop)>;

  Sanitizer(const std::filesystem::path& cuda_root, WorkerPoolOptions options, Message setup);
  Sanitizer(Run run, Clock clock);
  Sanitizer(const Sanitizer&) = delete;
  Sanitizer& operator=(const Sanitizer&) = delete;

  std::vector<ToolResult> Check(const Job& job, const std::stop_token& stop) const;
  // memcheck and racecheck first. A tool whose time is over has the result "timeout", which says nothing against the program.
  std::vector<ToolResult> CheckLong(const LongJob& job, const std::stop_token& stop) const;

 private:
  ToolResult RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const;

  std::optional<std::filesystem::path> program_;
  WorkerPoolOptions options_;
  Message setup_;
  Run run_;
  Clock clock_;
};

// Reads a tool's log: "clean" or "error" according to its summary, or "unsupported" with the tool's message if there is none.
ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log);

}  // namespace evo
