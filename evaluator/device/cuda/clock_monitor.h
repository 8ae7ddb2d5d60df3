#pragma once

#include <chrono>
#include <memory>

#include "core/evaluation.h"

namespace evo {

// A GPU's clocks as NVIDIA's management library (NVML, part of the driver) tells them. Only looks.
class ClockMonitor {
 public:
  // `ordinal` as CUDA counts. Where there is no NVML, or it does not know this GPU, nothing is known of the clocks.
  explicit ClockMonitor(int ordinal);
  ~ClockMonitor();
  ClockMonitor(const ClockMonitor&) = delete;
  ClockMonitor& operator=(const ClockMonitor&) = delete;

  // At most so old; asking the driver takes longer than a short kernel.
  ClockState Read(std::chrono::milliseconds age);

 private:
  struct Library;
  std::unique_ptr<Library> library_;   // null: nothing is known
  ClockState last_;
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace evo
