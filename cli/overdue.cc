#include "cli/overdue.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace evo {

std::chrono::seconds TimeAfterLimit(std::chrono::seconds time_limit) {
  // A generation of the cpu device takes some seconds.
  constexpr std::chrono::seconds kLeast{15};
  return std::max(kLeast, time_limit / 10);
}

Overdue::Overdue(std::optional<std::chrono::seconds> time_limit, const std::stop_token& interrupt)
    : on_interrupt_(interrupt, [this] { source_.request_stop(); }) {
  if (!time_limit) return;
  const auto end = std::chrono::steady_clock::now() + *time_limit + TimeAfterLimit(*time_limit);
  timer_ = std::jthread([this, end](const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_until(lock, done, end, [] { return false; });
    if (!done.stop_requested()) source_.request_stop();
  });
}

}  // namespace evo
