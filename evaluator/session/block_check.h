#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/bare_inputs.h"

namespace evo {

// Runs some blocks of every launch of a candidate at the sizes that are timed, with every access checked: some faults show at no
// smaller size. The candidate's answers are not looked at.
class BlockCheck {
 public:
  // `most`: for all launches of one list of cases together, as long as blocks do not take long by themselves. `begin` is called
  // before each case: the process may end there.
  BlockCheck(
      Device& device, const Task& task, std::uint64_t seed, std::chrono::milliseconds most,
      std::function<void(const Case&)> begin = [](const Case&) {})
      : device_(device), task_(task), seed_(seed), most_(most), begin_(std::move(begin)) {}

  // Adds cases of the task. Those too large for a sample are left out, which result() says.
  std::optional<Failure> Run(const AttachedProgram& checked, const std::vector<Case>& cases);

  // "clean", "timeout", "unsupported", "crash" or "error" after a failure, or "missing" if no block ran; the message says what
  // was covered and what was not.
  const ToolResult& result() const { return result_; }
  // After a block was stopped, the device must not be used any more.
  bool stopped() const { return stopped_; }

 private:
  std::optional<Failure> RunCase(const AttachedProgram& checked, const Case& sizes, std::chrono::milliseconds most);
  std::optional<Failure> RunLaunch(const AttachedProgram& checked, const Case& sizes, BareInputs& inputs,
                                   const BlockSample& sample);
  std::vector<std::size_t> FirstLaunches(const std::string& source, const Case& sizes) const;
  void Note(const std::string& text);

  Device& device_;
  const Task& task_;
  std::uint64_t seed_;
  std::chrono::milliseconds most_;
  std::function<void(const Case&)> begin_;
  ToolResult result_{"sampled blocks", "missing", ""};
  bool stopped_ = false;
};

}  // namespace evo
