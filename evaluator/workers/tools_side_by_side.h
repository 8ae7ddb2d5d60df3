#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// What a tool found, and how long it took.
struct ToolRun {
  ToolResult result;
  double seconds = 0;
};

// One size at which a program meets the tools.
struct ToolCase {
  Job job;
  std::string size;       // for the names of the results; empty: the small case
  std::size_t bytes = 0;  // of the device's memory, that one process takes
};

// Runs several tools on several cases, each in a process of its own, as many at once as fit into the device's memory. For one
// Run.
class ToolsSideBySide {
 public:
  // Runs a tool on a job. Called from several threads at once.
  using RunTool = std::function<ToolResult(const std::string& tool, const Job& job, const std::stop_token& stop)>;

  // At least one runs, however little `memory_bytes` is. `run_tool` and `cases` outlive this.
  ToolsSideBySide(const RunTool& run_tool, const std::vector<std::string>& tools, const std::vector<ToolCase>& cases,
                  std::size_t memory_bytes);
  ToolsSideBySide(const ToolsSideBySide&) = delete;
  ToolsSideBySide& operator=(const ToolsSideBySide&) = delete;
  // Stops those that are left where one of them threw, and waits for them.
  ~ToolsSideBySide();

  // One result for each case and tool, in this order, called "memcheck", or "memcheck at SIZE". Each tool has the whole deadline
  // of its job. One with the result "timeout" or "unsupported", which may come of sharing the device, runs again alone, but not
  // if the tool had that result alone on an earlier case; neither says anything against the program. Results end with the first
  // error in their order, so that the verdict does not depend on which tool was faster: an error stops the tools after it, not
  // those before it.
  std::vector<ToolRun> Run(const std::stop_token& stop);

 private:
  struct Turn {
    std::string tool;
    const ToolCase* on = nullptr;
    std::stop_source stop{};
  };
  bool Enter(const Turn& turn);
  void Leave(const Turn& turn);
  void Start(std::size_t number);
  void StopFrom(std::size_t first);
  ToolRun RunTimed(const Turn& turn, const std::stop_token& stop) const;
  void RunAgainAlone(std::vector<ToolRun>& runs, const std::stop_token& stop) const;

  const RunTool& run_tool_;
  std::size_t memory_bytes_;
  std::vector<Turn> turns_;  // in the order of the results

  std::mutex mutex_;  // guards the next three
  std::condition_variable_any left_;
  std::size_t inside_ = 0;
  std::size_t taken_bytes_ = 0;

  std::vector<std::future<ToolRun>> running_;  // of the first turns; last: they use the members above
};

}  // namespace evo
