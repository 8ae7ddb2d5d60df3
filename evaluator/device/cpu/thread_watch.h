#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evo {

// What the calling thread and its process have used so far.
struct ProcessorUse {
  std::uint64_t wall_ns = 0;
  // Processor time of the calling thread, read before that of the process and after it: a virtual machine that is stopped in
  // between takes that for the thread's work.
  std::uint64_t thread_ns = 0, thread_end_ns = 0;
  std::uint64_t process_ns = 0;  // of all threads of the process
  std::uint64_t waits = 0;       // how often the calling thread has slept
  std::vector<int> threads;      // that the process has, by their ids, ascending

  static ProcessorUse Now();
};

// Whether the process has a thread that it did not have before.
bool HasNewThread(const ProcessorUse& before, const ProcessorUse& after);

// Why a kernel that ran in between did not do its work itself: another thread worked or was started, or the calling thread slept.
// Empty if it did. What other processes do makes no difference: they take the processor away, but a kernel of CUDA's language
// never gives it up.
std::string WorkElsewhere(const ProcessorUse& before, const ProcessorUse& after);

}  // namespace evo
