#include "evaluator/workers/tools_side_by_side.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

namespace evo {

ToolsSideBySide::ToolsSideBySide(const RunTool& run_tool, const std::vector<std::string>& tools,
                                 const std::vector<ToolCase>& cases, std::size_t memory_bytes)
    : run_tool_(run_tool), memory_bytes_(memory_bytes) {
  for (const ToolCase& one : cases) {
    for (const std::string& tool : tools) turns_.push_back({tool, &one});
  }
}

ToolsSideBySide::~ToolsSideBySide() { StopFrom(0); }

void ToolsSideBySide::StopFrom(std::size_t first) {
  for (std::size_t i = first; i < turns_.size(); ++i) turns_[i].stop.request_stop();
}

// False if it was stopped before there was room.
bool ToolsSideBySide::Enter(const Turn& turn) {
  const std::stop_token stop = turn.stop.get_token();
  const std::size_t bytes = turn.on->bytes;
  std::unique_lock lock(mutex_);
  left_.wait(lock, stop, [&] { return inside_ == 0 || taken_bytes_ + bytes <= memory_bytes_; });
  if (stop.stop_requested()) return false;
  ++inside_;
  taken_bytes_ += bytes;
  return true;
}

void ToolsSideBySide::Leave(const Turn& turn) {
  {
    const std::lock_guard lock(mutex_);
    --inside_;
    taken_bytes_ -= turn.on->bytes;
  }
  left_.notify_all();
}

ToolRun ToolsSideBySide::RunTimed(const Turn& turn, const std::stop_token& stop) const {
  const auto begin = std::chrono::steady_clock::now();
  ToolResult result = run_tool_(turn.tool, turn.on->job, stop);
  return {std::move(result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

void ToolsSideBySide::Start(std::size_t number) {
  running_.push_back(std::async(std::launch::async, [this, number] {
    const Turn& turn = turns_[number];
    const auto leave = [this](const Turn* left) { Leave(*left); };
    const std::unique_ptr<const Turn, decltype(leave)> inside(&turn, leave);
    ToolRun run = RunTimed(turn, turn.stop.get_token());
    if (FoundFault(run.result)) StopFrom(number + 1);
    return run;
  }));
}

std::vector<ToolRun> ToolsSideBySide::Run(const std::stop_token& stop) {
  const std::stop_callback forward(stop, [this] { StopFrom(0); });
  // A turn is stopped together with all after it.
  for (std::size_t i = 0; i < turns_.size() && Enter(turns_[i]); ++i) Start(i);
  std::vector<ToolRun> runs;
  for (std::future<ToolRun>& one : running_) runs.push_back(one.get());
  const auto found_fault = [](const ToolRun& run) { return FoundFault(run.result); };
  if (std::none_of(runs.begin(), runs.end(), found_fault)) RunAgainAlone(runs, stop);
  const auto fault = std::find_if(runs.begin(), runs.end(), found_fault);
  if (fault != runs.end()) runs.erase(fault + 1, runs.end());
  std::vector<ToolRun> said;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ToolResult& result = runs[i].result;
    // Without a fault of its own, a tool that was stopped has nothing to say.
    if (turns_[i].stop.stop_requested() && !FoundFault(result) && result.result != "clean") continue;
    if (!turns_[i].on->size.empty()) result.tool += " at " + turns_[i].on->size;
    said.push_back(std::move(runs[i]));
  }
  return said;
}

// Those that sharing may have kept from their verdict: no time, no memory, no port of compute-sanitizer's. A tool that fares no
// better alone has shown for all its cases that sharing was not the reason. It has shown nothing of other tools, whose cost
// differs.
void ToolsSideBySide::RunAgainAlone(std::vector<ToolRun>& runs, const std::stop_token& stop) const {
  if (running_.size() < 2) return;
  std::set<std::pair<std::string, std::string>> hopeless;  // tool and result
  for (std::size_t i = 0; i < runs.size() && !stop.stop_requested(); ++i) {
    const std::string& tool = turns_[i].tool;
    const std::string before = runs[i].result.result;
    if (before == "clean" || before == "missing" || hopeless.contains({tool, before})) continue;
    ToolRun again = RunTimed(turns_[i], stop);
    if (stop.stop_requested()) return;
    again.seconds += runs[i].seconds;
    runs[i] = std::move(again);
    if (FoundFault(runs[i].result)) return;
    if (runs[i].result.result == before) hopeless.insert({tool, before});
  }
}

}  // namespace evo
