#include "evaluator/device/cpu/thread_watch.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace evo {
namespace {

// What the clocks of threads may be off, and what the worker's own thread needs to read the next job meanwhile.
constexpr std::uint64_t kLeastNs = 4'000'000;
constexpr double kMostElsewhere = 0.1;
// A thread that sleeps for less of its time gains nothing by it.
constexpr double kMostAsleep = 0.8;
constexpr std::uint64_t kLeastAsleepNs = 6'000'000;

std::uint64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

std::vector<int> Threads() {
  std::vector<int> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  if (!tasks) return threads;
  while (const dirent* task = ::readdir(tasks.get())) {
    if (const int id = std::atoi(task->d_name); id > 0) threads.push_back(id);
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

double Milliseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

}  // namespace

ProcessorUse ProcessorUse::Now() {
  ProcessorUse use;
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) use.waits = static_cast<std::uint64_t>(usage.ru_nvcsw);
  use.threads = Threads();
  use.thread_ns = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  use.process_ns = Nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  use.thread_end_ns = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  use.wall_ns = Nanoseconds(CLOCK_MONOTONIC);
  return use;
}

// A thread that has just ended is still listed for a moment, so that the number of threads would not tell.
bool HasNewThread(const ProcessorUse& before, const ProcessorUse& after) {
  return !std::includes(before.threads.begin(), before.threads.end(), after.threads.begin(), after.threads.end());
}

std::string WorkElsewhere(const ProcessorUse& before, const ProcessorUse& after) {
  if (HasNewThread(before, after)) return "a thread was started: a kernel runs on the threads that CUDA gives it";
  const std::uint64_t wall = after.wall_ns - before.wall_ns;
  const std::uint64_t own = after.thread_end_ns - before.thread_ns;
  const std::uint64_t process = after.process_ns - before.process_ns;
  const std::uint64_t others = process > own ? process - own : 0;
  if (others > kLeastNs && static_cast<double>(others) > kMostElsewhere * static_cast<double>(own)) {
    return fmt::format("other threads worked for {:.3f} ms while the kernel took {:.3f} ms", Milliseconds(others),
                       Milliseconds(own));
  }
  const std::uint64_t asleep = wall > own ? wall - own : 0;
  if (after.waits > before.waits && asleep > kLeastAsleepNs &&
      static_cast<double>(asleep) > kMostAsleep * static_cast<double>(wall)) {
    return fmt::format("the kernel slept: it took {:.3f} ms of the processor and {:.3f} ms by the clock", Milliseconds(own),
                       Milliseconds(wall));
  }
  return {};
}

}  // namespace evo
