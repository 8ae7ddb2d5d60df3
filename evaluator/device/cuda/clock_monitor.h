#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

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

  // All of it, now.
  ClockState Read();
  // Only the clock of the multiprocessors and what holds it back, at most so old: asking the driver takes longer than a short
  // kernel. Nothing is known while NVML is being opened, which takes a tenth of a second and nobody waits for.
  ClockState Glance(std::chrono::milliseconds age);

 private:
  struct Library;
  static std::unique_ptr<Library> Open(const std::string& bus);

  std::future<std::unique_ptr<Library>> opening_;
  std::unique_ptr<Library> library_;  // null: not opened yet, or nothing is known
  ClockState last_;
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace evo
