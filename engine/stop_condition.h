#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

namespace evo {

// When a run ends: generations done, time over, interrupted, or nothing new to try.
class StopCondition {
 public:
  StopCondition(int generations, std::optional<std::chrono::seconds> time_limit, std::stop_token interrupt)
      : generations_(generations), time_limit_(time_limit), interrupt_(std::move(interrupt)) {}

  bool Reached(int generations_done) const {
    return generations_done >= generations_ || interrupt_.stop_requested() || TimeOver();
  }
  bool Interrupted() const { return interrupt_.stop_requested(); }
  bool TimeOver() const { return time_limit_ && Elapsed() >= *time_limit_; }
  std::chrono::duration<double> Elapsed() const { return std::chrono::steady_clock::now() - start_; }
  const std::stop_token& token() const { return interrupt_; }
  int generations() const { return generations_; }
  std::optional<std::chrono::seconds> time_limit() const { return time_limit_; }

 private:
  int generations_;
  std::optional<std::chrono::seconds> time_limit_;
  std::stop_token interrupt_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace evo
