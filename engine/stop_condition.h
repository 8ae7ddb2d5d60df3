#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

namespace evo {

// When a run ends: after its generations, its evaluations or its time limit, or when it is interrupted. The time starts here.
// The generation that is under way when the time is over is finished, unless `overdue` says that it takes too long: then what was
// evaluated of it counts.
class StopCondition {
 public:
  // `overdue`: requested some time after the limit, and by every interrupt; without one the interrupt alone.
  StopCondition(int generations, std::optional<std::chrono::seconds> time_limit, std::stop_token interrupt,
                std::optional<int> evaluations = {}, std::optional<std::stop_token> overdue = {})
      : generations_(generations),
        time_limit_(time_limit),
        interrupt_(std::move(interrupt)),
        evaluations_(evaluations),
        search_(overdue ? std::move(*overdue) : interrupt_) {}

  bool Reached(int generations_done) const {
    return generations_done >= generations_ || interrupt_.stop_requested() || TimeOver();
  }
  // How many of `wanted` further candidates may be evaluated after `evaluated`.
  std::size_t Allowed(std::size_t evaluated, std::size_t wanted) const {
    if (!evaluations_) return wanted;
    const auto most = static_cast<std::size_t>(*evaluations_);
    return evaluated >= most ? 0 : std::min(wanted, most - evaluated);
  }
  bool Interrupted() const { return interrupt_.stop_requested(); }
  bool TimeOver() const { return time_limit_ && Elapsed() >= *time_limit_; }
  std::chrono::duration<double> Elapsed() const { return std::chrono::steady_clock::now() - start_; }
  const std::stop_token& token() const { return interrupt_; }
  // Whether breeding and evaluating must end at once. The champion is still checked unless the run is interrupted.
  bool SearchStopped() const { return search_.stop_requested(); }
  const std::stop_token& search_token() const { return search_; }
  // How long the check of the champion may take where it could go on: as long as the search, but enough to find most mistakes.
  // nullopt without a time limit.
  std::optional<std::chrono::seconds> check_time() const {
    constexpr std::chrono::seconds kLeast{30};
    return time_limit_ ? std::optional(std::max(kLeast, *time_limit_)) : std::nullopt;
  }
  int generations() const { return generations_; }
  std::optional<std::chrono::seconds> time_limit() const { return time_limit_; }
  std::optional<int> evaluations() const { return evaluations_; }

 private:
  int generations_;
  std::optional<std::chrono::seconds> time_limit_;
  std::stop_token interrupt_;
  std::optional<int> evaluations_;
  std::stop_token search_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace evo
