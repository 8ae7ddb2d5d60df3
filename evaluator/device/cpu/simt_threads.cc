#include "evaluator/device/cpu/simt_threads.h"

#include <algorithm>

namespace evo {

void SimtThreads::BeginLaunch(const std::array<unsigned, 3>& size, evo_cpu_block* block, std::size_t stack_bytes) {
  const unsigned count = size[0] * size[1] * size[2];
  threads_.resize(count);
  warps_.resize((count + SimtWarp::kLanes - 1) / SimtWarp::kLanes);
  unsigned t = 0;
  for (unsigned z = 0; z < size[2]; ++z) {
    for (unsigned y = 0; y < size[1]; ++y) {
      for (unsigned x = 0; x < size[0]; ++x, ++t)
        threads_[t].context = {{x, y, z}, t % SimtWarp::kLanes, warps_[t / SimtWarp::kLanes].exchange(), block,
                               nullptr,   stack_bytes};
    }
  }
}

void SimtThreads::BeginBlock() {
  for (Thread& thread : threads_) thread.state = State::kUnstarted;
  for (std::size_t w = 0; w < warps_.size(); ++w)
    warps_[w].Begin(static_cast<unsigned>(std::min<std::size_t>(SimtWarp::kLanes, threads_.size() - w * SimtWarp::kLanes)));
}

void SimtThreads::Scrub(const DevicePattern& pattern) {
  for (SimtWarp& warp : warps_) FillHere({reinterpret_cast<std::uintptr_t>(warp.exchange()), SimtWarp::kExchangeBytes, pattern});
}

unsigned SimtThreads::Count(State state) const {
  return static_cast<unsigned>(
      std::count_if(threads_.begin(), threads_.end(), [&](const Thread& thread) { return thread.state == state; }));
}

}  // namespace evo
