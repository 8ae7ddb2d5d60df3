#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace evo {

// Requests that what a run has under way is dropped: when it is interrupted, and some time after its time limit, so that the
// limit holds whatever workers do.
class Overdue {
 public:
  // The time starts here.
  Overdue(std::optional<std::chrono::seconds> time_limit, const std::stop_token& interrupt);
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_interrupt_;
  std::jthread timer_;
};

// How long after its limit a run may work on the generation that is under way.
std::chrono::seconds TimeAfterLimit(std::chrono::seconds time_limit);

}  // namespace evo
