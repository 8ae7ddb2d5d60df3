#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

namespace evo {

// Decides how long calls wait for something that is not theirs to end. Not thread-safe.
class WaitBudget {
 public:
  // longest: of one wait. after_stop: of all waits together after a stop request, and after a wait without success: what failed
  // then is not waited for as long again.
  WaitBudget(std::chrono::milliseconds longest, std::chrono::milliseconds after_stop, std::stop_token stop = {})
      : longest_(longest), after_stop_(after_stop), stop_(std::move(stop)) {}

  // From now on this stop token holds instead.
  void SetStop(std::stop_token stop) { stop_ = std::move(stop); }
  const std::stop_token& stop() const { return stop_; }

  // A wait begins.
  void Begin() { since_ = Clock::now(); }
  // Whether it goes on.
  bool Left() {
    const Clock::time_point now = Clock::now();
    if ((stop_.stop_requested() || failed_) && !short_since_) short_since_ = now;
    failed_ = short_since_ ? now - *short_since_ >= after_stop_ : now - since_ >= longest_;
    return !failed_;
  }
  std::chrono::steady_clock::duration waited() const { return Clock::now() - since_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds longest_;
  std::chrono::milliseconds after_stop_;
  std::stop_token stop_;
  Clock::time_point since_;
  bool failed_ = false;
  std::optional<Clock::time_point> short_since_;
};

}  // namespace evo
