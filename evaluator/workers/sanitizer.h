#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// Runs a job under compute-sanitizer's four tools side by side, each in a process of its own, and returns what they found.
// `options` are those of an ordinary worker; the tool is put in front of its command, or, if a launcher starts the worker, its
// keeper is told to do so (evaluator/workers/watched_worker.h). `setup` is sent before the job. Where compute-sanitizer is not
// installed, the result of every tool is "missing".
class Sanitizer {
 public:
  // Runs a tool on a job. A test's answers instead; it is called from several threads at once.
  using Run = std::function<ToolResult(const std::string& tool, const Job& job, const std::stop_token& stop)>;

  Sanitizer(const std::filesystem::path& cuda_root, WorkerPoolOptions options, Message setup);
  explicit Sanitizer(Run run);
  Sanitizer(const Sanitizer&) = delete;
  Sanitizer& operator=(const Sanitizer&) = delete;

  // One result a tool, in a fixed order, called "memcheck", or "memcheck at SIZE" if a size is given. Each tool has the whole
  // deadline of the job; one whose time is over has the result "timeout", which says nothing against the program. An error ends
  // the other tools, which then have no result.
  std::vector<ToolResult> Check(const Job& job, const std::string& size, const std::stop_token& stop) const;

 private:
  ToolResult RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const;

  std::optional<std::filesystem::path> program_;
  WorkerPoolOptions options_;
  Message setup_;
  Run run_;
};

// Reads a tool's log: "clean" or "error" according to its summary, or "unsupported" with the tool's message if there is none.
ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log);

}  // namespace evo
