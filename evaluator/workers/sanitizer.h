#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/tools_side_by_side.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// Runs jobs under compute-sanitizer's four tools side by side, each in a process of its own, and returns what they found.
// `options` are those of an ordinary worker; the tool is put in front of its command, or, if a launcher starts the worker, its
// keeper is told to do so (evaluator/workers/watched_worker.h). `setup` is sent before the job. Where compute-sanitizer is not
// installed, the result of every tool is "missing".
class Sanitizer {
 public:
  // Runs a tool on a job. A test's answers instead; it is called from several threads at once.
  using Run = ToolsSideBySide::RunTool;

  Sanitizer(const std::filesystem::path& cuda_root, WorkerPoolOptions options, Message setup);
  explicit Sanitizer(Run run);
  Sanitizer(const Sanitizer&) = delete;
  Sanitizer& operator=(const Sanitizer&) = delete;

  // One result for each case and tool, as ToolsSideBySide::Run gives them.
  std::vector<ToolRun> Check(const std::vector<ToolCase>& cases, std::size_t memory_bytes, const std::stop_token& stop) const;

 private:
  ToolResult RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const;

  std::optional<std::filesystem::path> program_;
  WorkerPoolOptions options_;
  Message setup_;
  Run run_;
};

// Reads a tool's log: "clean" or "error" according to its summary, or "unsupported" with the tool's message if there is none.
ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log);
// What a tool found that calls a program clean, and what became of the job (SmallCaseRequest). Where the worker died before its
// answer, or says that the program did not run, the tool watched nothing: "unsupported". A wrong answer is noted.
ToolResult WithAnswer(ToolResult clean, const JobResult& job);

}  // namespace evo
