#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace evo {

// How busy the workers were, as shares from 0 to 1 of the time between the first start and the last completion.
struct Utilisation {
  double seconds = 0;
  double run = 0;
  double reverify = 0;  // the part of `run` spent on idle-time re-verification
  double compile = 0;
};

// Busy time of the workers of one role, in milliseconds, summed over that many workers.
struct BusyTime {
  double ms = 0;
  int workers = 1;
};

// The span in which candidates were evaluated. Not thread-safe: the owner locks.
class UtilisationMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void Started(Time now) {
    if (!first_start_) first_start_ = last_completion_ = now;
  }
  void Completed(Time now) { last_completion_ = now; }
  void AddReverification(double ms) { reverification_ms_ += ms; }

  Utilisation Of(const BusyTime& run, const BusyTime& compile) const {
    if (!first_start_ || last_completion_ <= *first_start_) return {};
    const double seconds = std::chrono::duration<double>(last_completion_ - *first_start_).count();
    const auto share = [&](const BusyTime& busy) { return std::min(1.0, busy.ms / 1e3 / seconds / busy.workers); };
    return {seconds, share(run), share({reverification_ms_, run.workers}), share(compile)};
  }

 private:
  std::optional<Time> first_start_;
  Time last_completion_{};
  double reverification_ms_ = 0;
};

}  // namespace evo
