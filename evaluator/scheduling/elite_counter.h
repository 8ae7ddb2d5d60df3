#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/counted_elite.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// Where and how the best candidates of a search are counted.
struct EliteCounterSettings {
  using Clock = std::chrono::steady_clock;

  JobRunner& compile;
  JobRunner& run;  // of the one worker that times on the device
  // Starts the process that counts, which is set up but has not got its setup yet, and returns once it has opened the device.
  // Throws Error.
  std::function<std::unique_ptr<JobRunner>(const std::stop_token& stop)> start;
  std::string arch;  // what candidates are compiled for
  ImageSizes sizes{};
  std::function<void(const std::string&)> warn = [](const std::string&) {
  };  // told once, in any thread, why there are no counters
  std::function<Clock::time_point()> now = [] { return Clock::now(); };
};

// Counts the best candidates of a search by the hardware's counters while the search goes on, one after another, in a process of
// its own that is kept. Nothing is timed meanwhile: the run worker has a job of which only the request is being made. This time
// is a small share of the run's. Where the counters are refused, there are none, and the search goes on. Thread-safe but for the
// destructor.
class EliteCounter {
 public:
  // What insight may cost, as a share of the run's time so far.
  static constexpr double kShare = 0.02;
  // What the process's start and the first count are expected to take: of a champion's check, which samples stalls as well, both
  // together take 2 to 4 s. Later counts are expected to take what the last one took.
  static constexpr std::chrono::milliseconds kExpectedStart{1000};
  static constexpr std::chrono::milliseconds kExpectedCount{200};

  // All that `settings` refers to outlives this.
  explicit EliteCounter(EliteCounterSettings settings);
  // Calls End.
  ~EliteCounter();
  EliteCounter(const EliteCounter&) = delete;
  EliteCounter& operator=(const EliteCounter&) = delete;

  // Those that have been counted since the last call. Begins to count the first of `elites` that was not tried yet, if there is
  // time and nothing is under way. Does not block.
  std::vector<CountedElite> Count(const std::vector<Candidate>& elites);

  // Ends the process, and counts nothing from now on. Afterwards the device is free.
  void End();

 private:
  struct State;
  std::shared_ptr<State> state_;  // jobs that end later share it
};

}  // namespace evo
